/** Places of a run that has ended, in a real repository and a real ledger. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { git, testRepository, value, workspacesIn, writeFiles } from '../../../test/support/workspaces/test-repository.ts';
import { type Clock, systemClock } from '../../base/clock.ts';
import { createIds } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { systemRandom } from '../../base/random.ts';
import type { NewEvent } from '../../ledger/port.ts';
import { openProject } from '../open.ts';
import { sweepEnded } from './ended-places.ts';

const VERDICT = { by: 'architect', why: 'x', acceptance: [], verification: { state: 'unchecked' } };
const input = { role: 'user', content: [{ type: 'text', text: 'x' }] };

/** A run with three tasks: one accepted, one given up, one that changed nothing. */
async function ranTasks() {
  const { top, home, workspaces, options } = await testRepository();
  const project = await openProject({ cwd: top, root: top, env: { HOME: home, TROUPE_HOME: home } });
  onTestFinished(() => project.close());
  const { ledger } = project;
  const ids = createIds(systemClock, systemRandom);
  const [session, run] = [ids.session(), ids.run()];
  const lease = await ledger.acquire(session, run);
  if (lease.kind !== 'acquired') throw new Error(lease.kind);
  let first: NewEvent | null = null;
  const add = async (type: string, payload: object, of = run): Promise<void> => {
    const event = { type, payload, run: of, actor: 'system', cause: first, at: systemClock.now() } as NewEvent;
    first ??= event;
    const outcome = await ledger.append({ session, fence: lease.fence, events: [event] });
    expect(outcome.kind).toBe('appended');
  };
  await add('session.started', { workspace: top });
  await add('run.started', { agent: 'lead', input, origin: { kind: 'person' }, depth: 0 });
  const paths: Record<string, string> = {};
  for (const [task, verdict] of Object.entries({ good: 'accepted', bad: 'given_up', idle: 'accepted' })) {
    const child = ids.run();
    const { place } = value(await workspaces.prepare({ repo: top, session, task }));
    paths[task] = place.path;
    if (task !== 'idle') writeFiles(place.path, { [`${task}.txt`]: `${task}\n` });
    const bounds = { maxCliCalls: 1, maxDurationMs: 1, maxMemoryMb: 1 };
    const terms = { task, include: [], exclude: [], noTouch: [], limits: bounds, mode: 'full', place, package: 'x' };
    const origin = { kind: 'task', parent: run, role: 'executor', terms };
    await add('run.started', { agent: 'hand', input, origin, depth: 1 }, child);
    const { patch } = value(await workspaces.capture(place));
    const ref = patch.length === 0 ? {} : { patch: `data:;base64,${Buffer.from(patch).toString('base64')}` };
    await add('task.captured', { task, files: [], undone: [], ...ref }, child);
    await add('task.judged', { ...VERDICT, task, attempt: 1, verdict });
  }
  const end = () =>
    add('run.ended', {
      ...{ status: 'completed', report: { format: 'text', body: 'x' }, finalAgent: 'lead' },
      verification: { state: 'unchecked' },
    });
  const sweep = (clock: Clock = systemClock) => sweepEnded({ ledger, clock, options });
  const listed = (): string[] =>
    git(top, 'worktree', 'list', '--porcelain')
      .split('\n')
      .flatMap((line) => /^worktree .*\/(good|bad|idle)$/.exec(line)?.[1] ?? []);
  return { top, home, session, paths, workspaces, add, end, sweep, listed };
}

describe('places of a run', () => {
  it('stay while it works; when it has ended those go whose work nobody can apply, and the rest is unlocked', async () => {
    const { top, paths, end, sweep, listed } = await ranTasks();
    expect(await sweep()).toBe(0);
    expect(listed()).toEqual(['bad', 'good', 'idle']);
    expect(() => git(top, 'worktree', 'remove', '--force', paths['good'] ?? '')).toThrow('locked');
    await end();
    expect(await sweep()).toBe(2);
    expect(listed()).toEqual(['good']);
    expect(existsSync(paths['bad'] ?? '')).toBe(false);
    expect(await sweep()).toBe(0);
    git(top, 'worktree', 'remove', '--force', paths['good'] ?? '');
    expect(listed()).toEqual([]);
    expect(await sweep()).toBe(1);
  });

  it('go when the work was applied, and stay when that was taken back; at last they go by themselves', async () => {
    const { add, end, sweep, listed } = await ranTasks();
    await end();
    const later = { ...systemClock, now: () => systemClock.now() + limits.placeKeptMs + 1_000 };
    await sweep();
    const made = { apply: 'apply-1', repo: '/r', base: 'b', patch: { sha256: 'x', bytes: 1 }, files: [] };
    await add('apply.made', made);
    await add('apply.undone', { apply: 'apply-1' });
    expect(await sweep()).toBe(0);
    expect(listed()).toEqual(['good']);
    expect(await sweep(later)).toBe(1);
    expect(listed()).toEqual([]);
    const again = await ranTasks();
    await again.end();
    await again.add('apply.made', made);
    expect(await again.sweep()).toBe(3);
    expect(again.listed()).toEqual([]);
  });

  it('lose nothing that somebody wrote there since: it is kept as a patch', async () => {
    const { home, session, paths, end, sweep, listed } = await ranTasks();
    writeFiles(paths['bad'] ?? '', { 'by-hand.txt': 'by hand\n' });
    writeFiles(paths['idle'] ?? '', { 'alone.txt': 'in no patch\n' });
    await end();
    await sweep();
    const kept = join(home, 'worktrees', session, 'bad.kept');
    expect(readdirSync(kept).map((name) => readFileSync(join(kept, name), 'utf8'))).toEqual([
      expect.stringContaining('+by hand'),
    ]);
    // Nothing of this one was ever captured: it stays.
    expect(listed()).toEqual(['good', 'idle']);
  });

  it('go also where a patch was being proved when the process was killed, with all that commands wrote there', async () => {
    const { top, session, end, sweep, listed, workspaces } = await ranTasks();
    const patch = new TextEncoder().encode('--- /dev/null\n+++ b/good.txt\n@@ -0,0 +1 @@\n+good\n');
    const { place } = value(await workspaces.prepare({ repo: top, session, task: 'good-alone', patch }));
    expect(readFileSync(join(place.path, 'good.txt'), 'utf8')).toBe('good\n');
    writeFiles(place.path, { 'built.txt': 'by a command\n' });
    expect(await sweep()).toBe(0);
    await end();
    expect(await sweep()).toBe(3);
    expect([existsSync(place.path), existsSync(`${place.path}.kept`), listed()]).toEqual([false, false, ['good']]);
  });

  it.each(['going', 'removed'])('that are cut off while they go (%s) are finished the next time', async (point) => {
    const { top, home, session, paths, end, sweep, listed } = await ranTasks();
    await end();
    const between = (effect: string): void => {
      if (effect === point) throw new Error('the power is gone');
    };
    const { workspaces } = workspacesIn(home, { between });
    const place = { kind: 'worktree' as const, path: paths['bad'] ?? '', base: git(top, 'rev-parse', 'HEAD').trim(), repo: top };
    await expect(workspaces.remove(place, { force: true })).rejects.toThrow('the power is gone');
    expect(existsSync(join(home, 'worktrees', session, 'bad.json'))).toBe(true);
    await sweep();
    expect(listed()).toEqual(['good']);
    expect(existsSync(join(home, 'worktrees', session, 'bad.json'))).toBe(false);
    // Asked for again in between, it is made anew.
    value(await workspacesIn(home).workspaces.prepare({ repo: top, session, task: 'bad' }));
    expect(readdirSync(paths['bad'] ?? '')).not.toContain('bad.txt');
  });
});
