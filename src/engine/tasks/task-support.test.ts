import { expect, it } from 'vitest';
import { childRunId, type RunId } from '../../base/ids.ts';
import type { TaskTerms } from '../../events/tasks/task-terms.ts';
import { taskSupport } from './task-support.ts';

/** What is seen of a task before and after it changed a file, where the mark of its place is this. */
async function seenTwice(mark: string | undefined) {
  const run = 'run_1' as RunId;
  const events: object[] = [];
  const change = {
    event_type: 'file.diff',
    run_id: childRunId(run, 'work'),
    payload: { path: 'a.txt', after: 'a' },
    position: 1,
  };
  const tree = {
    places: { mark: async () => mark },
    writer: { flushed: async () => undefined },
    ledger: { read: async ({ after = 0 }: { after?: number }) => (after === 0 ? [...events] : []) },
    workspaceOf: () => '/w',
  };
  const node = { run, started: {}, journal: { past: [] } };
  const support = taskSupport(tree as never, node as never);
  const terms = { place: { kind: 'in-place', path: '/w' } } as TaskTerms;
  const before = await support.progress('work', terms);
  events.push(change);
  return [before.files, (await support.progress('work', terms)).files] as const;
}

it('sees by the recorded changes that work moves on where the files are too many to be looked at', async () => {
  const [before, after] = await seenTwice(undefined);
  expect(after).not.toBe(before);
  expect(await seenTwice('the same')).toEqual(['the same', 'the same']);
});
