/** Every pattern with a budget that is too small, cut off before each of its model calls. */

import { describe, expect, it } from 'vitest';
import { eventsOf, type Scenario } from '../../test/support/patterns/scenarios.ts';
import { type PlayedScenario, playByHand, playIn, playOnEngine, scenarios } from '../../test/support/patterns/table.ts';
import { createWorld, type WorldOptions } from '../../test/support/world.ts';
import type { AgentDefinition } from '../agents/definition/definition.ts';
import type { RunStatus } from '../events/catalogue.ts';
import { parentRun } from '../events/run-origin.ts';

const players = [
  { by: 'by hand', play: playByHand },
  { by: 'on the embedded engine', play: playOnEngine },
];

/** A second prompt has a run, and so a budget, of its own. */
const single = scenarios.filter((scenario) => scenario.afterwards === undefined);

function withCalls(scenario: Scenario, calls: number): Scenario {
  const [first, ...others] = scenario.agents;
  const root = first as AgentDefinition;
  return { ...scenario, agents: [{ ...root, budget: { ...root.budget, calls } }, ...others] };
}

/** What a budget counts: an executor is asked once, however often it asks a model of its own. By hand nobody prompts one. */
function callsOf({ agents }: Scenario, played: PlayedScenario): number {
  const prompts = eventsOf(played, 'executor.prompted').length;
  const executors = agents.filter(({ executor }) => executor !== undefined && prompts > 0).map(({ name }) => name);
  return played.asked.filter(({ agent = '' }) => !executors.includes(agent)).length + prompts;
}

function checkEnded(scenario: Scenario, played: PlayedScenario, calls: number, whose: string): void {
  const { result } = played;
  expect(result).toMatchObject({ status: 'budget_exhausted', error: { code: 'budget_exhausted' }, exhausted: whose });
  expect(callsOf(scenario, played)).toBe(calls);
  expect(result.report.body).not.toBe('');
  // Nobody waits for another try once it is known that there is nothing left.
  const out = played.events.findIndex((event) => event.type === 'run.ended' && event.payload.exhausted === whose);
  expect(out).toBeGreaterThan(-1);
  expect(played.events.slice(out).filter((event) => event.step.endsWith('/back-off'))).toEqual([]);
}

const rootOf = (played: PlayedScenario): string =>
  eventsOf(played, 'run.started').find((event) => parentRun(event.payload) === undefined)?.run ?? '';

describe.each(players)('the budget of the whole, $by', ({ play }) => {
  const playable = play === playByHand ? single.filter((scenario) => scenario.engineOnly === undefined) : single;

  it.each(playable)('$pattern: $name', async (scenario) => {
    const all = callsOf(scenario, await play(scenario));
    for (let calls = 0; calls < all; calls += 1) {
      const played = await play(withCalls(scenario, calls));
      checkEnded(scenario, played, calls, rootOf(played));
    }
  });
});

describe('the budget of the project', () => {
  it.each(single.filter((scenario) => scenario.everyCut === true))('$pattern: $name', async (scenario) => {
    const all = callsOf(scenario, await playOnEngine(scenario));
    for (let calls = 0; calls < all; calls += 1) {
      const poor = (options: WorldOptions) => createWorld({ ...options, engineOptions: { projectBudget: { calls } } });
      checkEnded(scenario, await playIn(async (options) => poor(options), scenario), calls, 'project');
    }
  });
});

/** Whoever has no budget of its own fails alone; where its answer is the answer, that is how the whole ends. */
const ALONE: readonly (readonly [scenario: string, poor: string, status: RunStatus])[] = [
  ['a chain of three ends with the last', 'third', 'budget_exhausted'],
  ['routed with a message', 'billing', 'budget_exhausted'],
  ['all advise before the first turn, in the order of the file', 'law', 'completed'],
  ['two members, one cycle', 'ben', 'completed'],
  ['calls of one turn run side by side and answer in order', 'right', 'completed'],
  ['the same prompt to all, side by side', 'ana', 'completed'],
  ['one after the other, each with what came before', 'ana', 'completed'],
  ['plan, divide, put together', 'coder', 'completed'],
];

describe('a budget of its own', () => {
  it.each(ALONE)('%s: %s has none', async (name, poor, status) => {
    const scenario = single.find((one) => one.name === name);
    if (scenario === undefined) throw new Error(`There is no scenario named ${name}.`);
    const agents = scenario.agents.map((one) => (one.name === poor ? { ...one, budget: { calls: 0 } } : one));
    const played = await playOnEngine({ ...scenario, agents });
    expect(played.result.status).toBe(status);
    const ends = new Map(eventsOf(played, 'run.ended').map((event) => [event.agent, event.payload.status]));
    expect(ends.get(poor)).toBe('budget_exhausted');
    expect(played.asked.some((request) => request.agent === poor)).toBe(false);
  });
});
