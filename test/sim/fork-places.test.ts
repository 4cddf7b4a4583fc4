/**
 * Every pattern is forked wherever it can be. Each scenario is played once; then it is forked behind its events, and the fork is
 * played to its end. It must come to what the source came to, ask nothing that was answered before the place, leave the source
 * as it was, and be sound. Each is forked behind every event that never followed such a one in a scenario of
 * its pattern before.
 */
import { afterAll, describe, expect, it } from 'vitest';
import { present } from '../../src/base/present.ts';
import { readAll } from '../../src/engine/record/read-all.ts';
import type { LedgerEvent } from '../../src/events/envelope.ts';
import { userText } from '../../src/events/messages.ts';
import type { RunResult } from '../../src/patterns/steps.ts';
import { replayRun } from '../../src/replay/replay.ts';
import { checkExpected } from '../support/patterns/invariants.ts';
import type { Scenario } from '../support/patterns/scenarios.ts';
import { playOn, ROOT_RUN, ROOT_SESSION, scenarios } from '../support/patterns/table.ts';
import { createWorld, type World } from '../support/world.ts';

const tried = { forked: 0, refused: 0, anew: 0 };
const known = new Set<string>();
/** Of the scenarios that are not the hardest of their pattern, so many stand for one. */
const SHARE = 6;

function worldOf(scenario: Scenario): World {
  const { agents } = scenario;
  return createWorld({ agents, brain: (request) => scenario.brain(request), ...present({ clock: scenario.clock }) });
}

async function played(world: World, scenario: Scenario): Promise<RunResult> {
  const { agents, prompt } = scenario;
  const request = { agent: agents[0]?.name ?? '', input: userText(prompt), workspace: '.', run: ROOT_RUN, session: ROOT_SESSION };
  const started = await world.engine.start(request);
  if (started.kind !== 'started') throw new Error(JSON.stringify(started));
  const end = await playOn(world, scenario, started.handle);
  if (end.kind !== 'ended') throw new Error(JSON.stringify(end));
  return end.result;
}

/** The end of a fork at this position; `undefined` where it cannot be forked. */
async function forkedAt(world: World, scenario: Scenario, position: number): Promise<void> {
  const when = `forked behind ${position}`;
  const forked = await world.engine.fork({ run: ROOT_RUN, at: String(position) });
  if (forked.kind === 'refused') {
    expect(forked.error, when).toMatchObject({ code: 'fork_place', fix: expect.stringContaining('nearest') });
    for (const [near] of forked.error.fix?.matchAll(/\d+/g) ?? [])
      expect(await world.engine.fork({ run: ROOT_RUN, at: near }), `${when}, told ${near}`).toMatchObject({ kind: 'forked' });
    tried.refused += 1;
    return;
  }
  if (forked.anew.length > 0) tried.anew += 1;
  tried.forked += 1;
  const resumed = await world.engine.resume(forked.run);
  if (resumed.kind !== 'resumed') expect(resumed.kind, when).toBe('ended');
  const end = resumed.kind === 'resumed' ? await playOn(world, scenario, resumed.handle) : undefined;
  if (end !== undefined && end.kind !== 'ended') throw new Error(`${when}: ${JSON.stringify(end)}`);
  const result = resumed.kind === 'ended' ? resumed.result : end?.result;
  if (result === undefined) throw new Error(when);
  checkExpected({ result }, scenario, when);
  const events = await readAll(world.ledger, forked.session);
  const answers = events.filter((event) => event.event_type === 'model.response').map(({ run_id, step }) => `${run_id} ${step}`);
  expect(new Set(answers).size, `${when}: an answered call was made again`).toBe(answers.length);
  const names = events.flatMap((event) => (event.event_type === 'artifact.stored' ? [event.payload.ref] : []));
  expect(new Set(names).size, `${when}: two artifacts of one name`).toBe(names.length);
  expect(await world.ledger.verify(forked.session), when).toMatchObject({ kind: 'sound' });
  expect(await replayRun(world.ledger, forked.run), when).toMatchObject({ kind: 'identical' });
}

function placesOf({ pattern }: Scenario, events: readonly LedgerEvent[]): number[] {
  return events.flatMap(({ event_type, position }, index) => {
    const place = `${pattern}: ${events[index - 1]?.event_type} ${event_type}`;
    const isKnown = known.has(place);
    known.add(place);
    return isKnown ? [] : [position];
  });
}

const rows = scenarios
  .filter(({ afterwards, uncut }) => afterwards === undefined && uncut === undefined)
  .toSorted((one, other) => Number(other.everyCut === true) - Number(one.everyCut === true))
  .filter(({ everyCut }, row) => everyCut === true || row % SHARE === 0)
  .map((scenario) => ({ title: `${scenario.pattern}: ${scenario.name}`, scenario }));

describe('a pattern that is forked:', () => {
  it.each(rows)('$title', async ({ scenario }) => {
    const world = worldOf(scenario);
    checkExpected({ result: await played(world, scenario) }, scenario, 'not forked');
    const events = await readAll(world.ledger, ROOT_SESSION);
    for (const position of placesOf(scenario, events)) await forkedAt(world, scenario, position);
    expect(await readAll(world.ledger, ROOT_SESSION)).toEqual(events);
    expect(await world.ledger.verify()).toMatchObject({ kind: 'sound' });
    await world.close();
  });
});

afterAll(() => {
  expect(tried.forked).toBeGreaterThan(200);
  expect(tried.refused).toBeGreaterThan(10);
  expect(tried.anew).toBeGreaterThan(1);
});
