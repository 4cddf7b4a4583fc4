/** What is left of forgotten bytes in the files of a ledger: nothing, also when the process was killed on the way. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { appendOrFail, givenRun, note } from '../../../test/conformance/ledger/support.ts';
import { openTestLedger, testFolder, testIds } from '../../../test/support/ledger/sqlite-folder.ts';
import type { SessionId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { DatabaseSync } from '../../base/sqlite.ts';

const MARK = 'zebra-crossing';
const CHILD = fileURLToPath(new URL('../../../test/support/ledger/forget-child.ts', import.meta.url));

/** Two sessions with the mark in small and large payloads and in what is attached, between others; the first is to go. */
async function given(path: string): Promise<SessionId> {
  const ledger = openTestLedger({ path });
  const store = { ledger, newSession: testIds.session, newRun: testIds.run };
  const [one, other] = [await givenRun(store, `one ${MARK}`), await givenRun(store, 'other')];
  for (let index = 0; index < 40; index += 1) {
    await appendOrFail(one, [note(one, `${MARK} ${index} ${'x'.repeat(index * 100)}`)]);
    await appendOrFail(other, [note(other, `other ${index} ${'y'.repeat(index * 70)}`)]);
  }
  const large = `${MARK} `.repeat(limits.payloadInlineBytes / 8);
  await appendOrFail(one, [note(one, large), { ...note(one, 'attached'), attachment: `${large}!` }, one.ending()]);
  await appendOrFail(other, [other.ending()]);
  await ledger.close();
  return one.session;
}

function filesWithMark(folder: string): readonly string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  expect(names.length).toBeGreaterThan(0);
  return names.filter((name) => statSync(join(folder, name)).isFile() && readFileSync(join(folder, name)).includes(MARK));
}

describe('forgetting in a file', () => {
  it('leaves none of the bytes in any file', async () => {
    const folder = testFolder();
    const path = join(folder, 'ledger.db');
    const session = await given(path);
    // Another program does not overwrite what it takes away: a repair, say, or a copy that was made inside.
    const other = new DatabaseSync(path);
    other.exec('PRAGMA secure_delete = OFF; CREATE TABLE copied AS SELECT * FROM payload; DROP TABLE copied');
    other.close();
    expect(filesWithMark(folder).length).toBeGreaterThan(2);
    const ledger = openTestLedger({ path });
    const done = await ledger.forget({ parts: [{ session }], by: 'ana', at: 1, dryRun: false });
    expect(done).toMatchObject({ kind: 'forgotten', left: [] });
    // While it is still open, too.
    expect(filesWithMark(folder)).toEqual([]);
    expect(await ledger.verify()).toMatchObject({ kind: 'sound', sessions: 2, forgotten: 43 });
    await ledger.close();
    expect(filesWithMark(folder)).toEqual([]);
  });

  it('does so too when it was killed at any of its commits and is asked again', async () => {
    let killed = 0;
    for (let at = 1; ; at += 1) {
      const folder = testFolder();
      const path = join(folder, 'ledger.db');
      const session = await given(path);
      const child = spawnSync(process.execPath, [CHILD, path, session, String(at)], { encoding: 'utf8' });
      if (child.signal !== 'SIGKILL') {
        expect(child).toMatchObject({ status: 0 });
        break;
      }
      killed += 1;
      const ledger = openTestLedger({ path });
      expect((await ledger.verify()).kind, `killed at ${at}`).toBe('sound');
      const forgotten = (await ledger.standings()).get(session)?.forgotten;
      const parts = forgotten == null ? [{ session }] : [];
      expect(await ledger.forget({ parts, by: 'ana', at: 2, dryRun: false })).toMatchObject({ kind: 'forgotten', left: [] });
      expect(filesWithMark(folder), `killed at ${at}`).toEqual([]);
      expect((await ledger.standings()).get(session)?.forgotten).toMatchObject({ unfinished: false });
      await ledger.close();
    }
    expect(killed).toBeGreaterThan(5);
  });
});
