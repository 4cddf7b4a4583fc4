/**
 * How long a run has been worked on, from its session's events. The process that drives the root drives everything below it,
 * so the time between the root's being taken up and being left counts for every run that had started by then.
 */
import type { Clock } from '../../base/clock.ts';
import type { RunId } from '../../base/ids.ts';
import { inboundTypes } from '../../events/catalogue.ts';
import type { Past } from './past.ts';

/** What others append while nobody drives the run is no work on it. */
const INBOUND: ReadonlySet<string> = new Set(inboundTypes);

/** What comes before these was no work on it either. */
const TAKEN_UP: ReadonlySet<string> = new Set(['run.resumed', 'run.reopened']);

export interface ActiveTimes {
  began(run: RunId): void;
  /** Before this life. */
  before(run: RunId): number;
  soFar(run: RunId): number;
}

export function createActiveTimes(past: Past, clock: Clock): ActiveTimes {
  const begunAt = new Map<RunId, number>();
  let known: ((run: RunId) => number) | undefined;
  const before = (run: RunId): number => {
    known ??= activeTimes(past);
    return known(run);
  };
  return {
    began: (run) => void begunAt.set(run, clock.now()),
    before,
    soFar: (run) => before(run) + clock.now() - (begunAt.get(run) ?? clock.now()),
  };
}

/**
 * The active time of every run, with one look at each event: the time of the whole session since the run's start. Of the root
 * that was condensed it is known how long it was up to there; only what comes after that is counted.
 */
function activeTimes({ events, cut }: Past): (run: RunId) => number {
  const startedAt = new Map<string, number>();
  let active = 0;
  let cutAt: number | undefined;
  let last: number | undefined;
  for (const event of events) {
    if (INBOUND.has(event.event_type)) continue;
    const at = Date.parse(event.timestamp);
    if (!TAKEN_UP.has(event.event_type) && last !== undefined) active += Math.max(0, at - last);
    if (event.event_type === 'run.started') startedAt.set(event.run_id, active);
    if (cut !== undefined && event.position >= cut.position) cutAt ??= active;
    last = at;
  }
  return (run) => (cut?.run === run ? cut.state.activeMs + active - (cutAt ?? active) : active - (startedAt.get(run) ?? active));
}
