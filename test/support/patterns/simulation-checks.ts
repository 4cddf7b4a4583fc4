/** What must hold in every story, judged from outside: from what the model saw and from what the ledger says. */

import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import { standing } from '../../../src/engine/record/standing-events.ts';
import type { LedgerEvent } from '../../../src/events/envelope.ts';
import { type Message, toolCallsOf } from '../../../src/events/messages.ts';
import { parentRun, roleInTree, type Seat, teamSeat } from '../../../src/events/run-origin.ts';
import { foldBudget, initialBudget } from '../../../src/projections/budget.ts';
import { foldCosts, initialCosts } from '../../../src/projections/costs.ts';
import { foldRunTree, initialRunTree, subtreeSpending } from '../../../src/projections/run-tree.ts';
import { createTranscripts } from '../../../src/projections/transcript.ts';
import { dispatchesKeepTheirWord } from './dispatch-checks.ts';
import type { SimulatedSession } from './simulation.ts';
import { tasksMoveLegally } from './task-checks.ts';

type EventOf<Type extends LedgerEvent['event_type']> = Extract<LedgerEvent, { event_type: Type }>;

const only = <Type extends LedgerEvent['event_type']>(events: readonly LedgerEvent[], type: Type): EventOf<Type>[] =>
  events.filter((event): event is EventOf<Type> => event.event_type === type);

/** Said once per thing that holds: quicker than an assertion library, of which a story would need thousands of calls. */
function must(holds: boolean, message: string): void {
  if (!holds) throw new Error(message);
}

export function checkSimulation(simulated: SimulatedSession): void {
  expect(simulated.trouble, 'the simulated came to an end').toBeUndefined();
  expect(simulated.result, 'the session came to an end').toBeDefined();
  expect(simulated.sound, 'the ledger is sound').toBe(true);
  everyRunEndsOnce(simulated);
  everyCallHasOneResult(simulated);
  requestsAreWhatTheLedgerSays(simulated);
  broadcastsAreHeardOnce(simulated);
  nobodyOutlivesTheTeam(simulated);
  nothingStartsAfterCancel(simulated);
  costsAddUp(simulated);
  budgetsHold(simulated);
  childrenAreDismissed(simulated);
  noEffectTwice(simulated);
  tasksMoveLegally(simulated.events);
  dispatchesKeepTheirWord(simulated.agents, simulated.events);
}

/** Once in each of its lives: a run that ended for a reason outside of it may be reopened, and comes to another end. */
function everyRunEndsOnce({ events }: SimulatedSession): void {
  const open = new Set<string>();
  const ended = new Set<string>();
  for (const { event_type, run_id } of events) {
    if (event_type === 'run.started') open.add(run_id);
    if (event_type === 'run.reopened') {
      ended.delete(run_id);
      open.add(run_id);
    }
    if (event_type !== 'run.ended') continue;
    must(open.delete(run_id), `${run_id} ends twice, and nobody has reopened it`);
    ended.add(run_id);
  }
  // One that came to nothing and was taken back may be started anew.
  const starts = only(standing(events), 'run.started').map(({ run_id }) => run_id);
  expect(new Set(starts).size, 'nobody starts twice').toBe(starts.length);
  for (const { run_id, payload } of only(events, 'run.started')) {
    must(ended.has(run_id), `${run_id} (${payload.agent}, ${roleInTree(payload)}) does not end`);
    const last = events.findLast((event) => event.run_id === run_id && event.event_type !== 'run.signalled');
    must(last?.event_type === 'run.ended', `${last?.event_type} happens in ${run_id} after its end`);
  }
  for (const { run_id, payload } of only(events, 'run.ended')) must(payload.report.body !== '', `${run_id} has no report`);
}

function everyCallHasOneResult({ requests }: SimulatedSession): void {
  for (const { run, step, messages } of requests) {
    let open: string[] = [];
    for (const message of messages) {
      if (message.role === 'tool') {
        for (const { id } of message.content) {
          must(open.includes(id), `${run} ${step}: a result without its call`);
          open = open.filter((other) => other !== id);
        }
        continue;
      }
      must(open.length === 0, `${run} ${step}: calls without results`);
      if (message.role === 'assistant') open = toolCallsOf(message).map(({ id }) => id);
    }
    must(open.length === 0, `${run} ${step}: calls without results`);
  }
}

/** Whoever reads the ledger cold sees what the model saw. */
function requestsAreWhatTheLedgerSays({ events, requests }: SimulatedSession): void {
  const transcripts = createTranscripts();
  const seen = new Map<string, Message[][]>();
  for (const { run, step, messages } of requests) {
    const key = `${run}/${step}`;
    seen.set(key, [...(seen.get(key) ?? []), [...messages]]);
  }
  const recorded = new Map<string, Message[][]>();
  for (const event of events) {
    transcripts.apply(event);
    if (event.event_type !== 'model.request') continue;
    const key = `${event.run_id}/${event.step}`;
    recorded.set(key, [...(recorded.get(key) ?? []), transcripts.of(event.run_id)]);
  }
  for (const [key, sent] of seen)
    for (const messages of sent) {
      // A request that is put anew after its run was reopened stands there twice, each time in its own words.
      const known = recorded.get(key) ?? [];
      if (!known.some((one) => isDeepStrictEqual(one, messages)))
        expect(known.at(-1), `the transcript of ${key}`).toEqual(messages);
    }
  for (const [key, known] of recorded)
    for (const one of known)
      must(
        (seen.get(key) ?? []).some((messages) => isDeepStrictEqual(one, messages)) || !seen.has(key),
        `${key} was never sent so`,
      );
}

function broadcastsAreHeardOnce({ events }: SimulatedSession): void {
  const seats = new Map<string, Seat>();
  const said: EventOf<'team.broadcast'>[] = [];
  const heard = new Map<string, Set<string>>();
  const byKey = new Map<string, EventOf<'team.broadcast'>>();
  // What was asked and never answered may be asked anew, in other words.
  for (const event of standing(events)) {
    const taken = event.event_type === 'run.started' ? teamSeat(event.payload) : undefined;
    if (taken !== undefined) seats.set(event.run_id, taken);
    if (event.event_type === 'team.broadcast') {
      if (event.payload.replaces === undefined) said.push(event);
      byKey.set(`${event.run_id} ${event.step}`, event);
    }
    const seat = seats.get(event.run_id);
    if (event.event_type !== 'model.request' || seat === undefined) continue;
    const reader = `${seat.team} ${seat.member}`;
    const known = heard.get(reader) ?? new Set();
    heard.set(reader, known);
    for (const item of event.payload.added) {
      if (!('step' in item) || item.run === undefined) continue;
      const replaced = byKey.get(`${item.run} ${item.step}`)?.payload.replaces;
      const key = replaced === undefined ? `${item.run} ${item.step}` : `${replaced.run} ${replaced.step}`;
      must(!known.has(key), `${reader} hears ${key} more than once`);
      known.add(key);
    }
    const due = said.filter(({ payload }) => payload.team === seat.team && isDue(payload, seat));
    for (const { run_id, step, payload } of due)
      must(known.has(`${run_id} ${step}`), `${reader} in cycle ${seat.cycle} has not heard ${payload.memberId}`);
  }
}

/** The supervisor has heard this cycle's broadcasts, a member those of the cycles before. */
function isDue({ memberId, cycle, type }: EventOf<'team.broadcast'>['payload'], seat: Seat): boolean {
  if (memberId === seat.member && type === 'update') return false;
  return seat.role === 'supervisor' ? cycle <= seat.cycle : cycle < seat.cycle;
}

function nobodyOutlivesTheTeam({ events }: SimulatedSession): void {
  const parents = new Map(only(events, 'run.started').map(({ run_id, payload }) => [run_id as string, parentRun(payload)]));
  const seats = new Map(only(events, 'run.started').map(({ run_id, payload }) => [run_id as string, teamSeat(payload)]));
  const over = new Set<string>();
  for (const event of events) {
    const seat = seats.get(event.run_id);
    if (event.event_type === 'run.ended' && seat?.role === 'supervisor' && event.payload.spoke === undefined) over.add(seat.team);
    if (event.event_type === 'run.reopened') over.delete(seat?.role === 'supervisor' ? seat.team : event.run_id);
    if (event.event_type !== 'model.request') continue;
    for (let run: string | undefined = event.run_id; run !== undefined; run = parents.get(run)) {
      const team = seats.get(run)?.team;
      must(team === undefined || !over.has(team), `${event.run_id} works although its team has ended`);
    }
  }
}

function nothingStartsAfterCancel({ events, requests, cancels }: SimulatedSession): void {
  const parents = new Map(only(events, 'run.started').map(({ run_id, payload }) => [run_id as string, parentRun(payload)]));
  const below = (run: string | undefined, above: string): boolean =>
    run !== undefined && (run === above || below(parents.get(run), above));
  for (const { run, seen } of cancels)
    for (const late of requests.slice(seen)) must(!below(late.run, run), `${late.run} calls after ${run} was cancelled`);
  for (const { run, step, aborted } of requests) must(!aborted, `${run} ${step} was called off before it began`);
}

function costsAddUp({ events, root }: SimulatedSession): void {
  const { total, lines } = events.reduce(foldCosts, initialCosts());
  const tree = events.reduce(foldRunTree, initialRunTree());
  const sum = only(events, 'model.response').reduce((cost, { payload }) => cost + (payload.cost?.nanoUsd ?? 0), 0);
  expect(total.nanoUsd).toBe(sum);
  expect([...lines.values()].reduce((cost, line) => cost + line.nanoUsd, 0)).toBe(sum);
  expect(subtreeSpending(tree, root), 'everybody is below the root').toEqual(total);
}

function budgetsHold({ events }: SimulatedSession): void {
  const limits = new Map(only(events, 'run.started').map(({ run_id, payload }) => [run_id as string, payload.budget]));
  const uses = initialBudget();
  for (const event of events) {
    foldBudget(uses, event);
    if (event.event_type !== 'budget.reserved' && event.event_type !== 'budget.settled') continue;
    for (const scope of event.payload.scopes) {
      const limit = limits.get(scope);
      const use = uses.get(scope);
      if (limit === undefined || use === undefined) continue;
      const { reserved, spent } = use;
      must(reserved.calls + spent.calls <= (limit.calls ?? Number.POSITIVE_INFINITY), `${scope}: too many calls`);
      must(reserved.tokens + spent.tokens <= (limit.tokens ?? Number.POSITIVE_INFINITY), `${scope}: too many tokens`);
      must(reserved.nanoUsd + spent.nanoUsd <= (limit.usd ?? Number.POSITIVE_INFINITY) * 1e9, `${scope}: too much money`);
    }
  }
  for (const [scope, { reserved }] of uses)
    must(reserved.calls === 0 && reserved.tokens === 0 && reserved.nanoUsd === 0, `something is still reserved in ${scope}`);
}

/** A child is known by the run that answered last; nobody can be asked any more when the session is over. */
/** Of a run that was reopened, what made it end does not count. */
function childrenAreDismissed({ events: all }: SimulatedSession): void {
  const events = standing(all);
  const continues = new Map(only(events, 'run.started').map(({ run_id, payload }) => [run_id as string, payload.continues]));
  const firstOf = (run: string): string => {
    const before = continues.get(run);
    return before === undefined ? run : firstOf(before);
  };
  const children = new Set(
    only(events, 'tool.result').flatMap(({ payload: { child } }) => (child?.chat === true ? [firstOf(child.run)] : [])),
  );
  const gone = only(events, 'agent.dismissed').map(({ payload }) => firstOf(payload.run));
  expect(new Set(gone).size, 'nobody is dismissed twice').toBe(gone.length);
  expect([...children].sort(), 'everybody is dismissed').toEqual(gone.sort());
}

function noEffectTwice({ effects }: SimulatedSession): void {
  const acts = effects.filter((effect) => effect.startsWith('act'));
  expect(new Set(acts).size, 'an effect that must not be repeated happened twice').toBe(acts.length);
}
