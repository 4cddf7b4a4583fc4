/**
 * How long a run has been worked on, from its session's events. The process that drives the root drives everything below it,
 * so the time between the root's being taken up and being left counts for every run that had started by then; but for the time
 * in which the run has asked a person and nothing of it works until the answer is there (`resting-runs.ts`).
 */
import type { Clock } from '../../base/clock.ts';
import type { RunId } from '../../base/ids.ts';
import { inboundTypes } from '../../events/catalogue.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import type { Past } from './past.ts';
import { createRestingRuns } from './resting-runs.ts';

/** What others append while nobody drives the run is no work on it. */
const INBOUND: ReadonlySet<string> = new Set(inboundTypes);

/** What comes before these was no work on it either. */
const TAKEN_UP: ReadonlySet<string> = new Set(['run.resumed', 'run.reopened']);

export interface ActiveTimes {
  began(run: RunId): void;
  /** What has happened in this life. */
  apply(event: LedgerEvent): void;
  soFar(run: RunId): number;
  /** Calls back when the run has been worked on for so long; the result takes it back. */
  after(run: RunId, activeMs: number, callback: () => void): () => void;
}

interface Alarm {
  readonly run: RunId;
  set(): void;
  unset(): void;
}

export function createActiveTimes(past: Past, clock: Clock): ActiveTimes {
  const times = activeTimes(past);
  const alarms = new Set<Alarm>();
  const takenUpAt = clock.now();
  const now = (): number => times.active + clock.now() - takenUpAt;
  const soFar = (run: RunId): number => times.of(run, now());
  return {
    began: (run) => times.began(run, now()),
    apply(event) {
      for (const [run, rests] of times.changed(event, now()))
        for (const alarm of alarms) if (alarm.run === run) rests ? alarm.unset() : alarm.set();
    },
    soFar,
    after(run, activeMs, callback) {
      let unset = (): void => undefined;
      const alarm: Alarm = {
        run,
        set() {
          unset = clock.after(activeMs - soFar(run), () => {
            alarms.delete(alarm);
            callback();
          });
        },
        unset: () => unset(),
      };
      alarms.add(alarm);
      if (!times.rests(run)) alarm.set();
      return () => {
        alarms.delete(alarm);
        unset();
      };
    },
  };
}

/** A change of what rests, at the time at which it was if somebody drove the session then. */
interface Change {
  readonly event: LedgerEvent;
  readonly at: number;
}

/**
 * The active time of every run, with one look at each event: the time of the whole session since the run's start, without that in
 * which it rested. Of the root that was condensed it is known how long it was up to there; only what comes after that is counted.
 */
function activeTimes({ events, cut }: Past) {
  const runs = createRestingRuns();
  /** When it would have begun, had it never rested; and since when it rests. */
  const startedAt = new Map<RunId, number>();
  const restsSince = new Map<RunId, number>();
  /** What comes after its end is no work on it, until it goes on. */
  const endedAt = new Map<RunId, number>();
  let active = 0;
  // What was taken over from another session took its time there.
  const takenOver =
    events.findLast((event) => event.event_type === 'run.reopened' && event.payload.forked !== undefined)?.position ?? 0;
  let last: number | undefined;
  let isCut = false;
  const changed = (event: LedgerEvent, at: number): ReadonlyMap<RunId, boolean> => {
    const changes = runs.apply(event);
    for (const [run, rests] of changes) {
      const since = restsSince.get(run);
      if (rests) restsSince.set(run, at);
      else if (since !== undefined) startedAt.set(run, (startedAt.get(run) ?? at) + at - since);
      if (!rests) restsSince.delete(run);
    }
    const { event_type: type, run_id: run } = event;
    const ended = endedAt.get(run);
    if (type === 'run.ended') endedAt.set(run, at);
    if (type !== 'run.reopened' || ended === undefined) return changes;
    startedAt.set(run, (startedAt.get(run) ?? at) + at - ended);
    endedAt.delete(run);
    return changes;
  };
  // Whether somebody was there when an answer came shows in what comes next.
  let answers: Change[] = [];
  const settle = (latest: number): void => {
    for (const { event, at } of answers) changed(event, Math.min(at, latest));
    answers = [];
  };
  for (const event of events) {
    const { event_type: type, run_id: run } = event;
    const at = Date.parse(event.timestamp);
    const passed = last === undefined ? 0 : Math.max(0, at - last);
    if (INBOUND.has(type)) {
      answers.push({ event, at: active + passed });
      continue;
    }
    if (!TAKEN_UP.has(type) && event.position > takenOver) active += passed;
    settle(active);
    if (type === 'run.started') startedAt.set(run, active);
    if (cut !== undefined && !isCut && event.position >= cut.position) {
      startedAt.set(cut.run, active - cut.state.activeMs);
      restsSince.delete(cut.run);
      isCut = true;
    }
    changed(event, active);
    last = at;
  }
  settle(active);
  return {
    active,
    changed,
    rests: runs.rests,
    began: (run: RunId, at: number): void => {
      if (!startedAt.has(run)) startedAt.set(run, at);
    },
    of: (run: RunId, at: number): number => (endedAt.get(run) ?? restsSince.get(run) ?? at) - (startedAt.get(run) ?? at),
  };
}
