/**
 * Which runs of a tree that has ended go on, and what of their past is undone for it. A run goes on if it ended for a reason
 * outside of it that is mended now, or because runs below it did; and a run below goes on only if nothing was done with its end:
 * the run above it has not asked a model, called a tool or started anybody since who came to something. Whoever was started
 * since and found nobody to ask either is taken back from the start: it is started anew, with what is known then.
 */

import { type EventId, type RunId, shortId } from '../../base/ids.ts';
import { present } from '../../base/present.ts';
import type { Budget, EventType, Failure, Payloads } from '../../events/catalogue.ts';
import type { EventOf, LedgerEvent } from '../../events/envelope.ts';
import { type OutsideReason, reasonOutside } from '../../events/outside-reason.ts';
import { patternEndTypes, patternEventTypes } from '../../events/pattern-events.ts';
import { isStartedByPattern, parentRun, turnsBefore } from '../../events/run-origin.ts';
import { succeeded } from '../../events/succeeded.ts';
import type { RunRow } from '../../ledger/port.ts';
import { isBroadcast } from '../../projections/patterns/broadcast-text.ts';
import type { ResumeTerms } from '../port.ts';
import { childOf } from './driven-run.ts';
import { standing, startedUnder } from './standing-events.ts';

export interface ReopenedRun {
  readonly run: RunId;
  /** What it follows from: the end that it had. */
  readonly cause: EventId;
  readonly payload: Payloads['run.reopened'];
}

export type Reopening =
  | { readonly kind: 'goes on'; readonly runs: readonly ReopenedRun[] }
  | { readonly kind: 'stays'; readonly why: Failure };

/** What the run cannot take back: whoever did one of these has used all that was there before it. */
const WORK: ReadonlySet<EventType> = new Set<EventType>([
  ...(['model.response', 'tool.call', 'task.summary', 'approval.asked', 'task.clarify'] as const),
  ...patternEventTypes.filter((type) => !patternEndTypes.includes(type)),
]);
/** What only says how it ended. */
const OF_THE_END: ReadonlySet<EventType> = new Set<EventType>([
  ...(['run.ended', 'run.parked', 'agent.dismissed'] as const),
  ...patternEndTypes,
]);

/** Everything of these types in the tree is needed. */
export const typesForReopening: readonly EventType[] = [
  ...(['run.started', 'run.reopened', 'model.request', 'model.failed', 'tool.result', 'message.included'] as const),
  ...WORK,
  ...OF_THE_END,
];

/** How it ended, or what it stands still for. */
interface End {
  readonly position: number;
  readonly event_id: EventId;
  readonly payload: Pick<Payloads['run.ended'], 'status' | 'error' | 'reason' | 'exhausted' | 'turns'>;
}

interface EndedRun {
  readonly run: RunId;
  readonly started: Payloads['run.started'];
  readonly ended: End;
  readonly events: readonly LedgerEvent[];
  readonly children: readonly EventOf<'run.started'>[];
}

export function reopening(all: readonly LedgerEvent[], root: RunId, terms: ResumeTerms): Reopening {
  const events = standing(all);
  const find = finder(events);
  const top = find(root);
  if (top === undefined) return { kind: 'stays', why: { code: 'not_ended', message: 'The run has not ended.' } };
  const limits = (run: string): Budget | undefined => find(run)?.started.budget;
  const reopened = reopenedBelow(top, find, (one) => isMended(one, terms, limits))?.runs;
  if (reopened === undefined) return { kind: 'stays', why: whyNot(top, terms) };
  const raised = new Set(reopened.flatMap(({ ended }) => ended.payload.exhausted ?? []));
  const { budget, model, maxTurns } = terms;
  const runs = reopened.map(({ run, ended, undone }): ReopenedRun => {
    const isRoot = run === root;
    // The limits are for whose own were used up; where none were, for the whole.
    const more = raised.has(run) || (isRoot && ![...raised].some((scope) => find(scope) !== undefined)) ? { budget } : {};
    const payload = { undone: [...undone], ...present({ ...more, ...(isRoot ? { model, maxTurns } : {}) }) };
    return { run, cause: ended.event_id, payload };
  });
  return { kind: 'goes on', runs };
}

function finder(events: readonly LedgerEvent[]): (run: string) => EndedRun | undefined {
  const byRun = new Map<string, LedgerEvent[]>();
  const children = new Map<string, EventOf<'run.started'>[]>();
  for (const event of events) {
    byRun.set(event.run_id, [...(byRun.get(event.run_id) ?? []), event]);
    const parent = event.event_type === 'run.started' ? parentRun(event.payload) : undefined;
    if (event.event_type === 'run.started' && parent !== undefined)
      children.set(parent, [...(children.get(parent) ?? []), event]);
  }
  return (run) => {
    const own = byRun.get(run) ?? [];
    const started = own.find((event) => event.event_type === 'run.started');
    const ended = own.flatMap(endIn).at(-1);
    if (started?.event_type !== 'run.started' || ended === undefined) return undefined;
    const under = startedUnder(started.payload, own);
    return { run: run as RunId, started: under, ended, events: own, children: children.get(run) ?? [] };
  };
}

function endIn(event: LedgerEvent): End[] {
  if (event.event_type === 'run.ended') return [event];
  if (event.event_type !== 'run.parked') return [];
  const { position, event_id, payload } = event;
  return [{ position, event_id, payload: { status: 'failed', ...payload } }];
}

interface Undone extends Pick<EndedRun, 'run' | 'ended'> {
  readonly undone: readonly number[];
}

interface GoesOn {
  /** The run and those below it. */
  readonly runs: readonly Undone[];
  /** All that there is of it and those below it, where nothing came of any of them: it can be started as if it never was. */
  readonly traces: readonly number[] | undefined;
}

interface Child extends GoesOn {
  readonly run: RunId;
  readonly startedAt: number;
  readonly endedAt: number;
}

/** `undefined` when it stays as it ended. */
function reopenedBelow(
  one: EndedRun,
  find: (run: string) => EndedRun | undefined,
  mended: (one: EndedRun) => boolean,
): GoesOn | undefined {
  const { run, ended, events, children } = one;
  const { status, error } = ended.payload;
  if (status !== 'failed' && status !== 'budget_exhausted') return undefined;
  if (error?.code === 'reported_failure') return undefined;
  if (reasonOutside(ended.payload) !== undefined && !mended(one)) return undefined;
  const failed = children.flatMap(({ run_id, position }): Child[] => {
    const child = find(run_id);
    const goesOn = child === undefined ? undefined : reopenedBelow(child, find, mended);
    if (child === undefined || goesOn === undefined) return [];
    return [{ ...goesOn, run: child.run, startedAt: position, endedAt: child.ended.position }];
  });
  const worked = events.filter(isWork).map(({ position }) => position);
  const { going, anew, last } = whoGoesOn(worked, children, failed);
  if (going.length === 0 && reasonOutside(ended.payload) === undefined) return undefined;
  const after = events.filter(({ position }) => position > last);
  const below = new Set([...going.flatMap(({ runs }) => runs.map((child) => child.run)), ...anew.map((child) => child.run)]);
  const undone = [
    ...undoneOf(one, after, below).map(({ position }) => position),
    ...anew.flatMap(({ traces = [] }) => traces),
  ].sort((left, right) => left - right);
  const runs = [{ run, ended, undone }, ...going.flatMap((child) => child.runs)];
  return { runs, traces: worked.length > 0 || failed.length < children.length ? undefined : tracesOf(one, failed) };
}

/**
 * Those whose end nobody has used. To have started somebody is to have used it, unless nothing came of that either: then that
 * one is started anew. `last`: where the run used something last.
 */
function whoGoesOn(
  worked: readonly number[],
  children: readonly EventOf<'run.started'>[],
  failed: readonly Child[],
): { readonly going: readonly Child[]; readonly anew: readonly Child[]; readonly last: number } {
  const lastBut = (left: readonly Child[]): number => {
    const out = new Set<string>(left.map(({ run }) => run));
    return Math.max(0, ...worked, ...children.filter(({ run_id }) => !out.has(run_id)).map(({ position }) => position));
  };
  const used = lastBut(failed.filter(({ traces }) => traces !== undefined));
  const unused = failed.filter(({ endedAt }) => endedAt > used);
  const first = Math.min(...unused.map(({ endedAt }) => endedAt));
  const anew = unused.filter(({ traces, startedAt }) => traces !== undefined && startedAt > first);
  return { going: unused.filter((child) => !anew.includes(child)), anew, last: lastBut(anew) };
}

/** Those whom a pattern started are started by it again; what a model has asked for stands in its answer. */
function tracesOf({ started, ended, events }: EndedRun, below: readonly Child[]): readonly number[] | undefined {
  if (!isStartedByPattern(started) || ended.payload.exhausted !== undefined) return undefined;
  if (below.some(({ traces }) => traces === undefined)) return undefined;
  const own = events.filter((event) => event.event_type !== 'run.reopened').map(({ position }) => position);
  return [...own, ...below.flatMap(({ traces = [] }) => traces)];
}

/** That somebody failed is told to those who come after: it is no work, and not told when that one goes on. */
const isToldFailure = (event: LedgerEvent): boolean => isBroadcast(event) && event.payload.type === 'failure';
const isWork = (event: LedgerEvent): boolean => WORK.has(event.event_type) && !isToldFailure(event);

function undoneOf(
  { run, started, ended, events }: EndedRun,
  after: readonly LedgerEvent[],
  below: ReadonlySet<RunId>,
): LedgerEvent[] {
  const failed = after.findLast((event) => event.event_type === 'model.failed' && event.payload.final);
  const called = new Set(events.flatMap((event) => (event.event_type === 'tool.call' ? [event.step] : [])));
  const cutOff = ended.payload.reason === 'time';
  return after.filter((event) => {
    if (OF_THE_END.has(event.event_type) || event === failed) return true;
    if (isToldFailure(event)) return isAbout(event, { run, started }, below);
    // The question that nobody answered is put anew: those below that go on may give it other words.
    if (event.event_type === 'model.request') return below.size > 0 && event.step === failed?.step;
    // What it carried is carried by the one that is put in its place.
    if (event.event_type === 'message.included') return below.size > 0 && event.payload.request === failed?.step;
    if (event.event_type !== 'tool.result' || event.step === null) return false;
    // What the limit of time kept from being called at all is called now.
    return below.has(childOf({ run, started }, event.step)) || (cutOff && !called.has(event.step));
  });
}

/** An event whose key lies below a child's is about that child. */
function isAbout({ step }: LedgerEvent, above: Pick<EndedRun, 'run' | 'started'>, children: ReadonlySet<RunId>): boolean {
  const key = step?.slice(0, step.lastIndexOf('/')) ?? '';
  return children.has(childOf(above, key));
}

function isMended(
  { started, ended: { payload } }: EndedRun,
  terms: ResumeTerms,
  limits: (run: string) => Budget | undefined,
): boolean {
  const { exhausted, turns = 0 } = payload;
  switch (reasonOutside(payload)) {
    case undefined:
      return false;
    case 'model':
      return terms.model !== undefined;
    case 'turns':
      return (terms.maxTurns ?? 0) > turnsBefore(started) + turns;
    case 'time':
      return isRaised(['wallMs'], exhausted === undefined ? undefined : limits(exhausted), terms.budget);
    case 'budget':
      // What the whole project may spend is said in its settings.
      if (exhausted === undefined || limits(exhausted) === undefined) return true;
      return isRaised(['usd', 'tokens', 'calls', 'wallMs'], limits(exhausted), terms.budget);
    default:
      return true;
  }
}

function isRaised(units: readonly (keyof Budget)[], had: Budget | undefined, given: Budget | undefined): boolean {
  return units.some((unit) => (given?.[unit] ?? 0) > (had?.[unit] ?? Number.POSITIVE_INFINITY));
}

/** What would have to be given for it to go on. */
const NEEDS: Readonly<Partial<Record<OutsideReason, (run: string) => string>>> = {
  model: (run) => `Name another model: troupe resume ${run} --model "…"`,
  turns: (run) => `Give it more turns than it had: troupe resume ${run} --max-turns <n>`,
  time: (run) => `Give it more time than it had: troupe resume ${run} --budget-wall <duration>`,
  budget: (run) => `Give it more than it had: troupe resume ${run} --budget-usd, --budget-tokens or --budget-calls <n>`,
};

function whyNot({ run, ended: { payload } }: EndedRun, terms: ResumeTerms): Failure {
  const { status, error } = payload;
  const reason = reasonOutside(payload);
  const needs = reason === undefined ? undefined : NEEDS[reason];
  const said = error === undefined ? status : `${status}: ${error.message}`;
  if (needs === undefined)
    return { code: 'ended', message: `The run has ended (${said}), and not for a reason outside of it.`, fix: again(run) };
  const given = Object.keys(present(terms)).length > 0 ? ' What was given does not change that.' : '';
  return { code: 'ended', message: `The run has ended (${said}).${given}`, fix: needs(shortId(run)) };
}

/** What came to an end of its own accord: no terms make it go on, so that nobody has to be asked for its lease. */
export function endedForGood(row: Pick<RunRow, 'run' | 'session' | 'agent' | 'state' | 'endedAt'>): Failure | undefined {
  const { run, session, agent, state, endedAt } = row;
  if (endedAt === null || state === 'failed' || state === 'budget_exhausted') return undefined;
  // What did what it was asked is not done again.
  const fix = succeeded({ status: state }) ? `Ask for more: troupe run ${agent} "…" --session ${session}` : again(run);
  return { code: 'ended', message: `The run has ended (${state}), and not for a reason outside of it.`, fix };
}

const again = (run: RunId): string => `Do the work again: troupe retry ${shortId(run)}`;
