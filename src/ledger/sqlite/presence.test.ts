import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { givenRun, note, noteText, type Writer } from '../../../test/conformance/ledger/support.ts';
import { openTestLedger, testFolder, testIds } from '../../../test/support/ledger/sqlite-folder.ts';

const writerOn = (path: string): Promise<Writer> =>
  givenRun({ ledger: openTestLedger({ path }), newSession: testIds.session, newRun: testIds.run });

const write = (writer: Writer, text: string) => writer.ledger.append({ ...writer.request([note(writer, text)]), sync: 'power' });

describe('a ledger whose file goes while it is open', () => {
  it('is put back with what it holds, refuses to go on, and opens again sound', async () => {
    const folder = testFolder();
    const path = join(folder, 'state/ledger.db');
    const writer = await writerOn(path);
    await write(writer, 'kept');
    await rm(join(folder, 'state'), { recursive: true });
    await expect(write(writer, 'lost')).rejects.toMatchObject({
      code: 'ledger_gone',
      message: expect.stringContaining('put back'),
    });
    await expect(write(writer, 'lost too')).rejects.toMatchObject({ code: 'ledger_gone' });
    await writer.ledger.close();
    const again = openTestLedger({ path });
    expect(await again.verify()).toMatchObject({ kind: 'sound' });
    expect((await again.read({ session: writer.session, after: 1 })).map(noteText)).toEqual(['kept']);
    await again.close();
  });

  it('leaves the file alone that took its place', async () => {
    const folder = testFolder();
    const path = join(folder, 'state/ledger.db');
    const writer = await writerOn(path);
    await rename(join(folder, 'state'), join(folder, 'moved'));
    const other = openTestLedger({ path });
    await expect(write(writer, 'lost')).rejects.toMatchObject({
      code: 'ledger_gone',
      message: expect.stringContaining('its place'),
    });
    expect(await other.read({ session: writer.session })).toEqual([]);
    await Promise.all([other.close(), writer.ledger.close()]);
  });
});
