/**
 * Holds what a run comes to now against what is recorded of it. Each event that the loop or a pattern has made is come to once
 * more, with the same words; an answer that is recorded is asked for once more. What is not, what is new and what is different
 * is a difference.
 */
import type { RunId } from '../base/ids.ts';
import { isJsonObject, type Json } from '../base/json.ts';
import { Interruption } from '../engine/interruption.ts';
import type { ReplayWatch } from '../engine/options.ts';
import { SETUP_STEP } from '../engine/run/drive-run.ts';
import type { EventType, Payloads } from '../events/catalogue.ts';
import type { EventOf, LedgerEvent } from '../events/envelope.ts';
import { broadcastTypes, patternEventTypes } from '../events/pattern-events.ts';
import type { NewEvent } from '../ledger/port.ts';
import { CANCELLED, type TurnOutcome } from '../loop/port.ts';
import { firstDifference } from '../projections/comparing/first-difference.ts';
import { lasting, volatileFields, volatileTypes } from '../projections/comparing/volatile.ts';
import { isBroadcast } from '../projections/patterns/broadcast-text.ts';
import { type PlacesToCome, placesToCome } from './places-to-come.ts';
import type { RunRecord } from './record.ts';
import type { Stops } from './stops.ts';

/** `changed`: it says something else now; `missing`: it did not come about again; `new`: nothing is recorded of it. */
export interface ReplayDifference {
  readonly kind: 'changed' | 'missing' | 'new';
  readonly run: RunId;
  readonly agent: string;
  readonly type: EventType;
  readonly step: string;
  /** Where it is recorded; of something new, behind which event of the run. */
  readonly position: number;
  /** The part of the payload that differs; empty for the whole. */
  readonly path: string;
  readonly recorded?: Json | undefined;
  readonly now?: Json | undefined;
}

export interface Comparison extends Omit<ReplayWatch, keyof Stops>, PlacesToCome {
  /** What the run would append: the recorded event that it stands for. */
  appended(event: NewEvent): LedgerEvent | undefined;
  /** The first of all, when the run has come to where it comes; `undefined` when it is the same throughout. */
  first(): ReplayDifference | undefined;
  /** How many recorded events were come to again, or asked for. */
  compared(): number;
  /** A turn of which nothing is recorded, and that the end of its run does not explain. */
  unexplained(): string | undefined;
}

/** What the loop and the patterns make, and the answers that they ask for. */
const COMPARED: ReadonlySet<EventType> = new Set<EventType>([
  ...(['run.started', 'model.request', 'tool.result', 'step.recorded', 'task.summary', 'run.ended'] as const),
  ...patternEventTypes,
]);

const TURN_CANCELLED: TurnOutcome = { kind: 'failed', error: { kind: 'cancelled', message: CANCELLED } };

/** `changed` is told of each event that says something else now, with all of what it says. */
export function createComparison(record: RunRecord, changed?: (position: number, payload: Json) => void): Comparison {
  const { root, standing } = record;
  const reopened = standing.findLast(({ event_type: type }) => type === 'run.reopened')?.position ?? 0;
  const unkeyed = Map.groupBy(
    standing.filter(({ step }) => step === null),
    (event) => keyOf(event.run_id, event.event_type, null),
  );
  const agents = new Map(record.rows.map(({ run, agent }) => [run, agent]));
  const known = new Map<string, LedgerEvent>(standing.map((event) => [keyOf(event.run_id, event.event_type, event.step), event]));
  const ends = new Map<RunId, EventOf<'run.ended'>>();
  for (const event of standing) if (event.event_type === 'run.ended') ends.set(event.run_id, event);
  const met = new Set<number>();
  const last = new Map<RunId, number>();
  const found: ReplayDifference[] = [];
  const asked = new Map<RunId, Json>();
  const toMeet = standing.filter((event) => isToBeMet(event, root.run, reopened) && isLast(known, event));
  const turns = new Set<string>();
  const places = placesToCome(record, toMeet, met, turns);
  let unexplained: string | undefined;

  const at = (run: RunId, type: EventType, step: string) => ({ run, agent: agents.get(run) ?? '', type, step });
  const meet = (event: LedgerEvent, payload: Json, isWhole: boolean): void => {
    met.add(event.position);
    last.set(event.run_id, Math.max(last.get(event.run_id) ?? 0, event.position));
    // It was asked under other terms than the run went on with.
    if (event.event_type === 'model.request' && event.position < reopened) return;
    const said = lasting(event.event_type, event.payload as unknown as Json);
    const now = lasting(event.event_type, payload);
    const difference = firstDifference(isWhole ? said : sameFields(said, now), now);
    if (difference === undefined) return;
    const { run_id: run, event_type: type, step, position } = event;
    changed?.(position, saidNow(event, payload, isWhole));
    found.push({ kind: 'changed', ...at(run, type, step ?? ''), position, ...difference });
  };
  const fresh = (run: RunId, type: EventType, step: string, payload: Json): void =>
    void found.push({ kind: 'new', ...at(run, type, step), position: last.get(run) ?? 0, path: '', now: payload });
  return {
    again(run, type, step, payload) {
      const event = known.get(keyOf(run, type, step));
      // What became of a turn that was never asked is said by the end of its run; a call without a result is made, or not.
      if (type === 'model.request') asked.set(run, payload as unknown as Json);
      if (event === undefined && (type === 'model.request' || type === 'tool.result')) return;
      if (event === undefined) return fresh(run, type, step, payload as unknown as Json);
      meet(event, payload as unknown as Json, WHOLE.has(type));
    },
    async outcome(run, step, recorded, signal) {
      turns.add(`${run} ${step}`);
      const outcome = recorded ?? explanation(record, run, known.has(keyOf(run, 'model.request', step)), ends.get(run)?.payload);
      // Who stopped it, and why, is what its end says.
      if (outcome?.kind === 'failed' && outcome.error.kind === 'cancelled') await stopped(signal);
      if (outcome !== undefined) return outcome;
      const none = `No answer is recorded for ${step} of ${agents.get(run) ?? run}.`;
      if (known.has(keyOf(run, 'model.request', step))) unexplained ??= none;
      else fresh(run, 'model.request', step, asked.get(run) ?? null);
      throw new Interruption('interrupted', none);
    },
    end: (run) => ends.get(run)?.payload,
    wasSetUp: (run) => known.has(keyOf(run, 'session.config', SETUP_STEP)),
    appended(event) {
      const { type, run, step = '', payload } = event;
      if (volatileTypes.includes(type)) return undefined;
      const recorded =
        step === '' ? alike(unkeyed.get(keyOf(run, type, null)) ?? [], met, event) : known.get(keyOf(run, type, step));
      if (recorded === undefined) fresh(run, type, step, payload as unknown as Json);
      else meet(recorded, payload as unknown as Json, true);
      return recorded;
    },
    first() {
      const missing = toMeet.filter(({ position }) => !met.has(position));
      const all = [...found, ...missing.map((event) => missed(event, at))];
      return all.toSorted(
        (one, other) => one.position - other.position || Number(other.kind === 'new') - Number(one.kind === 'new'),
      )[0];
    },
    ...places,
    compared: () => met.size,
    unexplained: () => unexplained,
  };
}

/** What became of a turn that was not asked for the want of money, or was never over. */
function explanation(
  { late }: RunRecord,
  run: RunId,
  isAsked: boolean,
  ended: Payloads['run.ended'] | undefined,
): TurnOutcome | undefined {
  // Of a task's own money nothing is said but that it was out.
  const scope = ended?.exhausted ?? (ended?.error?.category === 'cost' ? run : undefined);
  const isCutOff = isAsked && scope !== undefined && late.has(scope as RunId);
  if (isCutOff || ended?.status === 'cancelled' || ended?.error?.code === 'timed_out') return TURN_CANCELLED;
  return scope === undefined ? undefined : { kind: 'no_budget', scope, message: ended?.error?.message ?? '' };
}

/** What has to come about again. */
function isToBeMet(event: LedgerEvent, root: RunId, reopened: number): boolean {
  // That something does not fit is found out by whoever hears it for the first time.
  if (isBroadcast(event) && event.payload.replaces !== undefined) return false;
  // Whoever went on after an end need not come to all that led to it.
  if (event.position < reopened) return false;
  return COMPARED.has(event.event_type) && !(event.event_type === 'run.started' && event.run_id === root);
}

/** Of these all that is known is said again; of others only what is known before their outcome. */
const WHOLE: ReadonlySet<EventType> = new Set<EventType>(
  patternEventTypes.filter((type) => !broadcastTypes.some((one) => one === type)),
);

const keyOf = (run: string, type: EventType, step: string | null): string => `${run} ${type} ${step ?? ''}`;

/** The last one of a step counts. */
const isLast = (known: ReadonlyMap<string, LedgerEvent>, event: LedgerEvent): boolean =>
  known.get(keyOf(event.run_id, event.event_type, event.step)) === event;

/** Of events of a kind that have no step: one with the same words, or the first of its kind that nothing stands for yet. */
function alike(events: readonly LedgerEvent[], met: ReadonlySet<number>, { type, payload }: NewEvent): LedgerEvent | undefined {
  const open = events.filter(({ position }) => !met.has(position));
  const said = lasting(type, payload as unknown as Json);
  const isSame = (event: LedgerEvent): boolean =>
    firstDifference(lasting(type, event.payload as unknown as Json), said) === undefined;
  return open.find(isSame) ?? open[0];
}

/** With what is not compared as it is recorded. */
function saidNow({ event_type: type, payload: said }: LedgerEvent, now: Json, isWhole: boolean): Json {
  const recorded = said as unknown as Json;
  if (!isJsonObject(recorded) || !isJsonObject(now)) return now;
  const kept = volatileFields[type]?.flatMap((name) => (name in recorded ? [[name, recorded[name]] as const] : [])) ?? [];
  return { ...(isWhole ? {} : recorded), ...now, ...Object.fromEntries(kept) } as Json;
}

function sameFields(recorded: Json, now: Json): Json {
  if (!isJsonObject(recorded) || !isJsonObject(now)) return recorded;
  return Object.fromEntries(Object.entries(recorded).filter(([name]) => name in now));
}

function missed(
  { run_id: run, event_type: type, step, position, payload }: LedgerEvent,
  at: (run: RunId, type: EventType, step: string) => Pick<ReplayDifference, 'run' | 'agent' | 'type' | 'step'>,
): ReplayDifference {
  return { kind: 'missing', ...at(run, type, step ?? ''), position, path: '', recorded: payload as unknown as Json };
}

async function stopped(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}
