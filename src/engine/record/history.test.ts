/** Conversations of runs that have ended are kept, as many as fit. */
import { expect, it } from 'vitest';
import { appendOrFail, givenRun, opening, type Writer } from '../../../test/conformance/ledger/support.ts';
import { openTestLedger, testIds } from '../../../test/support/ledger/sqlite-folder.ts';
import { limits } from '../../base/limits.ts';
import type { Ledger } from '../../ledger/port.ts';
import { standInFor } from '../../ledger/rules/stand-in.ts';
import { conversationOf } from './history.ts';

/** About four characters are a token: two of these fit, three do not. */
const LONG = 'word '.repeat((limits.conversationTokensKept * 4 * 0.4) / 5);

async function ended(ledger: Ledger): Promise<Writer> {
  const writer = await givenRun({ ledger, newSession: testIds.session, newRun: testIds.run }, LONG);
  await appendOrFail(writer, [writer.ending()]);
  await ledger.release(writer.fence);
  return writer;
}

it('a history that two read at the same time is counted once', async () => {
  const inner = openTestLedger({ path: ':memory:' });
  let reads = 0;
  const ledger: Ledger = {
    ...inner,
    read: (query) => {
      reads += 1;
      return inner.read(query);
    },
  };
  const [first, second] = [await ended(ledger), await ended(ledger)];
  const read = ({ session, run }: Writer) => conversationOf(ledger, session, run);
  await Promise.all([read(first), read(first)]);
  await read(second);
  reads = 0;
  await Promise.all([read(first), read(second)]);
  expect(reads).toBe(0);
  await inner.close();
});

it('what was forgotten is not gone on with, also where it was read before', async () => {
  const ledger = openTestLedger({ path: ':memory:' });
  const { session, run } = await ended(ledger);
  expect(await conversationOf(ledger, session, run)).toHaveLength(1);
  const [event] = await ledger.read({ session, limit: 1 });
  const payload = event && standInFor(event.event_type, event.payload);
  expect(payload).toContain('[forgotten]');
  const parts = [{ session, events: [{ position: 1, payload: payload ?? '' }] }];
  expect(await ledger.forget({ parts, by: 'ana', at: 1, dryRun: false })).toMatchObject({ kind: 'forgotten' });
  await expect(conversationOf(ledger, session, run)).rejects.toMatchObject({
    code: 'ledger_collected',
    message: expect.stringMatching(/forgotten at .* by ana/),
  });
  await ledger.close();
});

it('a run that goes on with itself is read once', async () => {
  const ledger = openTestLedger({ path: ':memory:' });
  const writer = await givenRun({ ledger, newSession: testIds.session, newRun: testIds.run }, 'Do it.');
  const start = opening(writer, 'Do it again.');
  await appendOrFail(writer, [{ ...start, payload: { ...start.payload, continues: writer.run } }]);
  expect(await conversationOf(ledger, writer.session, writer.run)).toMatchObject([{ content: [{ text: 'Do it again.' }] }]);
  await ledger.close();
});
