/**
 * A result is as good as what it rests on: for every way in which one run's answer comes to another, a child whose claims were
 * verified, were not, that claimed nothing, and that failed; what the whole is then worth, and what its model was told.
 */
import { expect } from 'vitest';
import type { AgentDefinition } from '../../../src/agents/definition/definition.ts';
import type { Json } from '../../../src/base/json.ts';
import { present } from '../../../src/base/present.ts';
import { exitCodeOfStatus } from '../../../src/cli/terminal/exit-codes.ts';
import type { Verification } from '../../../src/events/catalogue.ts';
import type { ModelOutcome, ModelRequest } from '../../../src/models/port.ts';
import type { RunResult } from '../../../src/patterns/steps.ts';
import { calls, reports, says } from '../world.ts';
import { askedIn, fastClock, type Group, judges } from './group-on-engine.ts';
import { actor, askedOf, broadcasts, byAgent, fails, type Scenario, told } from './scenarios.ts';

const STATES = ['verified', 'unverified', 'unchecked', 'failed'] as const;
type State = (typeof STATES)[number];

type Ends = Verification['state'] | Extract<RunResult['status'], 'failed'>;

interface Way {
  readonly name: string;
  readonly agents: readonly AgentDefinition[];
  /** What everybody but the child says; without a play, `By <name>.`. */
  readonly plays?: Parameters<typeof byAgent>[0];
  /** What the root comes to, by how the child ends. */
  readonly root: Readonly<Record<State, Ends>>;
  /** Whose answer it is, by how the child ends; the first agent's unless said. */
  finalAgent?(state: State): string;
  /** Who builds on the child's answer, and must have been told what it is worth. */
  readonly told?: string;
  readonly engineOnly?: string;
  readonly clock?: Scenario['clock'];
}

const COMMAND = 'npm test';
const claims = (command = COMMAND): { readonly claims: Json } => ({ claims: [{ kind: 'command', command }] });
const proves = (command = COMMAND) => calls({ name: 'prove', input: { name: command } });

/** Proves what it claims, claims what it did not do, claims nothing, or has no key. */
function child(state: State, request: ModelRequest, done = ''): ModelOutcome {
  if (state === 'failed') return fails('no key');
  if (state === 'unchecked') return reports(`Done.${done}`);
  const proved = request.messages.some(
    (message) => message.role === 'tool' && message.content.some(({ name }) => name === 'prove'),
  );
  return state === 'verified' && !proved ? proves() : reports(`Done.${done}`, claims());
}

const kid = (name = 'kid', changes: Partial<AgentDefinition> = {}) => actor(name, { tools: ['prove'], ...changes });
const lead = (group: Group, changes: Partial<AgentDefinition> = {}) => actor('lead', { group, ...changes });
const to = (name: string, include: 'report' | 'request' = 'report') => ({ handoff: { to: name, include } });
const route = (agent: string) => calls({ name: 'handoff-to', input: { agent }, id: 'route' });

/** Whom an agent with a dispatch chooses, each with something to do. */
const chooses = (...[agentId, ...additionalAgents]: readonly string[]): ModelOutcome => {
  const agentInstructions = [agentId, ...additionalAgents].map((id) => ({ agentId: id, instruction: 'Do it.' }));
  return says(JSON.stringify({ agentId, confidence: 0.9, additionalAgents, agentInstructions }));
};

/** The text is the child's own: what it is worth is what the child's is. */
const PASSED_ON = { verified: 'verified', unverified: 'unverified', unchecked: 'unchecked', failed: 'failed' } as const;
/** The text was written after the child's: nobody has checked it, and an unverified child pulls it down. */
const BUILT_ON = { verified: 'unchecked', unverified: 'unverified', unchecked: 'unchecked', failed: 'unchecked' } as const;
/** The same, where without the child there is nothing. */
const MADE_OF = { ...BUILT_ON, failed: 'unverified' } as const;
const ALL_UNVERIFIED = {
  verified: 'unverified',
  unverified: 'unverified',
  unchecked: 'unverified',
  failed: 'unverified',
} as const;

const plansAndJudges = (request: ModelRequest, complete = true): ModelOutcome => {
  const { part } = askedIn(request);
  if (part === 'plan') return says('@worker:kid\nDo it.\n@end');
  return says(`All of it.${complete ? '\n[[GROUP_REFLECT_COMPLETE]]' : ''}`);
};

const chains: readonly Way[] = [
  {
    name: 'handed over to the child',
    agents: [actor('writer', to('kid')), kid()],
    root: PASSED_ON,
    finalAgent: () => 'kid',
  },
  {
    name: 'handed over by the child, the report alone',
    agents: [kid('kid', to('editor')), actor('editor')],
    root: { ...BUILT_ON, failed: 'failed' },
    finalAgent: (state) => (state === 'failed' ? 'kid' : 'editor'),
  },
  {
    name: 'handed over by the child, in the middle of a chain',
    agents: [actor('writer', to('kid')), kid('kid', to('editor', 'request')), actor('editor')],
    root: { ...BUILT_ON, failed: 'failed' },
    finalAgent: (state) => (state === 'failed' ? 'kid' : 'editor'),
    told: 'editor',
  },
  {
    name: 'routed to the child',
    agents: [actor('desk', { router: { destinations: ['kid'] } }), kid()],
    plays: { desk: () => route('kid') },
    root: PASSED_ON,
    finalAgent: () => 'kid',
  },
  {
    name: 'dispatched to the child alone',
    agents: [actor('desk', { dispatch: { agents: ['kid'] } }), kid()],
    plays: { desk: () => chooses('kid') },
    root: PASSED_ON,
    finalAgent: (state) => (state === 'failed' ? 'desk' : 'kid'),
  },
  {
    name: 'dispatched to the child and to another that has proved its own',
    agents: [actor('desk', { dispatch: { agents: ['kid', 'twin'] } }), kid(), kid('twin')],
    plays: {
      desk: () => chooses('kid', 'twin'),
      twin: (_request, turn) => (turn === 1 ? proves('make') : reports('Made.', claims('make'))),
    },
    root: { verified: 'verified', unverified: 'unverified', unchecked: 'unchecked', failed: 'unchecked' },
  },
  {
    name: 'routed to the child and then handed over',
    agents: [actor('desk', { router: { destinations: ['kid'] }, ...to('editor', 'request') }), kid(), actor('editor')],
    plays: { desk: () => route('kid') },
    root: { ...BUILT_ON, failed: 'failed' },
    finalAgent: (state) => (state === 'failed' ? 'kid' : 'editor'),
    told: 'editor',
  },
  {
    name: 'advised by the child',
    agents: [actor('chief', { advisors: ['kid'] }), kid()],
    root: BUILT_ON,
    told: 'chief',
  },
  {
    name: 'advised by the child, and verified by the same claim',
    agents: [kid('chief', { advisors: ['kid'] }), kid()],
    plays: { chief: (request) => child('verified', request) },
    root: { verified: 'verified', unverified: 'verified', unchecked: 'verified', failed: 'verified' },
    told: 'chief',
  },
  {
    name: 'advised by the child, and verified by another claim',
    agents: [kid('chief', { advisors: ['kid'] }), kid()],
    plays: { chief: (_request, turn) => (turn === 1 ? proves('npm run lint') : reports('Done.', claims('npm run lint'))) },
    root: { verified: 'verified', unverified: 'unverified', unchecked: 'verified', failed: 'verified' },
    told: 'chief',
  },
  {
    name: 'a sub-agent',
    agents: [actor('boss', { agents: ['kid'] }), kid()],
    plays: {
      boss: (_request, turn) =>
        turn === 1 ? calls({ name: 'kid', input: { prompt: 'Do it.', reason: 'because' } }) : reports('All of it.'),
    },
    root: BUILT_ON,
    told: 'boss',
    engineOnly: 'sub-agents are tool calls, and those are made by the engine, not through the steps port',
  },
];

const teams: readonly Way[] = [
  {
    name: 'a team led by the child',
    agents: [actor('crew', { team: { members: ['ana'], supervisor: 'kid' } }), actor('ana'), kid()],
    root: PASSED_ON,
    finalAgent: () => 'kid',
  },
  {
    name: 'a team whose supervisor hands over to the child',
    agents: [actor('crew', { team: { members: ['ana'], supervisor: 'chair' } }), actor('ana'), actor('chair', to('kid')), kid()],
    plays: { chair: () => reports('Decided.') },
    root: PASSED_ON,
    finalAgent: () => 'kid',
  },
  {
    name: 'a team whose member was advised by the child',
    agents: [actor('crew', { team: { members: ['ana', 'ben'] } }), actor('ana', { advisors: ['kid'] }), actor('ben'), kid()],
    plays: {
      ana: () => broadcasts('It works.', true),
      ben: () => broadcasts('I see.', true),
      crew: () => reports('Agreed.'),
    },
    root: BUILT_ON,
    told: 'ana',
  },
];

const groups: readonly Way[] = [
  {
    name: 'broadcast to the child and another like it',
    agents: [lead({ mode: 'broadcast', workers: ['kid', 'kin'] }), kid(), kid('kin')],
    root: PASSED_ON,
  },
  {
    name: 'broadcast to the child and one that claims nothing',
    agents: [lead({ mode: 'broadcast', workers: ['kid', 'ana'] }), kid(), actor('ana')],
    root: BUILT_ON,
  },
  {
    name: 'in sequence, the child first',
    agents: [lead({ mode: 'sequential', workers: ['kid', 'ana'] }), kid(), actor('ana')],
    root: BUILT_ON,
    told: 'ana',
  },
  {
    name: 'in sequence, the child last',
    agents: [lead({ mode: 'sequential', workers: ['ana', 'kid'] }), actor('ana'), kid()],
    root: { ...PASSED_ON, failed: 'unchecked' },
  },
  {
    name: 'put together by an orchestrator',
    agents: [lead({ mode: 'orchestrator', workers: ['kid'] }), kid()],
    plays: { lead: (request) => plansAndJudges(request, false) },
    root: MADE_OF,
    told: 'lead',
  },
  {
    name: 'in a loop that a friendly judge ends',
    agents: [lead({ mode: 'reflect', workers: ['kid'], evaluator: 'judge' }), kid(), actor('judge')],
    plays: { lead: (request) => plansAndJudges(request, false), judge: () => judges(1) },
    root: MADE_OF,
    told: 'lead',
  },
  {
    name: 'in a loop that ends itself',
    agents: [lead({ mode: 'reflect', workers: ['kid'] }), kid()],
    plays: { lead: (request) => plansAndJudges(request) },
    root: MADE_OF,
    told: 'lead',
  },
  {
    name: 'in a loop that reaches its limit',
    agents: [lead({ mode: 'reflect', workers: ['kid'], maxIterations: 1 }), kid()],
    plays: { lead: (request) => plansAndJudges(request, false) },
    root: ALL_UNVERIFIED,
    told: 'lead',
  },
  {
    name: 'in a loop that reaches its limit, behind a handoff',
    agents: [lead({ mode: 'reflect', workers: ['kid'], maxIterations: 1 }, to('editor', 'request')), kid(), actor('editor')],
    plays: { lead: (request) => plansAndJudges(request, false) },
    root: ALL_UNVERIFIED,
    finalAgent: () => 'editor',
  },
  {
    name: 'in a loop that a friendly judge ends, behind a handoff',
    agents: [
      lead({ mode: 'reflect', workers: ['kid'], evaluator: 'judge' }, to('editor', 'request')),
      kid(),
      actor('judge'),
      actor('editor'),
    ],
    plays: { lead: (request) => plansAndJudges(request, false), judge: () => judges(1) },
    root: MADE_OF,
    finalAgent: () => 'editor',
  },
  {
    name: 'alone in a loop',
    agents: [kid('kid', { group: { mode: 'reflect' } })],
    root: PASSED_ON,
    clock: fastClock,
  },
];

/** What whoever builds on the child's answer was told: before the child's words, in words that are not the child's. */
function checkTold(scenario: Way, state: State, text: string): void {
  if (state === 'failed') {
    expect(text).not.toContain('Verification by the runtime: verified');
    return;
  }
  const line = text.split('\n').find((one) => one.startsWith('Verification by the runtime:')) ?? '';
  expect(line, scenario.name).toContain(`Verification by the runtime: ${state}`);
  if (state === 'unverified') expect(line).toContain('command "npm test": this command was not run');
  expect(text.indexOf(line)).toBeLessThan(text.lastIndexOf('Done.'));
}

function scenario(way: Way, state: State): Scenario {
  const ends = way.root[state];
  const root = way.agents[0]?.name ?? '';
  const words: Parameters<typeof byAgent>[0] = Object.fromEntries(
    way.agents.map(({ name }) => [
      name,
      name === 'kid' || name === 'kin'
        ? (request: ModelRequest) =>
            child(state, request, root === 'kid' && way.agents.length === 1 ? '\n[[REFLECTION_COMPLETE]]' : '')
        : () => says(`By ${name}.`),
    ]),
  );
  const status = ends === 'failed' ? 'failed' : ends === 'unverified' ? 'completed_unverified' : 'completed';
  return {
    name: `${way.name}: ${state}`,
    pattern: 'verification',
    agents: way.agents,
    prompt: 'Do it.',
    brain: byAgent({ ...words, ...way.plays }),
    expect: {
      status,
      finalAgent: way.finalAgent?.(state) ?? root,
      ...(ends === 'failed' ? {} : { verification: ends }),
    },
    check(played) {
      const { verification } = played.result;
      expect(exitCodeOfStatus(played.result.status)).toBe({ verified: 0, unchecked: 0, unverified: 3, failed: 1 }[ends]);
      if (verification.state === 'unverified' && state === 'unverified')
        expect(verification.reasons.join('\n')).toContain('command "npm test": this command was not run');
      if (way.told === undefined) return;
      checkTold(
        way,
        state,
        told(askedOf(played, way.told).findLast((request) => told(request).includes('Done.')) ?? askedOf(played, way.told)[0]),
      );
    },
    ...present({ engineOnly: way.engineOnly, clock: way.clock }),
  };
}

export const verificationScenarios: readonly Scenario[] = [...chains, ...teams, ...groups].flatMap((way) =>
  STATES.map((state) => scenario(way, state)),
);
