/** No change of a file is lost: not to one who goes by an older version, not to another process. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { link, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { type TestWorkspace, testWorkspace, unseen } from '../../../test/support/tool-workspace.ts';
import { systemClock } from '../../base/clock.ts';
import { systemRandom } from '../../base/random.ts';
import { createGuard } from '../closed/guard.ts';
import type { ToolContext, ToolOutcome } from '../port.ts';
import { editTool } from './edit.ts';
import { alone } from './file-lock.ts';
import { readTool } from './read.ts';
import { resolveInside } from './workspace.ts';
import { writeTool } from './write.ts';

const guard = createGuard();

const read = readTool({ guard });
const write = writeTool({ clock: systemClock, random: systemRandom, guard });
const edit = editTool({ clock: systemClock, random: systemRandom, guard });
const MAIN = fileURLToPath(new URL('../../../test/support/file-change-main.ts', import.meta.url));

const said = (outcome: ToolOutcome): string =>
  outcome.kind === 'error' ? outcome.message : outcome.content.map((part) => (part.type === 'text' ? part.text : '')).join('');

/** The caller goes by what it saw then, whoever changed it. */
async function having(place: TestWorkspace, path: string, by?: string): Promise<ToolContext> {
  const version = (await read.run({ path }, place.context)).saw?.[0]?.sha256;
  return { ...place.context, seen: { version: async () => version, unread: async () => undefined, changedBy: async () => by } };
}

describe('a change', () => {
  it('of a file that was changed since it was read is refused, with who did it', async () => {
    await using place = await testWorkspace();
    await writeFile(join(place.path, 'a.txt'), 'one');
    const context = await having(place, 'a.txt', 'painter');
    await writeFile(join(place.path, 'a.txt'), 'one, and two');
    const late =
      'a.txt was changed since you read it (by the agent painter); nothing was changed. Read it again and decide anew.';
    expect(said(await write.run({ path: 'a.txt', content: 'three' }, context))).toBe(late);
    expect(said(await edit.run({ path: 'a.txt', old: 'one', new: '1' }, context))).toBe(late);
    expect(await readFile(join(place.path, 'a.txt'), 'utf8')).toBe('one, and two');
  });

  it('as a whole, of a file that the caller has not read, is refused; of a piece that it names is not', async () => {
    await using place = await testWorkspace();
    const context = { ...place.context, seen: unseen };
    await writeFile(join(place.path, 'a.txt'), 'one');
    expect(said(await write.run({ path: 'a.txt', content: 'two' }, context))).toContain('you have not read it');
    expect(said(await edit.run({ path: 'a.txt', old: 'one', new: 'two' }, context))).toContain('Edited a.txt');
    await writeFile(join(place.path, 'empty.txt'), '');
    expect(said(await write.run({ path: 'empty.txt', content: 'two' }, context))).toContain('Replaced empty.txt');
  });

  it('whose folder became a link while it waited is refused, and shows nothing of where the link leads', async () => {
    await using place = await testWorkspace();
    await using elsewhere = await testWorkspace();
    await mkdir(join(place.path, 'sub'));
    await writeFile(join(place.path, 'sub', 'a.txt'), 'one');
    await writeFile(join(elsewhere.path, 'a.txt'), 'the words of somebody else');
    const target = await resolveInside(place.path, 'sub/a.txt', { guard, use: 'write' });
    if (!target.ok) throw new Error(target.error);
    const signal = new AbortController().signal;
    let late: Promise<ToolOutcome> | undefined;
    await alone(target.value, { clock: systemClock, signal }, async () => {
      late = edit.run({ path: 'sub/a.txt', old: 'the words of somebody', new: 'mine' }, { ...place.context, seen: unseen });
      // It has looked at the path when it waits for the lock.
      for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      await rm(join(place.path, 'sub'), { recursive: true });
      await symlink(elsewhere.path, join(place.path, 'sub'));
    });
    expect(said((await late) as ToolOutcome)).toMatch(/outside|somewhere else/);
    expect(said((await late) as ToolOutcome)).not.toContain('somebody else');
    expect(await readFile(join(elsewhere.path, 'a.txt'), 'utf8')).toBe('the words of somebody else');
  });

  it('of a file that has come or gone since is refused', async () => {
    await using place = await testWorkspace();
    const before = await having(place, 'new.txt');
    await writeFile(join(place.path, 'new.txt'), 'by another');
    expect(said(await write.run({ path: 'new.txt', content: 'mine' }, before))).toContain(
      'new.txt was not there when you looked and is now',
    );
    const there = await having(place, 'new.txt');
    await rm(join(place.path, 'new.txt'));
    const gone = await write.run({ path: 'new.txt', content: 'mine' }, there);
    expect(gone).toMatchObject({ kind: 'error', saw: [{ path: 'new.txt', sha256: null }] });
    expect(await readdir(place.path)).toEqual(['.troupe']);
  });

  it('of a file with several names changes the one that was named, and says that the others stay', async () => {
    await using place = await testWorkspace();
    await writeFile(join(place.path, 'a.txt'), 'one');
    await link(join(place.path, 'a.txt'), join(place.path, 'b.txt'));
    expect(said(await edit.run({ path: 'b.txt', old: 'one', new: 'two' }, place.context))).toBe(
      'Edited b.txt (1 replacement, +1 -1 lines). The file had another name, which still holds what was there before: ' +
        'a hard link is not followed.',
    );
    expect(await readFile(join(place.path, 'a.txt'), 'utf8')).toBe('one');
    expect(said(await edit.run({ path: 'b.txt', old: 'two', new: 'three' }, place.context))).not.toContain('hard link');
  });

  it('that would leave the file as it is, is none, and is said to be none', async () => {
    await using place = await testWorkspace();
    await writeFile(join(place.path, 'a.txt'), 'same');
    const outcome = await write.run({ path: 'a.txt', content: 'same' }, { ...place.context, seen: unseen });
    expect(said(outcome)).toBe('a.txt holds exactly this already; nothing was changed.');
    expect(outcome.evidence).toBeUndefined();
  });
});

describe('several processes', () => {
  it('on one file lose nothing: each change is there, or its author was told', async () => {
    await using place = await testWorkspace();
    await writeFile(join(place.path, 'count.txt'), '0');
    const counters = [1, 2, 3].map(() =>
      spawn(process.execPath, [MAIN, 'count', place.path, '15'], { stdio: ['ignore', 'pipe', 'inherit'] }),
    );
    const codes = await Promise.all(counters.map(async (child) => (await once(child, 'exit'))[0] as number | null));
    expect(codes).toEqual([0, 0, 0]);
    expect(await readFile(join(place.path, 'count.txt'), 'utf8')).toBe('45');
  });

  it('that are killed leave no lock behind', async () => {
    await using place = await testWorkspace();
    await mkdir(join(place.path, 'sub'));
    await writeFile(join(place.path, 'count.txt'), '1');
    const holder = spawn(process.execPath, [MAIN, 'hold', place.path], { stdio: ['pipe', 'pipe', 'inherit'] });
    await once(holder.stdout, 'data');
    const inside = await resolveInside(join(place.path, 'sub'), 'x.txt', { guard, use: 'write' });
    if (!inside.ok) throw new Error(inside.error);
    const change = (signal: AbortSignal) => alone(inside.value, { clock: systemClock, signal }, async () => 'changed');
    // A workspace within the other: it finds the same lock taken.
    expect(await change(AbortSignal.abort())).toEqual({ ok: false, error: 'x.txt: cancelled; nothing was changed.' });
    holder.kill('SIGKILL');
    await once(holder, 'exit');
    expect(await change(place.context.signal)).toEqual({ ok: true, value: 'changed' });
  });
});
