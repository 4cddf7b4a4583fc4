/**
 * Every scenario of every pattern on Restate, unchanged: a real server, a worker that it calls, and the ledger between them, with
 * replay forced at every wait. Invocations that stay connected take no other way than that, only fewer times; so of these there
 * is one scenario for each pattern.
 *
 * Time is real here, since Restate keeps the timers: a clock that passes when nothing happens would pass while Restate works. So
 * of the scenarios with such a clock only those are played that end so at any pace; what time-outs are on Restate is in the
 * lists of the steps port and of the engine (src/engine/restate).
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

async function play({ clock: _clock, ...scenario }: Scenario, more: Partial<RestateWorldOptions>): Promise<void> {
  const played = await playIn((options) => createRestateWorld(server, { ...options, ...more }), scenario);
  checkExpected(played, scenario);
  checkRuns(played);
  checkTeams(played);
  scenario.check?.(played);
}

type Named = readonly [name: string, scenario: Scenario];
const played = scenarios.filter(({ clock, anyPace }) => clock === undefined || anyPace === true);
const named = played.map((scenario): Named => [`${scenario.pattern}: ${scenario.name}`, scenario]);
const firsts = [...Map.groupBy(named, ([, { pattern }]) => pattern).values()].flatMap((ofPattern) => ofPattern.slice(0, 1));

describe('on Restate, replayed at every wait', () => {
  it.each(named)('%s', (_name, scenario) => play(scenario, { inactivityMs: 0 }));
});

describe('on Restate, connected', () => {
  it.each(firsts)('%s', (_name, scenario) => play(scenario, {}));
});
