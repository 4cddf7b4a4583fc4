/** A ledger that no setting names is still a ledger: of another project, or of a process with another environment. */
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openTestLedger } from '../../../test/support/ledger/sqlite-folder.ts';
import { testWorkspace } from '../../../test/support/tool-workspace.ts';
import { systemClock } from '../../base/clock.ts';
import { systemRandom } from '../../base/random.ts';
import { createBuiltIns } from '../built-ins.ts';
import type { OrdinaryTool } from '../port.ts';

const made = createBuiltIns({ clock: systemClock, random: systemRandom, environment: process.env, places: undefined });

function toolOf(name: string): OrdinaryTool {
  const tool = made.get(name)?.();
  if (tool === undefined || tool.kind !== undefined) throw new Error(name);
  return tool;
}

const refused = { kind: 'error', message: expect.stringContaining('not open to agents') };

/** Of a process that ended, and of one that was killed: then all that is ours is in its log. */
const LIVES = ['ended', 'killed'] as const;

describe('a ledger that no setting names', () => {
  it.each(LIVES)('is closed to agents, also that of a process that %s', async (life) => {
    await using place = await testWorkspace();
    const live = join(place.path, 'live.db');
    const path = join(place.path, 'other.db');
    const ledger = openTestLedger({ path: live });
    if (life === 'ended') await ledger.close();
    for (const end of life === 'ended' ? [''] : ['', '-wal', '-shm']) await cp(live + end, path + end);
    await ledger.close();
    await mkdir(`${path}-payloads/ab`, { recursive: true });
    await writeFile(`${path}-payloads/ab/secret`, 'told in another session\n');

    for (const name of ['other.db', 'other.db-wal', 'other.db-journal', 'other.db-payloads/ab/secret', 'other.db-payloads/new']) {
      expect(await toolOf('write').run({ path: name, content: 'evil' }, place.context), name).toMatchObject(refused);
      expect(await toolOf('read').run({ path: name }, place.context), name).toMatchObject(refused);
    }
    const found = await toolOf('search').run({ text: 'told in another' }, place.context);
    expect(JSON.stringify(found)).not.toContain('secret');
    expect(await toolOf('search').run({ text: 'told', path: 'other.db-payloads' }, place.context)).toMatchObject(refused);
  });

  it('is told from databases of others and from files that are called so', async () => {
    await using place = await testWorkspace();
    await writeFile(join(place.path, 'app.db'), Buffer.concat([Buffer.from('SQLite format 3\0'), Buffer.alloc(200)]));
    await mkdir(join(place.path, 'app.db-payloads'));
    await writeFile(join(place.path, 'notes.txt'), 'TRUP\n');
    for (const path of ['app.db-payloads/a', 'x-payloads/a', 'notes.db-wal'])
      expect(await toolOf('write').run({ path, content: 'fine' }, place.context), path).toMatchObject({ kind: 'ok' });
    expect(await toolOf('read').run({ path: 'notes.txt' }, place.context)).toMatchObject({ kind: 'ok' });
  });
});
