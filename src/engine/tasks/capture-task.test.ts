import { expect, it } from 'vitest';
import { limits } from '../../base/limits.ts';
import { fail } from '../../base/result.ts';
import { createRedactor } from '../../base/secrets/redact.ts';
import { Interruption } from '../interruption.ts';
import { captureTask } from './capture-task.ts';

it('records nothing of a task whose files are another’s now: the run is left as lost', async () => {
  const written: unknown[] = [];
  const place = { kind: 'worktree', path: '/w', base: 'b', repo: '/r' };
  const terms = { task: 'task-1', include: [], exclude: [], noTouch: [], mode: 'full', place };
  const lost = fail({ code: 'domain_lost', message: 'The files are another’s now.' });
  const tree = {
    places: { capture: async () => lost },
    writer: { write: async (events: readonly unknown[]) => void written.push(...events) },
    workspaceOf: () => '/w',
  };
  const journal = { recorded: () => undefined, event: (type: string, payload: unknown) => ({ type, payload }) };
  const node = { started: { origin: { kind: 'task', terms } }, journal };
  const captured = captureTask(tree as never, node as never);
  await expect(captured).rejects.toBeInstanceOf(Interruption);
  await expect(captured).rejects.toMatchObject({ kind: 'lost' });
  expect(written).toEqual([]);
});

it('has its files only until its work is a patch that is recorded, also when that was so before', async () => {
  const done: string[] = [];
  const place = { kind: 'worktree', path: '/w', base: 'b', repo: '/r' };
  const terms = { task: 'task-1', include: [], exclude: [], noTouch: [], mode: 'full', place };
  const nothing = { ok: true, value: { patch: Buffer.alloc(0), files: [], outside: [], text: '' } };
  const tree = {
    ...{ session: 'ses_1', workspace: '/w', moved: new Map(), workspaceOf: () => '/w' },
    places: { capture: async () => nothing, release: async (task: string) => void done.push(`${task} is released`) },
    writer: {
      flushed: async () => undefined,
      write: async (events: readonly { type: string }[]) => void done.push(...events.map(({ type }) => type)),
    },
    ledger: { read: async () => [] },
  };
  let before: object | undefined;
  const journal = { past: [], recorded: () => before, event: (type: string, payload: unknown) => ({ type, payload }) };
  const node = { run: 'run_1', started: { origin: { kind: 'task', terms } }, journal };
  await captureTask(tree as never, node as never);
  expect(done).toEqual(['task.captured', 'task-1 is released']);
  before = { payload: {} };
  await captureTask(tree as never, node as never);
  expect(done.slice(2)).toEqual(['task-1 is released']);
});

it('says again in every life what no patch holds: the run is not verified', async () => {
  const place = { kind: 'worktree', path: '/w', base: 'b', repo: '/r' };
  const terms = { task: 'task-1', include: [], exclude: [], noTouch: [], mode: 'full', place };
  const value = { patch: Buffer.alloc(0), files: [], outside: [], text: '', missing: ['the name of a is not UTF-8'] };
  const written: { type: string; payload: object }[] = [];
  const tree = {
    ...{ session: 'ses_1', workspace: '/w', moved: new Map(), workspaceOf: () => '/w', redact: (text: string) => text },
    places: { capture: async () => ({ ok: true, value }) },
    writer: { flushed: async () => undefined, write: async (events: typeof written) => void written.push(...events) },
    ledger: { read: async () => [] },
  };
  const journal = { past: [], recorded: () => written[0], event: (type: string, payload: object) => ({ type, payload }) };
  const node = { run: 'run_1', started: { origin: { kind: 'task', terms } }, journal };
  const reasons = ['work of it is in no patch: the name of a is not UTF-8'];
  expect(await captureTask(tree as never, node as never)).toEqual(reasons);
  expect(written).toMatchObject([{ type: 'task.captured', payload: { missing: value.missing } }]);
  expect(await captureTask(tree as never, node as never)).toEqual(reasons);
});

it('shows no half of a secret where what it shows of the work is cut', async () => {
  const token = `ghp_${'a1B2'.repeat(9)}`;
  const phrase = 'Zq7-first Zq7-second';
  const { text: redact } = createRedactor([{ name: 'PASS', value: phrase }]);
  const place = { kind: 'worktree', path: '/w', base: 'b', repo: '/r' };
  const terms = { task: 'task-1', include: [], exclude: [], noTouch: [], mode: 'full', place };
  for (const secret of [token, phrase]) {
    const written: { payload: { diff?: string } }[] = [];
    const before = 'word '.repeat(limits.taskDiffCharacters).slice(0, limits.taskDiffCharacters - (secret.length >> 1));
    const value = { patch: Buffer.alloc(0), files: [], outside: [], text: `${before} ${secret} more` };
    const tree = {
      ...{ session: 'ses_1', workspace: '/w', moved: new Map(), workspaceOf: () => '/w', redact },
      places: { capture: async () => ({ ok: true, value }), release: async () => undefined },
      writer: { flushed: async () => undefined, write: async (events: typeof written) => void written.push(...events) },
      ledger: { read: async () => [] },
    };
    const journal = { past: [], recorded: () => undefined, event: (type: string, payload: object) => ({ type, payload }) };
    const node = { run: 'run_1', started: { origin: { kind: 'task', terms } }, journal };
    await captureTask(tree as never, node as never);
    expect(written[0]?.payload.diff).toContain('word word');
    expect(redact(written[0]?.payload.diff ?? '')).not.toMatch(/a1B2|ghp_|Zq7/);
  }
});
