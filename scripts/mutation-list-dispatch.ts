/** Mutations of dispatches: who is chosen, who is tried again, what is asked and what becomes of the answers. */
import type { Mutation } from './mutation-list.ts';

const route = 'src/patterns/dispatch/route.ts';
const work = 'src/patterns/dispatch/work.ts';
const flow = 'src/patterns/dispatch/dispatch.ts';
const choice = 'src/patterns/dispatch/choice.ts';
const aggregate = 'src/patterns/dispatch/aggregate.ts';
const rows = 'src/patterns/patterns.test.ts';
const remembered = 'src/patterns/dispatch/remembered.test.ts';

export const dispatchMutations: readonly Mutation[] = [
  {
    invariant: 'Only an exact id is chosen',
    change: 'one that nobody has is taken',
    file: choice,
    find: 'if (!ids.includes(agentId))',
    replace: 'if (ids.length === 0)',
    caughtBy: { file: rows, test: 'an answer that cannot be read is asked for again' },
  },
  {
    invariant: 'Who is not clear about a request asks so often and no more',
    change: 'once more',
    file: route,
    find: 'round > limits.dispatchClarifications',
    replace: 'round > limits.dispatchClarifications + 1',
    caughtBy: { file: rows, test: 'in words of its own, up to a limit' },
  },
  {
    invariant: 'A request with a picture is never remembered',
    change: 'its words are',
    file: route,
    find: '!settings.cache || asked.images.length > 0',
    replace: '!settings.cache',
    caughtBy: { file: remembered, test: 'a picture' },
  },
  {
    invariant: 'What is remembered counts by the threshold of now',
    change: 'by that of then',
    file: route,
    find: 'found === null || found.confidence < settings.confidenceThreshold',
    replace: 'found === null',
    caughtBy: { file: remembered, test: 'a higher threshold than it was sure' },
  },
  {
    invariant: 'Where there are no agents no model is asked',
    change: 'it is asked to choose among none',
    file: route,
    find: 'if (settings.agents.length === 0) return',
    replace: 'if (settings.agents.length < 0) return',
    caughtBy: { file: rows, test: 'where there are no agents no model is asked' },
  },
  {
    invariant: 'What would be the same another time is not tried again',
    change: 'every failure is',
    file: work,
    find: " && !LASTING.has(error?.code ?? '')",
    replace: '',
    caughtBy: { file: rows, test: 'who failed is named, in words of its own' },
  },
  {
    invariant: 'An agent is tried again so often and no more',
    change: 'once more',
    file: work,
    find: 'attempt.number <= settings.retries',
    replace: 'attempt.number <= settings.retries + 1',
    caughtBy: { file: rows, test: 'not done in time is another failure than cancelled' },
  },
  {
    invariant: 'What several agents ask is put at once',
    change: 'one after the other',
    file: flow,
    find: '    open.push({ agentId, pass, key });\n',
    replace: '    open.push({ agentId, pass, key });\n    break;\n',
    caughtBy: { file: rows, test: 'what several of them ask is put at once' },
  },
  {
    invariant: 'What the others gave is kept while one of them asks',
    change: 'only the last response counts',
    file: flow,
    find: 'responses: [...latest.values()], stopped',
    replace: 'responses: [...latest.values()].slice(-1), stopped',
    caughtBy: { file: rows, test: 'what one of them asks is carried up, and what the others gave is kept' },
  },
  {
    invariant: 'Answers come in the order of priority',
    change: 'only ids count',
    file: aggregate,
    find: 'rank(left) - rank(right) || ',
    replace: '',
    caughtBy: { file: rows, test: 'in the order of priority, then of ids' },
  },
  {
    invariant: 'The order of the answer does not depend on who was faster',
    change: 'those without priority come as they came',
    file: aggregate,
    find: '(left.agentId < right.agentId ? -1 : 1)',
    replace: '0',
    caughtBy: { file: 'src/patterns/dispatch/aggregate.test.ts', test: 'several are joined, by id' },
  },
];
