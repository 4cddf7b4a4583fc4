/** Mutations of how executors are started, spoken to, left and ended. */
import type { Mutation } from './mutation-list.ts';

const room = 'src/executors/acp';
const hostile = `${room}/hostile.test.ts`;
const lifecycle = `${room}/lifecycle.test.ts`;
const session = `${room}/session.test.ts`;

export const executorClientMutations: readonly Mutation[] = [
  {
    invariant: 'An executor is allowed nothing for longer than was meant',
    change: 'once becomes always where nothing else is offered',
    file: `${room}/callbacks.ts`,
    find: "allow_once: ['allow_once', 'reject_once', 'reject_always'],",
    replace: "allow_once: ['allow_once', 'allow_always', 'reject_once', 'reject_always'],",
    caughtBy: { file: session, test: 'is asked by kinds' },
  },
  {
    invariant: 'An executor gets the keys that its entry names, and no others',
    change: 'it gets our whole environment',
    file: `${room}/open.ts`,
    find: 'const passed = minimalEnvironment(ours);',
    replace: 'const passed = minimalEnvironment(ours, Object.keys(ours));\n  Object.assign(passed, ours);',
    caughtBy: { file: lifecycle, test: 'gives it the basics and what its entry names, and nothing else' },
  },
  {
    invariant: 'Files of an executor that go through us stay in its folder',
    change: 'a link leads out',
    file: `${room}/files.ts`,
    find: "const inside = await resolveInside(needs.folder, path, { guard: needs.guard, use: 'write' });",
    replace: "const inside = await resolveInside('/', path, { guard: needs.guard, use: 'write' });",
    caughtBy: { file: session, test: 'reads and writes files through us' },
  },
  {
    invariant: 'The answer of somebody who left an executor is none',
    change: 'it counts',
    file: `${room}/follower.ts`,
    find: 'if (open.has(one) && asked === mine) settle(answer);',
    replace: 'if (open.has(one)) settle(answer);',
    caughtBy: { file: lifecycle, test: 'does not take the answer of who has left' },
  },
  {
    invariant: 'An executor ends with all that it started',
    change: 'daemons that left its group are not looked for',
    file: `${room}/link.ts`,
    find: 'survivors = await endSurvivors(traces, clock);',
    replace: 'survivors = [];',
    caughtBy: { file: lifecycle, test: 'takes along its children, and daemons that left its group' },
  },
  {
    invariant: 'An executor that does not hear a cancel is ended',
    change: 'it is waited for',
    file: `${room}/session.ts`,
    find: 'void ending.end();\n  });\n  void turn.done',
    replace: '});\n  void turn.done',
    caughtBy: { file: lifecycle, test: 'ends one that does not hear' },
  },
  {
    invariant: 'A flood of an executor is cut',
    change: 'what it asks at once has no bound',
    file: `${room}/wire.ts`,
    find: 'if (open.size > limits.executorOpenRequests)',
    replace: 'if (open.size > limits.executorTurnFrames)',
    caughtBy: { file: hostile, test: 'of questions ends it' },
  },
  {
    invariant: 'A second answer of an executor is left out',
    change: 'it is passed on',
    file: `${room}/wire.ts`,
    find: 'if (method === undefined && !asked.delete(id)) {',
    replace: 'if (method === undefined && !asked.has(id)) {',
    caughtBy: { file: hostile, test: 'answers twice, and what nobody asked' },
  },
];
