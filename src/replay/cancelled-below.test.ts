/**
 * Somebody cancels a run below another while that one goes on. What it comes to depends on when that was; played again from the
 * record it comes to the same, in every pattern, whichever of its agents it was.
 */
import { afterAll, describe, expect, it } from 'vitest';
import { never, type Scenario } from '../../test/support/patterns/scenarios.ts';
import { playOn, ROOT_RUN, ROOT_SESSION, scenarios } from '../../test/support/patterns/table.ts';
import { createWorld } from '../../test/support/world.ts';
import type { RunId } from '../base/ids.ts';
import { present } from '../base/present.ts';
import { userText } from '../events/messages.ts';
import type { ModelRequest } from '../models/port.ts';
import { replayRun } from './replay.ts';

const tried = { ended: 0 };
/** None of what an executor or an agent elsewhere asks its own model. */
const runOf = ({ idempotencyKey }: ModelRequest): RunId | undefined =>
  /^run_[0-9a-z]{20}/.exec(idempotencyKey)?.[0] as RunId | undefined;

/** The play, in which the agent's run is cancelled when it asks its model for the first time. */
async function outcomeOf(scenario: Scenario, name: string): Promise<unknown> {
  let stopped: RunId | undefined;
  const world = createWorld({
    agents: scenario.agents,
    ...present({ clock: scenario.clock }),
    brain: (request) => {
      const run = runOf(request);
      if (request.agent !== name || stopped !== undefined || run === undefined) return scenario.brain(request);
      stopped = run;
      void world.engine.cancel(stopped, 'enough');
      return never(request);
    },
  });
  const started = await world.engine.start({
    ...{ agent: scenario.agents[0]?.name ?? '', input: userText(scenario.prompt), workspace: '.' },
    ...{ run: ROOT_RUN, session: ROOT_SESSION },
  });
  if (started.kind !== 'started') throw new Error(JSON.stringify(started));
  const end = await playOn(world, scenario, started.handle);
  const outcome = end.kind === 'ended' && stopped !== undefined ? await replayRun(world.ledger, ROOT_RUN) : undefined;
  await world.close();
  if (outcome !== undefined) tried.ended += 1;
  return outcome === undefined || outcome.kind === 'identical' ? undefined : outcome;
}

/** Of all agents of all plays, so many stand for one. */
const SHARE = 8;
const rows = scenarios
  .filter(({ agents, afterwards }) => agents.length > 1 && afterwards === undefined)
  .flatMap(({ agents, ...scenario }) =>
    agents.slice(1).map(({ name }) => {
      return { title: `${scenario.pattern}: ${scenario.name}: ${name}`, scenario: { agents, ...scenario }, name };
    }),
  )
  .filter((_row, index) => index % SHARE === 0);

describe('a run below another that is cancelled:', () => {
  it.each(rows)('$title', async ({ scenario, name }) => {
    expect(await outcomeOf(scenario, name)).toBeUndefined();
  });
});

afterAll(() => expect(tried.ended).toBeGreaterThan(40));
