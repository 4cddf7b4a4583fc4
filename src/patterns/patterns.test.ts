/** Every scenario of every pattern, played by hand and on the embedded engine alike. */

import { describe, expect, it } from 'vitest';
import { checkExpected, checkRuns, checkTeams } from '../../test/support/patterns/invariants.ts';
import { eventsOf, told, toolsOf } from '../../test/support/patterns/scenarios.ts';
import { type PlayedScenario, playByHand, playOnEngine, scenarios } from '../../test/support/patterns/table.ts';
import { parentRun } from '../events/run-origin.ts';
import { foldCosts, initialCosts } from '../projections/costs.ts';
import { foldRunTree, initialRunTree, subtreeSpending } from '../projections/run-tree.ts';

const players = [
  { by: 'by hand', play: playByHand },
  { by: 'on the embedded engine', play: playOnEngine },
];

/** What every run spent, put together, is what the recorded answers cost. */
function checkCosts({ ledger }: PlayedScenario): void {
  const spent = ledger.flatMap((event) => {
    if (event.event_type === 'model.response') return [event.payload.cost?.nanoUsd];
    // A call that failed and may have been charged for is one at an unknown price.
    if (event.event_type === 'model.failed') return event.payload.inDoubt === true ? [undefined] : [];
    // An agent elsewhere that was asked and gave no answer has worked all the same.
    if (event.event_type === 'peer.cancelled') return event.payload.unanswered === true ? [undefined] : [];
    return event.event_type === 'peer.state' && ['failed', 'rejected', 'canceled'].includes(event.payload.state)
      ? [undefined]
      : [];
  });
  const sum = spent.reduce<number>((total, one) => total + (one ?? 0), 0);
  // What an agent elsewhere costs is not known, and said so.
  const unknown = spent.filter((one) => one === undefined).length;
  const tree = ledger.reduce(foldRunTree, initialRunTree());
  const roots = ledger.flatMap((event) =>
    event.event_type === 'run.started' && parentRun(event.payload) === undefined ? [subtreeSpending(tree, event.run_id)] : [],
  );
  const total = (of: 'calls' | 'nanoUsd' | 'unknownCalls') => roots.reduce((sofar, root) => sofar + root[of], 0);
  expect([total('calls'), total('nanoUsd'), total('unknownCalls')]).toEqual([spent.length, sum, unknown]);
  expect(ledger.reduce(foldCosts, initialCosts()).total).toMatchObject({ calls: spent.length, nanoUsd: sum });
}

it('has scenarios of every pattern, and says why one cannot be played by hand', () => {
  expect(new Set(scenarios.map((scenario) => scenario.name)).size).toBe(scenarios.length);
  const patterns = [
    'handoff',
    'router',
    'advisors',
    'team',
    'sub-agents',
    'clarifications',
    'compositions',
    'groups',
    'dispatch',
    'architect',
  ];
  for (const pattern of patterns) {
    const rows = scenarios.filter((scenario) => scenario.pattern === pattern);
    expect(rows.length, pattern).toBeGreaterThanOrEqual(4);
    expect(
      rows.filter((scenario) => scenario.everyCut === true),
      pattern,
    ).not.toEqual([]);
  }
  expect(scenarios.filter((scenario) => scenario.engineOnly === undefined).length).toBeGreaterThan(30);
});

describe.each(players)('$by', ({ play }) => {
  const playable = play === playByHand ? scenarios.filter((scenario) => scenario.engineOnly === undefined) : scenarios;

  it.each(playable.map((scenario) => [`${scenario.pattern}: ${scenario.name}`, scenario] as const))(
    '%s',
    async (_name, scenario) => {
      const played = await play(scenario);
      checkExpected(played, scenario);
      checkRuns(played);
      checkTeams(played);
      scenario.check?.(played);
      if (played.ledger.length > 0) checkCosts(played);
    },
  );
});

/** What each agent was asked, call by call; fences aside. */
function asked({ asked: requests }: PlayedScenario): Record<string, unknown[]> {
  const byAgent: Record<string, unknown[]> = {};
  for (const request of requests) {
    const text = told(request)
      // Ids follow from the run's, and patches are kept where there is a ledger.
      .replaceAll(/\btask-[0-9a-f]{10}\b|(?<=session_id: )\S+|(?<=- patch: |is kept: ).*/g, 'id')
      .replaceAll(/\b(nonce\d+|[0-9a-z]{12})\b/g, 'fence');
    const { agent = '', toolChoice } = request;
    byAgent[agent] = [...(byAgent[agent] ?? []), { text, tools: toolsOf(request), toolChoice }];
  }
  return byAgent;
}

const inAnyOrder = (requests: Record<string, unknown[]>) =>
  Object.fromEntries(Object.entries(requests).map(([agent, all]) => [agent, all.map((one) => JSON.stringify(one)).toSorted()]));

describe('the two agree on what every agent is asked, where nobody races', () => {
  const playable = scenarios.filter(
    (one) => one.engineOnly === undefined && one.agents.every((agent) => agent.team === undefined),
  );

  it.each(playable)('$pattern: $name', async (scenario) => {
    const [onEngine, byHand] = [asked(await playOnEngine(scenario)), asked(await playByHand(scenario))];
    // Whoever works on two tasks at once is asked about either first.
    const atOnce = scenario.agents.some(({ architect }) => (architect?.parallel ?? 1) > 1);
    expect(atOnce ? inAnyOrder(onEngine) : onEngine).toEqual(atOnce ? inAnyOrder(byHand) : byHand);
  });
});

/** Where each scenario is cancelled: as this agent first asks its model. */
const STOPS: readonly (readonly [scenario: string, agent: string])[] = [
  ['a chain of three ends with the last', 'second'],
  ['routed with a message', 'billing'],
  ['all advise before the first turn, in the order of the file', 'law'],
  ['two members, one cycle', 'ben'],
  ['a broadcast of the supervisor starts a second cycle', 'lead'],
  ['a team inside a team, led by its own agent', 'y'],
  ['a router to a team that hands over', 'editor'],
  ['calls of one turn run side by side and answer in order', 'right'],
  ['the same prompt to all, side by side', 'ana'],
  ['plan, divide, put together', 'coder'],
  ['the goal is met when the evaluator says so', 'judge'],
  ['alone, until it says that it is done', 'solo'],
  ['two work side by side, each with its own part', 'music'],
  ['what may pass is tried again, and who is done is not asked again', 'house'],
  ['across two levels, and destroyed all the way down at the end', 'clerk'],
];

const stops = STOPS.map(([name, stopAt]) => {
  const scenario = scenarios.find((one) => one.name === name);
  if (scenario === undefined) throw new Error(`There is no scenario named ${name}.`);
  return { name, stopAt, scenario };
});

describe.each(players)('cancelled $by', ({ play }) => {
  const playable = play === playByHand ? stops.filter(({ scenario }) => scenario.engineOnly === undefined) : stops;

  it.each(playable)('$name, at $stopAt: every run below ends', async ({ scenario, stopAt }) => {
    const played = await play(scenario, stopAt);
    expect(played.result.status).toBe('cancelled');
    const starts = eventsOf(played, 'run.started');
    const ends = new Map(eventsOf(played, 'run.ended').map((event) => [event.run, event.payload.status]));
    expect(ends.size).toBe(starts.length);
    const stopped = starts.filter((event) => event.agent === stopAt).map((event) => ends.get(event.run));
    expect(stopped.length).toBeGreaterThan(0);
    expect(new Set(stopped)).toEqual(new Set(['cancelled']));
    const last = played.asked.findIndex((request) => request.agent === stopAt);
    // Others of the same moment may have been asked before they heard of it; nothing new is begun.
    expect(played.asked.slice(last + 1).every((request) => request.signal.aborted)).toBe(true);
    if (played.ledger.length > 0) checkCosts(played);
  });

  it('a team whose members were cancelled: no supervisor begins', async () => {
    const { scenario, stopAt } = stops.find(({ name }) => name === 'two members, one cycle') as (typeof stops)[number];
    const played = await play(scenario, stopAt);
    expect(eventsOf(played, 'run.started').map((event) => event.agent)).toEqual(['room', 'ana', 'ben']);
    expect(played.result.error).toEqual({ code: 'cancelled', message: expect.stringMatching(/^The team was cancelled/) });
  });
});
