/** What is true of every play of every scenario, whoever plays it and however often it was cut. */

import { expect } from 'vitest';
import { parentRun, type Seat } from '../../../src/events/run-origin.ts';
import { eventsOf, type Scenario, type ScenarioEventOf, type ScenarioRun } from './scenarios.ts';

type Events = Pick<ScenarioRun, 'events'>;

export function checkExpected({ result }: Pick<ScenarioRun, 'result'>, { expect: expected }: Scenario, when = ''): void {
  const { status = 'completed', body, finalAgent, error, verification } = expected;
  expect({ status: result.status, finalAgent: result.finalAgent }, `${when} ${result.error?.message ?? ''}`).toEqual({
    status,
    finalAgent,
  });
  if (verification !== undefined) expect(result.verification.state, when).toBe(verification);
  expect(result.verification.state === 'unverified', when).toBe(result.status === 'completed_unverified');
  if (body !== undefined) expect(result.report.body, when).toBe(body);
  if (error !== undefined) expect(result.error?.message, when).toMatch(error);
}

/** Every run ends once, before the run that asked for it, and the answer is that of the run it is said to be. */
export function checkRuns(played: Pick<ScenarioRun, 'events' | 'result'>): void {
  const starts = eventsOf(played, 'run.started');
  const ended = new Map(played.events.flatMap((event, index) => (event.type === 'run.ended' ? [[event.run, index]] : [])));
  expect(eventsOf(played, 'run.ended')).toHaveLength(starts.length);
  for (const { run, payload } of starts) {
    const end = ended.get(run) ?? Number.POSITIVE_INFINITY;
    const parent = parentRun(payload);
    const above = parent === undefined ? Number.POSITIVE_INFINITY : (ended.get(parent) ?? -1);
    expect(end, `${payload.agent} has not ended before the run above it`).toBeLessThan(above);
  }
  const final = starts.find((event) => event.run === played.result.finalRun);
  expect(final?.agent).toBe(played.result.finalAgent);
}

/**
 * Each broadcast reaches each reader at most once; the supervisor has all of a cycle at hand in its first turn of that
 * cycle, a member all of the cycles before. Nobody in a team works after its supervisor has reported.
 */
export function checkTeams(played: Events): void {
  const seats = new Map(
    eventsOf(played, 'run.started').flatMap(({ run, payload: { origin } }) =>
      origin.kind === 'seat' ? [[run, origin.seat]] : [],
    ),
  );
  const said = new Map<string, ScenarioEventOf<'team.broadcast'>>();
  const heard = new Map<string, Set<string>>();
  for (const event of played.events) {
    if (event.type === 'team.broadcast') said.set(`${event.run} ${event.step}`, event);
    const seat = seats.get(event.run);
    if (event.type !== 'model.request' || seat === undefined) continue;
    const reader = `${seat.team} ${seat.member}`;
    const known = heard.get(reader) ?? new Set();
    heard.set(reader, known);
    for (const item of event.payload.added) {
      if (!('step' in item) || item.run === undefined) continue;
      const replaced = said.get(`${item.run} ${item.step}`)?.payload.replaces;
      for (const one of [`${item.run} ${item.step}`, ...(replaced === undefined ? [] : [`${replaced.run} ${replaced.step}`])]) {
        expect(known.has(one), `${reader} heard ${one} twice`).toBe(false);
        known.add(one);
      }
    }
    for (const [key, { payload }] of said)
      if (due(payload, seat))
        expect(known.has(key), `${reader} has not heard ${payload.message} in cycle ${seat.cycle}`).toBe(true);
  }
  checkEnds(played, seats);
}

function due(payload: ScenarioEventOf<'team.broadcast'>['payload'], seat: Seat): boolean {
  if (payload.team !== seat.team || payload.memberId === seat.member || payload.replaces !== undefined) return false;
  return seat.role === 'supervisor' ? payload.cycle <= seat.cycle : payload.cycle < seat.cycle;
}

function checkEnds(played: Events, seats: ReadonlyMap<string, Seat>): void {
  played.events.forEach((event, index) => {
    const seat = seats.get(event.run);
    if (event.type !== 'run.ended' || seat?.role !== 'supervisor' || event.payload.spoke !== undefined) return;
    const later = played.events.slice(index).filter((one) => one.type === 'model.request');
    const same = later.filter((one) => seats.get(one.run)?.team === seat.team);
    expect(same, 'somebody worked after the supervisor had ended').toEqual([]);
  });
}
