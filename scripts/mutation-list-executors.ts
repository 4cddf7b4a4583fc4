/** Mutations of agents that executors work for. */
import type { Mutation } from './mutation-list.ts';

const asked = 'src/engine/executors/recorded-executor.ts';
const permits = 'src/engine/executors/permits.ts';
const agents = 'test/sim/executor-agents.test.ts';
const permissions = 'test/sim/executor-permissions.test.ts';
const limits = 'test/sim/executor-limits.test.ts';

export const executorMutations: readonly Mutation[] = [
  {
    invariant: 'X1: before a prompt goes out its intent is on the disk',
    change: 'it may be lost with the power',
    file: asked,
    find: "recorded(recorder, 'executor.prompted', payload, { step })], { sync: 'power' });",
    replace: "recorded(recorder, 'executor.prompted', payload, { step })]);",
    caughtBy: { file: agents, test: 'nothing is said before it is on the disk' },
  },
  {
    invariant: 'X1: before anything is said to an executor it is on the disk who works',
    change: 'it may be lost with the power',
    file: 'src/engine/executors/opening.ts',
    find: "recorded(recorder, 'executor.session', payload, { step })], { sync: 'power' });",
    replace: "recorded(recorder, 'executor.session', payload, { step })]);",
    caughtBy: { file: agents, test: 'nothing is said before it is on the disk' },
  },
  {
    invariant: 'X3: a session that takes work up is told what is known to be done',
    change: 'it is not',
    file: 'src/engine/executors/told.ts',
    find: "known === '' ? ''",
    replace: "known !== '' ? ''",
    caughtBy: { file: agents, test: 'cut at every append' },
  },
  {
    invariant: 'X4: an executor is allowed for this time, and never for always',
    change: 'where it offers nothing else it is',
    file: permits,
    find: "(offers.has('allow_once') || !offers.has('allow_always'))",
    replace: 'offers.size > 0',
    caughtBy: { file: permissions, test: 'is told no where it offers only what would last' },
  },
  {
    invariant: 'X4: what was approved and done is asked for again',
    change: 'one yes is for all that are alike',
    file: permits,
    find: '/approval`, id) > 0',
    replace: '/approval`, id) > time * 9',
    caughtBy: { file: permissions, test: 'is asked for once each time it is made' },
  },
  {
    invariant: 'X4: nothing outside the folder is allowed',
    change: 'it is',
    file: permits,
    find: "if ('refused' in what) return { allowed: false,",
    replace: "if ('refused' in what) return { allowed: true,",
    caughtBy: { file: permissions, test: 'outside its folder is refused' },
  },
  {
    invariant: 'X4: who works read-only changes nothing',
    change: 'the rules decide',
    file: permits,
    find: "terms.mode === 'read-only' && CHANGING.has(asked.tool)",
    replace: "terms.mode === 'read-only' && CHANGING.has(id)",
    caughtBy: { file: permissions, test: 'to change something is refused where it works read-only' },
  },
  {
    invariant: 'X4: what somebody wrote with a no is told to the executor',
    change: 'it is not',
    file: asked,
    find: "note !== undefined || (ended.kind === 'ended' && ended.stop === 'cancelled')",
    replace: "note === '' || (ended.kind === 'ended' && ended.stop === 'cancelled')",
    caughtBy: { file: permissions, test: 'is denied by a person, whose words are the next that it hears' },
  },
  {
    invariant: 'X5: an executor is left alone only while somebody is asked',
    change: 'it is when its run is paused, too',
    file: 'src/engine/executors/ending.ts',
    find: "(reason.kind === 'waiting' || reason.kind === 'unheard')",
    replace: "reason.kind !== 'lost'",
    caughtBy: { file: 'test/sim/executor-stopped.test.ts', test: 'ends when its run is paused' },
  },
  {
    invariant: 'X6: a prompt is reserved for once, through all its lives',
    change: 'each life reserves anew',
    file: asked,
    find: 'if (isOpen) {\n    attempts.goOn',
    replace: 'if (isOpen && step === request.turn.toString()) {\n    attempts.goOn',
    caughtBy: { file: limits, test: 'is reserved once for a prompt' },
  },
  {
    invariant: 'What an executor does not say that it cost counts as the most that it may',
    change: 'it counts as nothing',
    file: 'src/engine/executors/outcome.ts',
    find: 'cost?.nanoUsd ?? amounts.nanoUsd',
    replace: 'cost?.nanoUsd ?? 0',
    caughtBy: { file: limits, test: 'is all that it may be where it says nothing' },
  },
  {
    invariant: 'An executor runs so many commands and no more',
    change: 'one more',
    file: 'src/engine/executors/limit-watch.ts',
    find: 'standing.commands() > maxCliCalls)',
    replace: 'standing.commands() > maxCliCalls + 1)',
    caughtBy: { file: limits, test: 'comes with the command that is one too many' },
  },
  {
    invariant: 'Every command of a call goes by the rules of shell',
    change: 'the first one stands for all',
    file: 'src/engine/executors/asked-call.ts',
    find: 'return { calls: lines.map((command)',
    replace: 'return { calls: lines.slice(0, 1).map((command)',
    caughtBy: { file: 'src/engine/executors/asked-call.test.ts', test: 'of Cline' },
  },
  {
    invariant: 'A command is one, whatever kind the call says that it is',
    change: 'only a call of the kind is',
    file: 'src/engine/executors/asked-call.ts',
    find: "if (carries || (mcp === undefined && call.kind === 'execute'))",
    replace: "if (mcp === undefined && call.kind === 'execute')",
    caughtBy: { file: 'src/engine/executors/asked-call.test.ts', test: 'are commands in a call of kind read, too' },
  },
  {
    invariant: 'Rules see the variables of a command that we run for an executor',
    change: 'they do not',
    file: 'src/executors/acp/callbacks.ts',
    find: 'const line = [...given, ...(args',
    replace: 'const line = [...given.slice(0, 0), ...(args',
    caughtBy: { file: 'src/executors/acp/session.test.ts', test: 'runs commands through us' },
  },
  {
    invariant: 'A wrong entry of a manifest is flagged and takes nothing from the others',
    change: 'nothing is said of it',
    file: 'src/artifacts/manifest.ts',
    find: 'if (found.length > 0) continue;',
    replace: 'if (found.length >= 0) continue;',
    caughtBy: {
      file: 'src/artifacts/manifest.test.ts',
      test: 'an entry that cannot be read is flagged, and the others are read',
    },
  },
];
