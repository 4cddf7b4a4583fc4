/**
 * Where a run can be forked. Everything up to the place is kept; what was under way there is done anew. Almost every event is
 * such a place, because a run can be taken up after every one of them. Who cannot be taken up in the middle begins anew, or there
 * is none (at-work.ts).
 */
import { type EventId, eventPosition, type RunId, shortId } from '../../base/ids.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import type { EventType, Failure } from '../../events/catalogue.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import { parentRun } from '../../events/run-origin.ts';
import { standing } from '../record/standing-events.ts';
import { type Anew, anewAt, noPlace, treeIn } from './at-work.ts';

export interface ForkPlace {
  /** The run that was named, which may be below the root. */
  readonly run: RunId;
  readonly root: RunId;
  /** The last event that is kept. */
  readonly position: number;
  readonly event: EventId;
  /** The root and all runs below it that had begun. */
  readonly tree: ReadonlySet<RunId>;
  /** What is undone because somebody at work there begins anew. */
  readonly anew: Anew;
}

type Found<Value> = Result<Value, Failure>;

/** What is written with the start of a run, in one append. */
const OF_THE_START: ReadonlySet<EventType> = new Set<EventType>([
  ...(['session.started', 'run.started', 'session.config', 'session.brought', 'workspace.packed'] as const),
]);

/** `events`: all of the session, oldest first. `at`: an event, a position, `start`, `end`, `turn 3`, or the key of a step. */
export function forkPlace(events: readonly LedgerEvent[], run: RunId, at: string | undefined): Found<ForkPlace> {
  const root = rootIn(events, run);
  const begin = startOf(events, root);
  if (begin === undefined) return fail(noPlace(`There is no start of run ${shortId(run)} in its session`));
  const found = at === undefined ? ok(lastTurn(events, run)) : namedPlace(events, run, at.trim());
  if (!found.ok) return found;
  const named = events[found.value - 1];
  if (named === undefined) return fail(outside(events, root, at ?? ''));
  if (rootIn(events, named.run_id) !== root) return fail(ofAnother(events, named, root));
  // The start of a root is one append: whoever has a part of it has nothing to go on with.
  const position = Math.max(found.value, begin);
  const kept = events[position - 1] as LedgerEvent;
  const anew = anewAt(events, { root, run, begin, position });
  if (!anew.ok) return anew;
  return ok({ run, root, position, event: kept.event_id, tree: treeIn(events, root, position), anew: anew.value });
}

function namedPlace(events: readonly LedgerEvent[], run: RunId, at: string): Found<number> {
  const own = standing(events).filter(({ run_id }) => run_id === run);
  if (/^-?\d+$/.test(at)) return ok(Number(at));
  const position = eventPosition(at);
  if (position !== undefined) {
    const session = at.slice(0, at.lastIndexOf('.'));
    if (session === events[0]?.session_id) return ok(position);
    return fail(
      noPlace(`Event ${at} is of another session than run ${shortId(run)}`, `name an event of ${events[0]?.session_id}`),
    );
  }
  if (at === 'start') return ok(startOf(events, run) ?? 0);
  if (at === 'end') return endOf(own, run);
  const turn = /^turn[ /]?(\d+)$/i.exec(at)?.[1];
  if (turn !== undefined) return turnEnd(own, run, Number(turn));
  const step = own.findLast((event) => event.step === at);
  if (step !== undefined) return ok(step.position);
  return fail(
    noPlace(
      `There is no ${at} in run ${shortId(run)}`,
      `name one of these: ${placesOf(own)}; or an event: troupe logs ${shortId(run)}`,
    ),
  );
}

function endOf(own: readonly LedgerEvent[], run: RunId): Found<number> {
  const ended = own.findLast(({ event_type }) => event_type === 'run.ended');
  if (ended !== undefined) return ok(ended.position);
  return fail(noPlace(`Run ${shortId(run)} has not ended`, `name one of these: ${placesOf(own)}`));
}

/** When everything that was called in it has its result. */
function turnEnd(own: readonly LedgerEvent[], run: RunId, turn: number): Found<number> {
  const of = own.filter(({ step }) => step?.startsWith(`turn/${turn}/`) === true);
  if (of.length > 0 && isComplete(own, turn)) return ok(of.at(-1)?.position ?? 0);
  const why = of.length === 0 ? 'has no' : 'has not come to the end of';
  return fail(noPlace(`Run ${shortId(run)} ${why} turn ${turn}`, `name one of these: ${placesOf(own)}`));
}

function isComplete(own: readonly LedgerEvent[], turn: number): boolean {
  const answer = own.find((event) => event.event_type === 'model.response' && event.payload.turn === turn);
  if (answer?.event_type !== 'model.response') return false;
  const results = new Set(own.flatMap((event) => (event.event_type === 'tool.result' ? [event.step] : [])));
  const calls = answer.payload.message.content.filter((part) => part.type === 'tool-call');
  const isLast = own.some(({ event_type }) => event_type === 'run.ended') && !own.some((event) => isRequest(event, turn + 1));
  return isLast || calls.every((_call, index) => results.has(`turn/${turn}/tool/${index}`));
}

const isRequest = (event: LedgerEvent, turn: number): boolean =>
  event.event_type === 'model.request' && event.payload.turn === turn;

/** `start, turn 1 … turn 7, end`. */
function placesOf(own: readonly LedgerEvent[]): string {
  const turns = own.flatMap((event) => (event.event_type === 'model.response' ? [event.payload.turn] : []));
  const complete = [...new Set(turns)].filter((turn) => isComplete(own, turn));
  const [first, last] = [complete[0], complete.at(-1)];
  const between = first === undefined ? [] : first === last ? [`turn ${first}`] : [`turn ${first} to turn ${last}`];
  const ended = own.some(({ event_type }) => event_type === 'run.ended') ? ['end'] : [];
  return ['start', ...between, ...ended].join(', ');
}

/** The end of the last turn after which there was something to ask: of a run that has ended, the one before its answer. */
function lastTurn(events: readonly LedgerEvent[], run: RunId): number {
  const below = treeIn(events, run, events.length);
  const stands = standing(events);
  const request = stands.findLast((event) => event.event_type === 'model.request' && below.has(event.run_id));
  if (request?.event_type !== 'model.request') return startOf(events, run) ?? 0;
  const own = stands.filter(({ run_id }) => run_id === request.run_id);
  const hasEnded = stands.some(({ run_id, event_type }) => run_id === run && event_type === 'run.ended');
  const end = hasEnded ? undefined : turnEnd(own, request.run_id, request.payload.turn);
  return end?.ok === true ? end.value : request.position - 1;
}

function startOf(events: readonly LedgerEvent[], run: RunId): number | undefined {
  const from = events.findLastIndex((event) => event.event_type === 'run.started' && event.run_id === run);
  if (from === -1) return undefined;
  let last = from;
  while (isOfStart(events[last + 1], run)) last += 1;
  return last + 1;
}

const isOfStart = (event: LedgerEvent | undefined, run: RunId): boolean =>
  event !== undefined &&
  event.run_id === run &&
  (OF_THE_START.has(event.event_type) || (event.event_type === 'workspace.kept' && event.payload.task === undefined));

function rootIn(events: readonly LedgerEvent[], run: RunId): RunId {
  const started = events.find((event) => event.event_type === 'run.started' && event.run_id === run);
  const parent = started?.event_type === 'run.started' ? parentRun(started.payload) : undefined;
  return parent === undefined ? run : rootIn(events, parent as RunId);
}

function outside(events: readonly LedgerEvent[], root: RunId, at: string): Failure {
  const [first, last] = [startOf(events, root) ?? 1, events.length];
  const where =
    Number(at) < 1 || (eventPosition(at) ?? 1) < 1 ? 'before the start of its session' : 'behind the end of its session';
  return noPlace(`${at} is ${where}`, `the session has the events 1 to ${last}; the run begins at ${first}`);
}

function ofAnother(events: readonly LedgerEvent[], named: LedgerEvent, root: RunId): Failure {
  const other = rootIn(events, named.run_id);
  const last = events.findLast(({ run_id }) => rootIn(events, run_id) === root)?.position ?? 0;
  const message = `Event ${named.position} is of run ${shortId(other)}, not of ${shortId(root)}`;
  return noPlace(
    message,
    `fork that one: troupe fork ${shortId(other)} --at ${named.position}; or name one of ${startOf(events, root)} to ${last}`,
  );
}
