/**
 * Every scenario of every pattern on Restate, unchanged: a real server, a worker that it calls, and the ledger between them. Once
 * with invocations that stay connected, and once with replay forced at every wait.
 */
import { afterAll, beforeAll, describe, it } from 'vitest';
import type { RestateServer } from '../../src/cluster/restate-server.ts';
import { checkExpected, checkRuns, checkTeams } from '../support/pattern-scenarios-invariants.ts';
import { playIn, scenarios } from '../support/pattern-scenarios-table.ts';
import { startTestRestate } from '../support/restate-server.ts';
import { createRestateWorld } from '../support/restate-world.ts';

let server: RestateServer;
beforeAll(async () => {
  server = await startTestRestate();
}, 60_000);
afterAll(() => server.stop());

describe('on Restate', () => {
  it.each(scenarios.map((scenario) => [`${scenario.pattern}: ${scenario.name}`, scenario] as const))(
    '%s',
    { timeout: 30_000 },
    async (_name, scenario) => {
      const played = await playIn((options) => createRestateWorld(server, options), scenario);
      checkExpected(played, scenario);
      checkRuns(played);
      checkTeams(played);
      scenario.check?.(played);
    },
  );
});
