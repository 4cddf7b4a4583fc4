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
