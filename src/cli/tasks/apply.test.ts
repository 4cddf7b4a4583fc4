/** `troupe apply` on a ledger with a run whose tasks worked in worktrees. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { testTerminal } from '../../../test/support/test-terminal.ts';
import {
  everythingOf,
  type Files,
  git,
  testRepository,
  value,
  writeFiles,
} from '../../../test/support/workspaces/test-repository.ts';
import { systemClock } from '../../base/clock.ts';
import { createIds, type RunId } from '../../base/ids.ts';
import { systemRandom } from '../../base/random.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import type { NewEvent } from '../../ledger/port.ts';
import { openProject } from '../../project/open.ts';
import { sha256 } from '../../tools/files/file-change.ts';
import { jsonContract } from '../json/contract.ts';
import { runProgram } from '../program/program.ts';

const SAID = { attempt: 1, by: 'acceptance', acceptance: [], verification: { state: 'unchecked' } };
const GIVEN_UP = { verdict: 'given_up', why: 'Its tests fail.' };
const AGAIN = { verdict: 'again', why: 'Half of it is missing.' };
/** What is recorded of a task that has to be tried again without anybody being asked. */
const RETRIED = { trigger: 'error', action: 'retry', executor: 'executor', why: 'The executor is gone.' };
type Said = typeof GIVEN_UP | typeof RETRIED | undefined;
const LINES = 'one\ntwo\nthree\nfour\nfive\nsix\n';

/**
 * Each task writes its files and is accepted, if `said` has no other word for it; one that is none is `null`, and each after one
 * that is to be done again is that. With `merged` the run has recorded what became of the first two together.
 */
async function ranTasks(
  tasks: readonly Files[],
  { stored = true, merged = false, said = [] }: { stored?: boolean; merged?: boolean; said?: readonly (Said | null)[] } = {},
) {
  const repository = await testRepository({ 'a.txt': LINES, 'b.txt': 'b\n', '.gitignore': '.troupe/\n' });
  const { top, workspaces, home } = repository;
  const env = { ...process.env, HOME: home, TROUPE_HOME: home };
  const ids = createIds(systemClock, systemRandom);
  const [session, run] = [ids.session(), ids.run()];
  const project = await openProject({ cwd: top, root: top, env });
  const lease = await project.ledger.acquire(session, run);
  if (lease.kind !== 'acquired') throw new Error(lease.kind);
  const events: NewEvent[] = [];
  const add = (event: object): NewEvent => {
    const made = { actor: 'system', cause: events[0] ?? null, at: 1, run, ...event } as NewEvent;
    events.push(made);
    return made;
  };
  const input = { role: 'user', content: [{ type: 'text', text: 'x' }] };
  add({ type: 'session.started', payload: { workspace: top } });
  add({ type: 'run.started', payload: { agent: 'architect', input, origin: { kind: 'person' }, depth: 0 } });
  for (const [number, files] of tasks.entries()) {
    const task = `task-${number}`;
    const child = ids.run();
    const { place } = value(await workspaces.prepare({ repo: top, session, task }));
    writeFiles(place.path, files);
    const limits = { maxCliCalls: 1, maxDurationMs: 1, maxMemoryMb: 1 };
    const terms = { task, include: [], exclude: [], noTouch: [], limits, mode: 'full', place, package: 'event://x' };
    const origin = { kind: 'task', parent: run, role: 'executor', terms };
    add({ type: 'run.started', run: child, payload: { agent: 'executor', input, origin, depth: 1 } });
    say(add, task, said[number], said[number - 1]);
    if (stored) storePatch(add, child, task, Buffer.from(value(await workspaces.capture(place)).patch).toString());
  }
  if (merged) {
    const patches = events.flatMap((event) => (event.type === 'artifact.stored' ? [Buffer.from(event.attachment ?? '')] : []));
    const base = git(top, 'rev-parse', 'HEAD').trim();
    const together = await workspaces.merge({
      repo: top,
      base,
      patches: patches.slice(0, 2).map((patch, at) => ({ task: `task-${at}`, patch })),
    });
    const patch = `data:;base64,${Buffer.from(value(together).patch).toString('base64')}`;
    add({ type: 'task.merged', payload: { tasks: ['task-0', 'task-1'], patch, files: 1, conflicts: [] } });
  }
  await project.ledger.append({ session, fence: lease.fence, events, release: true });
  await project.close();
  const troupe = async (...words: string[]) => {
    const terminal = testTerminal({ cwd: top, env });
    const code = await runProgram(words, terminal);
    return { code, ...terminal.written };
  };
  const applied = async (): Promise<readonly LedgerEvent[]> => {
    const reading = await openProject({ cwd: top, root: top, env, readOnly: true });
    const found = await reading.ledger.read({ session, types: ['apply.made', 'apply.undone'] });
    await reading.close();
    return found;
  };
  return { ...repository, run, troupe, applied };
}

function say(add: (event: object) => NewEvent, task: string, said: Said | null, before: Said | null): void {
  const isAgain = before === AGAIN || before === RETRIED;
  const again = isAgain ? { again: `task-${Number(task.slice('task-'.length)) - 1}` } : {};
  const handed = { task, attempt: isAgain ? 2 : 1, executor: 'executor', yaml: '', ref: 'event://x', verify: [], ...again };
  add({ type: 'task.package', payload: handed });
  if (said === null) return;
  if (said === RETRIED) add({ type: 'task.policy', payload: { task, attempt: 1, ...said } });
  else add({ type: 'task.judged', payload: { ...SAID, verdict: 'accepted', why: 'It is good.', ...said, task } });
}

function storePatch(add: (event: object) => NewEvent, run: RunId, task: string, patch: string): void {
  const entry = {
    type: 'patch',
    ref: `artifact://patches/${task}.diff`,
    generated_by: 'git diff',
    checksum: `sha256:${sha256(patch)}`,
  };
  add({ type: 'artifact.stored', run, payload: { ...entry, bytes: patch.length }, attachment: patch });
}

describe('troupe apply', () => {
  it.each([
    ['patches that were stored', { stored: true }],
    ['what lies at the places of the tasks', { stored: false }],
    ['what was merged', { merged: true }],
  ])('brings %s together, shows it first, takes it back, and says so in the ledger', async (_name, how) => {
    const work = [{ 'a.txt': LINES.replace('one', '1') }, { 'a.txt': LINES.replace('six', '6'), 'new.txt': 'new\n' }];
    const { top, run, troupe, applied } = await ranTasks(work, how);
    const before = everythingOf(top);
    const shown = await troupe('apply', 'last', '--dry-run');
    expect(shown).toMatchObject({ code: 0, out: 'M a.txt  +2 -2\nA new.txt  +1 -0\n' });
    expect(shown.progress).toContain('2 files would be changed, nothing was; to do it: troupe apply ');
    expect(everythingOf(top)).toBe(before);

    const done = await troupe('apply', run);
    expect(done.code).toBe(0);
    expect(done.progress).toContain('troupe apply --undo');
    expect(readFileSync(join(top, 'a.txt'), 'utf8')).toBe('1\ntwo\nthree\nfour\nfive\n6\n');
    expect(await troupe('apply', run)).toMatchObject({ code: 0, progress: expect.stringContaining('nothing to do') });
    expect(await troupe('apply', '--undo')).toMatchObject({ code: 0, out: expect.stringContaining('2 files') });
    expect(git(top, 'status', '--porcelain')).toBe('');
    expect((await applied()).map((event) => [event.event_type, event.run_id])).toEqual([
      ['apply.made', run],
      ['apply.undone', run],
    ]);
    expect(await troupe('apply', '--undo')).toMatchObject({ code: 2, progress: expect.stringContaining('nothing to take back') });
  });

  it.each([
    ['given up', [undefined, GIVEN_UP], 'not in it: task-1, ', 'given up: Its tests fail.'],
    ['judged by nobody', [undefined, null], 'not in it: task-1, ', 'nobody has judged it'],
    ['to be done again, and then given up', [undefined, AGAIN, GIVEN_UP], 'not in it: task-1, ', 'to be done again: Half of it'],
    ['retried, and then given up', [undefined, RETRIED, GIVEN_UP], 'not in it: task-1, ', 'it failed: The executor is gone.'],
  ])('leaves out what was %s, and says so', async (_name, said, task, why) => {
    const work = [{ 'a.txt': LINES.replace('one', '1') }, { 'new.txt': 'new\n' }, { 'newer.txt': 'newer\n' }].slice(
      0,
      said.length,
    );
    const { troupe } = await ranTasks(work, { said });
    const shown = await troupe('apply', 'last', '--dry-run');
    expect(shown).toMatchObject({ code: 0, out: 'M a.txt  +1 -1\n' });
    expect(shown.progress).toContain(task);
    expect(shown.progress).toContain(why);
  });

  it('names nothing that another did again well, and what came after the last merge', async () => {
    const work = [{ 'a.txt': LINES.replace('one', '1') }, { 'a.txt': LINES.replace('one', '1st') }];
    const again = await ranTasks(work, { said: [AGAIN] });
    const shown = await again.troupe('apply', 'last', '--dry-run');
    expect(shown).toMatchObject({ code: 0, out: 'M a.txt  +1 -1\n' });
    expect(shown.progress).not.toContain('not in it');
    const late = await ranTasks([{ 'a.txt': 'x\n' }, { 'b.txt': 'x\n' }, { 'c.txt': 'x\n' }, { 'd.txt': 'x\n' }], {
      ...{ merged: true, said: [undefined, undefined, GIVEN_UP] },
    });
    const told = JSON.parse((await late.troupe('apply', 'last', '--dry-run', '--json')).out);
    expect(jsonContract.apply.parse(told)).toMatchObject({
      files: [{ path: 'a.txt' }, { path: 'b.txt' }],
      left: [
        { task: 'task-2', why: 'given up: Its tests fail.' },
        { task: 'task-3', why: 'accepted, and not merged yet' },
      ],
    });
  });

  it('refuses where nothing was accepted', async () => {
    const none = await ranTasks([{ 'a.txt': LINES.replace('one', '1') }, { 'new.txt': 'new\n' }], { said: [AGAIN, GIVEN_UP] });
    const before = everythingOf(none.top);
    const refused = await none.troupe('apply', 'last');
    expect(refused.code).not.toBe(0);
    expect(refused.progress).toContain('No task of');
    expect(refused.progress).toContain('task-1: given up: Its tests fail.');
    expect(everythingOf(none.top)).toBe(before);
    const [, named = ''] = /all the same: troupe apply (\S+)/.exec(refused.progress) ?? [];
    expect(await none.troupe('apply', named, '--dry-run')).toMatchObject({ code: 0, out: 'A new.txt  +1 -0\n' });
  });

  it('refuses where something of yours is in the way, with what can be done, and its JSON is as promised', async () => {
    const { top, troupe } = await ranTasks([{ 'a.txt': LINES.replace('one', '1') }]);
    writeFiles(top, { 'a.txt': LINES.replace('six', '6') });
    const before = everythingOf(top);
    const refused = await troupe('apply', 'last');
    expect(refused.code).toBe(1);
    expect(refused.progress).toContain('in the way: a.txt: you have changed it and not committed it');
    expect(refused.progress).toContain('--merge');
    const told = await troupe('apply', 'last', '--json');
    expect(jsonContract.apply.parse(JSON.parse(told.out))).toMatchObject({ kind: 'refused', inTheWay: [{ path: 'a.txt' }] });
    expect(everythingOf(top)).toBe(before);
    const merged = await troupe('apply', 'last', '--merge', '--json');
    expect(jsonContract.apply.parse(JSON.parse(merged.out))).toMatchObject({ kind: 'applied', files: [{ path: 'a.txt' }] });
    expect(readFileSync(join(top, 'a.txt'), 'utf8')).toBe('1\ntwo\nthree\nfour\nfive\n6\n');
    writeFiles(top, { 'a.txt': 'more\n' });
    const kept = await troupe('apply', '--undo', '--json');
    expect(kept.code).toBe(1);
    expect(JSON.parse(kept.out)).toMatchObject({ error: { code: 'changed_since', message: expect.stringContaining('a.txt') } });
  });

  it('makes a branch, and tells of work that stands against others', async () => {
    const work = [{ 'a.txt': LINES.replace('one', '1') }, { 'a.txt': LINES.replace('one', 'eins') }, { 'b.txt': 'B\n' }];
    const { top, troupe } = await ranTasks(work);
    const done = await troupe('apply', 'last', '--branch', 'results');
    expect(done.code).toBe(0);
    expect(done.progress).toContain('not in it: task-1, a.txt');
    expect(git(top, 'show', 'results:b.txt')).toBe('B\n');
    const undone = await troupe('apply', '--undo', '--json');
    expect(jsonContract.apply.parse(JSON.parse(undone.out))).toMatchObject({ kind: 'undone', branch: { name: 'results' } });
    expect(git(top, 'branch', '--list', 'results')).toBe('');
  });

  it.each([
    [[], 'Which run?'],
    [['last', '--undo'], 'stands alone'],
    [['last', '--branch', 'x', '--merge'], 'none of your uncommitted changes'],
    [['nothing'], 'There is no run'],
  ])('%j is a mistake', async (words, says) => {
    const { troupe } = await ranTasks([{ 'a.txt': 'x\n' }]);
    expect(await troupe('apply', ...words)).toMatchObject({ code: 2, progress: expect.stringContaining(says) });
  });

  it('says of a run without such work that there is none', async () => {
    const { troupe } = await ranTasks([]);
    expect(await troupe('apply', 'last')).toMatchObject({ code: 2, progress: expect.stringContaining('no work to apply') });
  });
});
