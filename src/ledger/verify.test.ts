/** Every way to tamper with a ledger is found, and the first bad event is named. */
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { appendOrFail, givenRun, note, type Writer } from '../../test/conformance/ledger/support.ts';
import { openTestLedger, testFolder, testIds } from '../../test/support/ledger/sqlite-folder.ts';
import { limits } from '../base/limits.ts';
import { payloadRef } from './rules/chain.ts';

const LARGE = 'x'.repeat(limits.payloadInlineBytes);

/** Ten events, the last of them the run's end: the fifth has a large payload in a file, the sixth an attachment. */
async function tenEvents(): Promise<{ path: string; writer: Writer }> {
  const path = join(testFolder(), 'ledger.db');
  const ledger = openTestLedger({ path });
  const writer = await givenRun({ ledger, newSession: testIds.session, newRun: testIds.run });
  const texts = ['two', 'three', 'four', LARGE, 'six', 'seven', 'eight', 'nine'];
  await appendOrFail(
    writer,
    texts.map((text) => ({ ...note(writer, text), attachment: text === 'six' ? 'attached' : undefined })),
  );
  await appendOrFail(writer, [writer.ending()]);
  await ledger.close();
  return { path, writer };
}

function payloadFile(path: string): string {
  const [name] = readdirSync(`${path}-payloads`, { recursive: true })
    .map(String)
    .filter((file) => file.length > 60);
  return join(`${path}-payloads`, name ?? '');
}

const forged = payloadRef('{"value":"forged"}');
const ofEvent = (position: number): string => `(SELECT payload FROM event WHERE position = ${position})`;

it.each([
  ['a changed actor', 4, "UPDATE event SET actor = 'user' WHERE position = 4", /envelope was changed/],
  ['a changed time', 7, 'UPDATE event SET at = at + 1 WHERE position = 7', /envelope was changed/],
  ['a changed type', 2, "UPDATE event SET type = 'task.error' WHERE position = 2", /envelope was changed/],
  ['a changed parent', 8, 'UPDATE event SET parent = 2 WHERE position = 8', /envelope was changed/],
  ['a removed parent', 8, 'UPDATE event SET parent = NULL WHERE position = 8', /no parent/],
  ['a parent that comes later', 3, 'UPDATE event SET parent = 9 WHERE position = 3', /does not come before/],
  ['a changed chain hash', 9, 'UPDATE event SET chain = zeroblob(32) WHERE position = 9', /chain hash/],
  ['a payload in place of another', 6, `UPDATE event SET payload = ${ofEvent(2)} WHERE position = 6`, /envelope was changed/],
  ['a changed payload', 3, `UPDATE payload SET body = '{"value":"forged"}' WHERE id = ${ofEvent(3)}`, /bytes do not match/],
  [
    'a payload forged with its hash',
    3,
    `UPDATE payload SET body = '{"value":"forged"}', ref = x'${forged}' WHERE id = ${ofEvent(3)}`,
    /envelope was changed/,
  ],
  ['a changed attachment', 6, "UPDATE payload SET body = 'forged' WHERE body = 'attached'", /attachment was changed/],
  ['an attachment that is gone', 6, "UPDATE payload SET body = NULL WHERE body = 'attached'", /attachment is damaged/],
  ['a payload without its bytes', 3, `UPDATE payload SET body = NULL WHERE id = ${ofEvent(3)}`, /cannot be read/],
  ['a payload that nobody collected', 3, `UPDATE payload SET place = 2, body = NULL WHERE id = ${ofEvent(3)}`, /not collected/],
  ['a removed event', 5, 'DELETE FROM event WHERE position = 5', /missing/],
  ['a removed end', 9, 'DELETE FROM event WHERE position >= 9', /missing/],
  [
    'a removed end with a corrected seal',
    8,
    'DELETE FROM event WHERE position > 8; UPDATE session SET sealed = 8',
    /not the event that ended/,
  ],
  ['a removed payload', 4, `DELETE FROM payload WHERE id = ${ofEvent(4)}`, /cannot be read/],
])('verify finds %s', async (_name, position, tamper, why) => {
  const { path, writer } = await tenEvents();
  const database = new DatabaseSync(path);
  database.exec(tamper);
  database.close();
  const ledger = openTestLedger({ path });
  expect(await ledger.verify()).toEqual({ kind: 'broken', event: writer.eventAt(position), why: expect.stringMatching(why) });
  await ledger.close();
});

it.each([
  ['changed', (file: string) => writeFileSync(file, 'forged'), /bytes do not match/],
  ['removed', (file: string) => rmSync(file), /file is missing/],
])('verify finds a payload file that was %s', async (_name, tamper, why) => {
  const { path, writer } = await tenEvents();
  tamper(payloadFile(path));
  const ledger = openTestLedger({ path });
  expect(await ledger.verify(writer.session)).toEqual({
    kind: 'broken',
    event: writer.eventAt(5),
    why: expect.stringMatching(why),
  });
  await ledger.close();
});

it('verify finds a payload that does not fit its schema', async () => {
  const ledger = openTestLedger({ path: ':memory:', validate: false });
  const writer = await givenRun({ ledger, newSession: testIds.session, newRun: testIds.run });
  const wrong = JSON.parse('{"reason": 7}');
  await appendOrFail(writer, [note(writer, 'fine'), { ...note(writer, ''), type: 'run.paused', payload: wrong }]);
  expect(await ledger.verify()).toMatchObject({
    kind: 'broken',
    event: writer.eventAt(3),
    why: expect.stringMatching(/schema of run.paused/),
  });
  const strict = openTestLedger({ path: ':memory:' });
  const other = await givenRun({ ledger: strict, newSession: testIds.session, newRun: testIds.run });
  await expect(strict.append(other.request([{ ...note(other, ''), type: 'run.paused', payload: wrong }]))).rejects.toMatchObject({
    code: 'ledger_bad_append',
  });
  await strict.close();
  await ledger.close();
});
