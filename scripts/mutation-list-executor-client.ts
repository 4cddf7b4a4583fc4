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
    file: 'src/executors/start/reach.ts',
    find: 'const passed = minimalEnvironment(ours);',
    replace: 'const passed = minimalEnvironment(ours, Object.keys(ours));\n  Object.assign(passed, ours);',
    caughtBy: { file: lifecycle, test: 'gives it the basics and what its entry names, and nothing else' },
  },
  {
    invariant: 'A file is not written from a version that was changed since',
    change: 'an executor writes what it read before',
    file: `${room}/files.ts`,
    find: 'known === undefined || known === version ||',
    replace: 'known !== null || known === version ||',
    caughtBy: { file: session, test: 'writes no file from a version that somebody has changed' },
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
    file: 'src/executors/start/link.ts',
    find: 'survivors = await endSurvivors(traces, clock);',
    replace: 'survivors = [];',
    caughtBy: { file: lifecycle, test: 'takes along its children, and daemons that left its group' },
  },
  {
    invariant: 'An executor that does not hear a cancel is ended',
    change: 'it is waited for',
    file: `${room}/session.ts`,
    find: 'void ending.endNow();\n  });\n  void turn.done',
    replace: '});\n  void turn.done',
    caughtBy: { file: lifecycle, test: 'ends one that does not hear' },
  },
  {
    invariant: 'A flood of an executor is cut',
    change: 'what it asks at once has no bound',
    file: 'src/executors/acp-wire/wire.ts',
    find: 'if (open.size > limits.executorOpenRequests)',
    replace: 'if (open.size > limits.executorTurnFrames)',
    caughtBy: { file: hostile, test: 'of questions ends it' },
  },
  {
    invariant: 'A second answer of an executor is left out',
    change: 'it is passed on',
    file: 'src/executors/acp-wire/wire.ts',
    find: 'if (method === undefined && !asked.delete(id)) {',
    replace: 'if (method === undefined && !asked.has(id)) {',
    caughtBy: { file: hostile, test: 'answers twice, and what nobody asked' },
  },
  {
    invariant: 'In version 2 of the protocol only a prompt that has begun can be over',
    change: 'being idle is its end',
    file: 'src/executors/acp-wire/version-2.ts',
    find: 'else if (hasBegun) waiting.over',
    replace: 'else waiting.over',
    caughtBy: { file: lifecycle, test: 'is found again with what it asks and what it said meanwhile: version 2' },
  },
  {
    invariant: 'In version 2 of the protocol an executor has no files and terminals of ours',
    change: 'it may ask for them',
    file: 'src/executors/acp-wire/version-2.ts',
    find: 'if (!ASKABLE.has(method)) return undefined;',
    replace: '',
    caughtBy: { file: hostile, test: 'asks in version 2 for what only version 1 has' },
  },
  {
    invariant: 'A permission is asked for all places that a call changes',
    change: 'in version 2 those of its changes are left out when it names others',
    file: 'src/executors/acp-wire/translation.ts',
    find: 'locations: [...paths.map((path) => ({ path })), ...locations]',
    replace: 'locations: locations.length > 0 ? locations : paths.map((path) => ({ path }))',
    caughtBy: { file: 'src/executors/acp-wire/translation.test.ts', test: 'names all places of its changes' },
  },
  {
    invariant: 'A title is taken for a command only of executors of which that is known',
    change: 'it is of all',
    file: `${room}/calls.ts`,
    find: 'const isCommand = titleIsCommand && ',
    replace: 'const isCommand = ',
    caughtBy: { file: `${room}/calls.test.ts`, test: 'is its title where that is known' },
  },
  {
    invariant: 'What an executor wrote before it had us write it is seen as its own doing',
    change: 'our writing, which changed nothing, is the evidence',
    file: 'src/engine/executors/witness.ts',
    find: 'if (file.before === file.after) return lookSoon();',
    replace: '',
    caughtBy: { file: 'test/sim/executor-processes.test.ts', test: 'has us write and run, which is evidence' },
  },
];
