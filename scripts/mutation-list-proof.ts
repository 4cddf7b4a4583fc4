/** Mutations of what proves that an executor did its task, and of what is recorded of those that lie. */
import type { Mutation } from './mutation-list.ts';

const patterns = 'src/patterns/patterns.test.ts';
const toldApart = 'src/patterns/architect/told-apart.ts';
const lies = 'test/sim/executor-lies.test.ts';

export const proofMutations: readonly Mutation[] = [
  {
    invariant: 'What passes without the work proves nothing about it',
    change: 'how it ended where the task began is not asked',
    file: toldApart,
    find: 'if (!decides) return undefined;',
    replace: 'if (decides) return undefined;',
    caughtBy: { file: patterns, test: 'what passed before the work, too, shows that nothing broke and no more' },
  },
  {
    invariant: 'A command that was not there before says nothing, unless the work brought it',
    change: 'it counts as one that failed',
    file: toldApart,
    find: 'return files.some(({ path }) => speaksOf(command, path));',
    replace: 'return files.length > 0;',
    caughtBy: { file: 'src/patterns/architect/told-apart.test.ts', test: 'for want of something installed, is none' },
  },
  {
    invariant: 'Where a task began is a place that its executor has had no hand in',
    change: 'it is the place of the task',
    file: 'src/engine/tasks/seen-before.ts',
    find: 'task: beforeTask(task), base: place.base',
    replace: 'task, base: place.base',
    caughtBy: { file: lies, test: 'that does it, and says little' },
  },
  {
    invariant: 'What passes is the patch alone, without what the executor left behind',
    change: 'the acceptance is run where it worked',
    file: 'src/engine/tasks/alone.ts',
    find: 'folder: at,',
    replace: 'folder,',
    caughtBy: { file: lies, test: 'that passes only by a file that git ignores' },
  },
  {
    invariant: 'What commands change where they prove the patch is seen',
    change: 'it is looked at where the work was done',
    file: 'src/engine/evidence/verify.ts',
    find: 'withEvidence(workspaces, workspace, before, tree.redact',
    replace: 'withEvidence(workspaces, tree.workspaceOf(node), before, tree.redact',
    caughtBy: { file: lies, test: 'that has what it wrote change the check' },
  },
  {
    invariant: 'Work that changed nothing is not verified',
    change: 'whether anything was changed is not asked',
    file: 'src/engine/evidence/untouched.ts',
    find: 'captured.files.length === 0;',
    replace: 'captured.files.length < 0;',
    caughtBy: { file: lies, test: 'that does nothing where all passes anyway' },
  },
  {
    invariant: 'What was changed while nobody looked is recorded when the work is captured',
    change: 'only the patch has it',
    file: 'src/engine/tasks/capture-task.ts',
    find: 'write([...unseen, event]',
    replace: 'write([event]',
    caughtBy: {
      file: 'test/sim/executor-unseen.test.ts',
      test: 'a check that was changed before a crash proves nothing after it',
    },
  },
  {
    invariant: 'A task that is only to look leaves nothing behind',
    change: 'what it wrote is its work',
    file: 'src/project/places/task-places.ts',
    find: "terms.mode === 'read-only' ?",
    replace: 'terms.mode === undefined ?',
    caughtBy: { file: lies, test: 'that writes where it was only to look' },
  },
  {
    invariant: 'A task that is only to look leaves nothing behind in place either',
    change: 'what lies in its paths is its work',
    file: 'src/engine/tasks/seen-of-task.ts',
    find: "return mode !== 'read-only' && include.some(at)",
    replace: 'return mode !== undefined && include.some(at)',
    caughtBy: { file: 'src/engine/tasks/seen-of-task.test.ts', test: 'of a task in mode read-only' },
  },
  {
    invariant: 'An executor that moves is not stopped where files are too many to be looked at',
    change: 'they always look the same',
    file: 'src/project/places/task-places.ts',
    find: 'state.digest : undefined;',
    replace: "state.digest : '';",
    caughtBy: { file: 'src/project/places/task-places.test.ts', test: 'has no mark of its files' },
  },
  {
    invariant: 'What could not be checked together is not proved',
    change: 'each of them alone is enough',
    file: 'src/patterns/architect/merging.ts',
    find: 'state.together = unchecked([why]);',
    replace: 'state.together ??= undefined;',
    caughtBy: { file: 'src/patterns/patterns.test.ts', test: 'what could not be checked together is unchecked' },
  },
  {
    invariant: 'X3: after kill -9 an executor goes on in the session that it had',
    change: 'it always gets a new one',
    file: 'src/engine/executors/opening.ts',
    find: 'session: before, mode',
    replace: 'session: undefined, mode',
    caughtBy: { file: 'test/sim/executor-kill.test.ts', test: 'kill -9 of the architect, of its two executors and of all' },
  },
  {
    invariant: 'A program that is no executor is told at once',
    change: 'it is waited for',
    file: 'src/executors/acp-wire/wire.ts',
    find: 'broken > limits.executorBannerLines)',
    replace: 'broken > limits.executorBrokenFrames)',
    caughtBy: { file: 'src/executors/acp/hostile.test.ts', test: 'and talks without end is told at once, with what it said' },
  },
  {
    invariant: 'What of an executor was left out is recorded',
    change: 'it is forgotten',
    file: 'src/engine/executors/ending.ts',
    find: '{ notices }),',
    replace: '{}),',
    caughtBy: { file: lies, test: 'that writes lines that are no messages' },
  },
];
