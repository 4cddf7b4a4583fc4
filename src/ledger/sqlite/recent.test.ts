/** What was just committed here is told without being read again, and only as long as it certainly is what the file holds. */
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { appendOrFail, givenRun, note, type Writer } from '../../../test/conformance/ledger/support.ts';
import { openTestLedger, testFolder, testIds } from '../../../test/support/ledger/sqlite-folder.ts';
import { limits } from '../../base/limits.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import type { Ledger } from '../port.ts';

const start = (ledger: Ledger): Promise<Writer> =>
  givenRun({ ledger, newSession: testIds.session, newRun: testIds.run }, undefined);

/** As the file has them, read by somebody who has written nothing. */
async function fromFile(path: string, { session }: Writer, after = 0): Promise<readonly LedgerEvent[]> {
  const ledger = openTestLedger({ path, readOnly: true });
  const events = await ledger.read({ session, after });
  await ledger.close();
  return events;
}

it('is what the file holds, in order and from any position, also of what was sealed or is too large to be kept', async () => {
  const path = join(testFolder(), 'ledger.db');
  const ledger = openTestLedger({ path, secrets: [{ name: 'KEY', value: 'hunter2hunter2' }] });
  const writer = await start(ledger);
  for (const text of ['one', 'with hunter2hunter2', 'two', 'x'.repeat(limits.payloadInlineBytes), 'three', 'four'])
    await appendOrFail(writer, [note(writer, text), note(writer, `${text.slice(0, 5)}, more`)]);
  const all = await fromFile(path, writer);
  for (let after = 0; after <= all.length; after += 1) {
    expect(await ledger.read({ session: writer.session, after })).toEqual(all.slice(after));
    expect(await ledger.read({ session: writer.session, after, limit: 2 })).toEqual(all.slice(after, after + 2));
  }
  expect(JSON.stringify(all)).not.toContain('hunter2');
  await ledger.close();
});

it('is not answered from memory when another process has written since, before or after', async () => {
  const path = join(testFolder(), 'ledger.db');
  const ledger = openTestLedger({ path });
  const other = openTestLedger({ path });
  const writer = await start(ledger);
  for (const round of ['one', 'two', 'three']) {
    await appendOrFail(writer, [note(writer, round)]);
    await appendOrFail({ ...writer, ledger: other }, [note(writer, `${round}, by another`)]);
    expect(await ledger.read({ session: writer.session })).toEqual(await fromFile(path, writer));
    await appendOrFail({ ...writer, ledger: other }, [note(writer, `${round}, again`)]);
    await appendOrFail(writer, [note(writer, `${round}, more`)]);
    expect(await ledger.read({ session: writer.session })).toEqual(await fromFile(path, writer));
  }
  await other.close();
  await ledger.close();
});

it('is the same event for all who ask', async () => {
  const path = join(testFolder(), 'ledger.db');
  const ledger = openTestLedger({ path });
  const writer = await start(ledger);
  await appendOrFail(writer, [note(writer, 'one')]);
  const before = await ledger.read({ session: writer.session });
  expect((await ledger.read({ session: writer.session }))[0]).toBe(before[0]);
  await ledger.close();
});
