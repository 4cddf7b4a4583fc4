/** Places of tasks in a real repository and a real ledger that two processes have open. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { git, testRepository, value, writeFiles } from '../../../test/support/workspaces/test-repository.ts';
import { systemClock } from '../../base/clock.ts';
import type { RunId, SessionId } from '../../base/ids.ts';
import type { TaskTerms } from '../../events/tasks/task-terms.ts';
import { openProject } from '../open.ts';
import { createTaskPlaces } from './task-places.ts';

const session = 'ses_1' as SessionId;
const domain = { include: ['src/'], exclude: [], noTouch: [] };

async function processes(more: { readonly maxFiles?: number } = {}) {
  const { top, home, options } = await testRepository();
  const open = async () => {
    const project = await openProject({ cwd: top, root: top, env: { HOME: home, TROUPE_HOME: home } });
    onTestFinished(() => project.close());
    const watching = { environment: process.env, clock: systemClock, ...more };
    return createTaskPlaces(options, watching, { ledger: project.ledger, clock: systemClock, root: top });
  };
  const files = { folder: top, session, task: 'task-1', run: 'run_1' as RunId, domain };
  return { top, home, open, files };
}

describe('a task in a folder as it is', () => {
  it('that is in no repository has back what it made, and of what it changed it is told that it is there', async () => {
    const { home, open } = await processes();
    const folder = join(home, 'plain');
    writeFiles(folder, { 'mine.txt': 'by the task\n', 'new.txt': 'new\n', 'sub/other.txt': 'by a person\n' });
    const places = await open();
    expect(await places.problem?.(folder)).toMatchObject({ code: 'no_repository', fix: expect.stringContaining('git init') });
    const limits = { maxCliCalls: 1, maxDurationMs: 1_000, maxMemoryMb: 1 };
    const place = { kind: 'in-place' as const, path: folder };
    const terms: TaskTerms = { task: 'task-1', ...domain, limits, mode: 'full', place, package: 'x' };
    const sum = (text: string): string => createHash('sha256').update(text).digest('hex');
    const written = new Map([
      ['mine.txt', { before: sum('before\n'), after: sum('by the task\n') }],
      ['new.txt', { before: null, after: sum('new\n') }],
      ['sub/other.txt', { before: null, after: sum('by the task\n') }],
    ]);
    for (const _again of [1, 2]) {
      const told = value((await places.takeBack?.(terms, session, written)) ?? { ok: false, error: 'none' });
      expect(told.map(({ path, kept = '' }) => [path, readFileSync(kept, 'utf8')])).toEqual([['new.txt', 'new\n']]);
      expect(['mine.txt', 'new.txt', 'sub/other.txt'].map((path) => existsSync(join(folder, path)))).toEqual([true, false, true]);
    }
  });

  it('has back what it told git to pass over', async () => {
    const { top, open } = await processes();
    const places = await open();
    await places.begin?.({ folder: top, session, task: 'task-1' });
    const limits = { maxCliCalls: 1, maxDurationMs: 1_000, maxMemoryMb: 1 };
    const place = { kind: 'in-place' as const, path: top };
    const terms: TaskTerms = { task: 'task-1', ...domain, limits, mode: 'full', place, package: 'x' };
    writeFiles(top, { 'a.txt': 'by the task\n', 'docs/x.md': 'by the task\n' });
    git(top, 'update-index', '--assume-unchanged', 'a.txt');
    git(top, 'update-index', '--skip-worktree', 'docs/x.md');
    const sum = (text: string): string => createHash('sha256').update(text).digest('hex');
    const written = new Map([
      ['a.txt', { before: sum('one\n'), after: sum('by the task\n') }],
      ['docs/x.md', { before: sum('x\n'), after: sum('by the task\n') }],
    ]);
    const told = value((await places.takeBack?.(terms, session, written)) ?? { ok: false, error: 'none' });
    expect(told.map(({ path }) => path)).toEqual(['a.txt', 'docs/x.md']);
    expect(['a.txt', 'docs/x.md'].map((path) => readFileSync(join(top, path), 'utf8'))).toEqual(['one\n', 'x\n']);
  });

  it('has back what it wrote outside of its domain, and nothing that is or may be somebody else’s', async () => {
    const { top, open } = await processes();
    writeFiles(top, { 'b.txt': 'not committed\n' });
    const places = await open();
    await places.begin?.({ folder: top, session, task: 'task-1' });
    const limits = { maxCliCalls: 1, maxDurationMs: 1_000, maxMemoryMb: 1 };
    const place = { kind: 'in-place' as const, path: top };
    const terms: TaskTerms = { task: 'task-1', ...domain, limits, mode: 'full', place, package: 'x' };
    writeFiles(top, { 'src/main.ts': 'inside\n', 'b.txt': 'by the task\n', 'docs/x.md': 'by the task\n', 'new.txt': 'new\n' });
    const sum = (text: string): string => createHash('sha256').update(text).digest('hex');
    const written = new Map([
      ['b.txt', { before: sum('not committed\n'), after: sum('by the task\n') }],
      ['docs/x.md', { before: sum('x\n'), after: sum('by the task\n') }],
      ['a.txt', { before: sum('changed meanwhile\n'), after: sum('by the task\n') }],
      ['new.txt', { before: null, after: sum('new\n') }],
    ]);
    // A person goes on with one of them, and had begun another before the task came to it.
    writeFiles(top, { 'docs/x.md': 'by a person\n', 'a.txt': 'by the task\n', 'mine.txt': 'by a person\n' });
    const told = value((await places.takeBack?.(terms, session, written)) ?? { ok: false, error: 'none' });
    expect(told.map(({ path, kept }) => [path, kept !== undefined])).toEqual([
      ['a.txt', false],
      ['docs/x.md', false],
      ['b.txt', true],
      ['new.txt', true],
    ]);
    const text = (path: string): string => readFileSync(join(top, path), 'utf8');
    expect([text('b.txt'), text('docs/x.md'), text('a.txt'), text('mine.txt'), text('src/main.ts')]).toEqual([
      ...['not committed\n', 'by a person\n', 'by the task\n', 'by a person\n', 'inside\n'],
    ]);
    expect(existsSync(join(top, 'new.txt'))).toBe(false);
    expect(readFileSync(told.at(-1)?.kept ?? '', 'utf8')).toContain('+new');
  });

  it('has everything back where it was only to look', async () => {
    const { top, open } = await processes();
    const places = await open();
    await places.begin?.({ folder: top, session, task: 'task-1' });
    const limits = { maxCliCalls: 1, maxDurationMs: 1_000, maxMemoryMb: 1 };
    const place = { kind: 'in-place' as const, path: top };
    const terms: TaskTerms = { task: 'task-1', ...domain, limits, mode: 'read-only', place, package: 'x' };
    writeFiles(top, { 'src/new.ts': 'new\n' });
    const sum = createHash('sha256').update('new\n').digest('hex');
    const written = new Map([['src/new.ts', { before: null, after: sum }]]);
    const told = value((await places.takeBack?.(terms, session, written)) ?? { ok: false, error: 'none' });
    expect(told).toMatchObject([{ path: 'src/new.ts', kept: expect.any(String) }]);
    expect(existsSync(join(top, 'src/new.ts'))).toBe(false);
  });
});

describe('a task', () => {
  it('keeps its files from other runs until its work is kept', async () => {
    const { open, files } = await processes();
    const [one, other] = [await open(), await open()];
    const theirs = { ...files, task: 'task-2', run: 'run_other' as RunId };
    value((await one.lease?.(files)) ?? { ok: false, error: 'no lease' });
    expect(await other.lease?.(theirs)).toMatchObject({ error: { code: 'domain_taken' } });
    // Nobody gives back what is another's.
    await other.release?.(files.task, session);
    expect(await other.lease?.(theirs)).toMatchObject({ error: { code: 'domain_taken' } });
    await one.release?.(files.task, session);
    await one.release?.(files.task, session);
    expect(await other.lease?.(theirs)).toMatchObject({ ok: true });
  });

  it('has no mark of its files where they are too many to be looked at', async () => {
    const [small, large] = [await processes(), await processes({ maxFiles: 1 })];
    expect(await (await small.open()).mark(small.top)).toMatch(/./);
    expect(await (await large.open()).mark(large.top)).toBeUndefined();
  });

  it('is captured by whoever has its files now: one that was taken for dead touches and records nothing', async () => {
    const { top, open, files } = await processes();
    const [frozen, next] = [await open(), await open()];
    value((await frozen.lease?.(files)) ?? { ok: false, error: 'no lease' });
    const place = value(await frozen.prepare({ folder: top, session, task: 'task-1', base: undefined }));
    writeFiles(place.path, { 'src/new.ts': 'new\n', 'outside.txt': 'outside\n' });
    const limits = { maxCliCalls: 1, maxDurationMs: 1_000, maxMemoryMb: 1 };
    const terms: TaskTerms = { task: 'task-1', ...domain, limits, mode: 'full', place, package: 'x' };

    // Somebody takes the task up in another process.
    value((await next.lease?.(files)) ?? { ok: false, error: 'no lease' });
    expect(await frozen.capture(terms, session)).toMatchObject({ error: { code: 'domain_lost' } });
    expect(readFileSync(join(place.path, 'outside.txt'), 'utf8')).toBe('outside\n');
    expect(value(await next.capture(terms, session))).toMatchObject({
      files: [{ path: 'src/new.ts', added: 1, removed: 0 }],
      outside: [{ path: 'outside.txt' }],
    });
    // Asked again by the one who has them, they are not leased anew; by the other they are.
    value((await next.lease?.(files)) ?? { ok: false, error: 'no lease' });
    expect((await next.capture(terms, session)).ok).toBe(true);
    value((await frozen.lease?.(files)) ?? { ok: false, error: 'no lease' });
    expect((await frozen.capture(terms, session)).ok).toBe(true);
    expect(await next.capture(terms, session)).toMatchObject({ error: { code: 'domain_lost' } });
  });
});
