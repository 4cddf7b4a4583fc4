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

it.each([
  [{ event_type: 'tool.call', payload: { id: 'a', name: 'shell' } }, { event_type: 'tool.result', payload: { id: 'a' } }, true],
  [
    { event_type: 'tool.call', payload: { id: 'a', name: 'read' } },
    { event_type: 'tool.result', payload: { id: 'a' } },
    undefined,
  ],
  [
    { event_type: 'executor.call', payload: { id: 'b', kind: 'execute' } },
    { event_type: 'executor.result', payload: { id: 'b' } },
    true,
  ],
  [{ event_type: 'tool.call', payload: { id: 'a', name: 'shell' } }, { event_type: 'run.ended', payload: {} }, true],
])('sees a command that is under way, until it has ended or its run has: %j', async (begun, ended, works) => {
  const run = 'run_1' as RunId;
  const events: object[] = [];
  const tree = {
    places: { mark: async () => 'the same' },
    writer: { flushed: async () => undefined },
    ledger: { read: async ({ after = 0 }: { after?: number }) => (after === 0 ? [...events] : []) },
    workspaceOf: () => '/w',
  };
  const support = taskSupport(tree as never, { run, started: {}, journal: { past: [] } } as never);
  const terms = { place: { kind: 'in-place', path: '/w' } } as TaskTerms;
  events.push({ ...begun, run_id: childRunId(run, 'work'), position: 1 });
  expect((await support.progress('work', terms)).works).toBe(works);
  events.push({ ...ended, run_id: childRunId(run, 'work'), position: 2 });
  expect((await support.progress('work', terms)).works).toBeUndefined();
});

const says = (name?: string) => ({
  event_type: 'model.response',
  payload: {
    message: { role: 'assistant', content: name === undefined ? [] : [{ type: 'tool-call', id: 'a', name, input: {} }] },
  },
});

it.each([
  ['is asked', { event_type: 'executor.prompted', payload: {} }, false],
  ['is asked again', { event_type: 'model.request', payload: {} }, false],
  ['goes on', says('read'), false],
  ['has reported', says('final_report'), true],
  ['has said its last word', says(), true],
  ['has ended', { event_type: 'executor.ended', payload: {} }, true],
  ['is captured', { event_type: 'task.captured', payload: {} }, true],
])('time does not count for who is done, while that is looked at and proved: %s', async (_what, latest, waits) => {
  const run = 'run_1' as RunId;
  const asked: unknown[] = [];
  const tree = {
    places: { mark: async () => 'the same' },
    writer: { flushed: async () => undefined },
    ledger: {
      read: async ({ newest, run: of }: { newest?: boolean; run?: string }) => {
        if (newest === true) asked.push(of);
        return newest === true ? [latest] : [];
      },
    },
    workspaceOf: () => '/w',
  };
  const support = taskSupport(tree as never, { run, started: {}, journal: { past: [] } } as never);
  const terms = { place: { kind: 'in-place', path: '/w' } } as TaskTerms;
  expect((await support.progress('work', terms)).waits).toBe(waits);
  expect(asked).toEqual([childRunId(run, 'work')]);
});
