/**
 * Every scenario of every pattern on Restate, unchanged: a real server, a worker that it calls, and the ledger between them. Once
 * with invocations that stay connected, and once with replay forced at every wait.
 */
import { afterAll, beforeAll, describe, it } from 'vitest';
import type { RestateServer } from '../../src/cluster/restate-server.ts';
import { startTestRestate } from '../support/cluster/restate-server.ts';
import { createRestateWorld, type RestateWorldOptions } from '../support/cluster/restate-world.ts';
import { checkExpected, checkRuns, checkTeams } from '../support/patterns/invariants.ts';
import type { Scenario } from '../support/patterns/scenarios.ts';
import { playIn, scenarios } from '../support/patterns/table.ts';

let server: RestateServer;
beforeAll(async () => {
  server = await startTestRestate();
});
afterAll(() => server.stop());

async function play(scenario: Scenario, more: Partial<RestateWorldOptions>): Promise<void> {
  const played = await playIn((options) => createRestateWorld(server, { ...options, ...more }), scenario);
  checkExpected(played, scenario);
  checkRuns(played);
  checkTeams(played);
  scenario.check?.(played);
}

const named = scenarios.map((scenario) => [`${scenario.pattern}: ${scenario.name}`, scenario] as const);

describe.each([
  ['connected', {}],
  ['replayed at every wait', { inactivityMs: 0 }],
])('on Restate, %s', (_how, more) => {
  it.each(named)('%s', (_name, scenario) => play(scenario, more));
});
