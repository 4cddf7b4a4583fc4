/** What is asked for comes whole, in order and once, however many pages it takes. */
import { expect, it } from 'vitest';
import { appendOrFail, givenRun, note } from '../../test/conformance/ledger/support.ts';
import { openTestLedger, testIds } from '../../test/support/ledger/sqlite-folder.ts';
import { limits } from '../base/limits.ts';
import { readEvents, readPages } from './pages.ts';
import type { Ledger, ReadQuery } from './port.ts';

const PAGE = limits.readPageEvents;

/** A session of so many events, in a ledger that says how often it was read. */
async function session(events: number) {
  const ledger = openTestLedger({ path: ':memory:' });
  const writer = await givenRun({ ledger, newSession: testIds.session, newRun: testIds.run });
  const notes = Array.from({ length: events - 1 }, (_, index) => note(writer, `note ${index}`));
  await appendOrFail(writer, notes);
  const asked: ReadQuery[] = [];
  const counted: Pick<Ledger, 'read'> = {
    read: (query) => {
      asked.push(query);
      return ledger.read(query);
    },
  };
  return { ledger: counted, session: writer.session, asked };
}

it.each([
  [1, 1],
  [PAGE - 1, 1],
  [PAGE, 2],
  [PAGE + 1, 2],
  [2 * PAGE + 5, 3],
])('%i events are read in %i questions', async (events, questions) => {
  const { ledger, session: id, asked } = await session(events);
  const positions = [];
  for await (const { position } of readEvents(ledger, { session: id })) positions.push(position);
  expect(positions).toEqual(Array.from({ length: events }, (_, index) => index + 1));
  expect(asked).toHaveLength(questions);
});

it('asks the same on every page, from where it is told to begin', async () => {
  const { ledger, session: id, asked } = await session(PAGE + 10);
  const pages = [];
  for await (const page of readPages(ledger, { session: id, after: 3, types: ['step.recorded'], exact: true })) pages.push(page);
  expect(pages.map((page) => [page[0]?.position, page.length])).toEqual([
    [4, PAGE],
    [PAGE + 4, 7],
  ]);
  expect(asked).toEqual(
    [3, PAGE + 3].map((after) => ({ session: id, after, types: ['step.recorded'], exact: true, limit: PAGE })),
  );
});

it('gives no page where there is nothing', async () => {
  const { ledger, session: id } = await session(1);
  for await (const page of readPages(ledger, { session: id, after: 1 })) expect.fail(`a page of ${page.length}`);
});
