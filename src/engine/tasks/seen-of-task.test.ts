import { expect, it } from 'vitest';
import type { LedgerEvent } from '../../events/envelope.ts';
import type { TaskTerms } from '../../events/tasks/task-terms.ts';
import { changesSeen } from './seen-of-task.ts';

const diffOf = (path: string) => ({ path, before: null, after: 'a', addedLines: 1, removedLines: 0, diff: `+++ ${path}` });
const events = ['src/a.ts', 'other.ts'].map((path) => ({ event_type: 'file.diff', payload: diffOf(path) }));

it.each([
  ['full', ['src/a.ts'], ['other.ts']],
  ['read-only', [], ['src/a.ts', 'other.ts']],
] as const)('of a task in mode %s %j is its work, and %j lies outside of its terms', (mode, work, outside) => {
  const terms = { task: 'task-1', include: ['src/'], exclude: [], noTouch: [], mode } as unknown as TaskTerms;
  const seen = changesSeen(terms, events as unknown as LedgerEvent[]);
  expect(seen.files.map(({ path }) => path)).toEqual(work);
  expect(seen.outside.map(({ path }) => path)).toEqual(outside);
});
