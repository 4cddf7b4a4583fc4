import { expect, it } from 'vitest';
import { fail } from '../../base/result.ts';
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
