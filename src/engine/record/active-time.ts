/**
 * How long a run has been worked on, from its session's events. The process that drives the root drives everything below it,
 * so the time between the root's being taken up and being left counts for every run that had started by then.
 */
import type { Clock } from '../../base/clock.ts';
import type { RunId } from '../../base/ids.ts';
import { inboundTypes } from '../../events/catalogue.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import type { Past } from './past.ts';

/** What others append while nobody drives the run is no work on it. */
const INBOUND: ReadonlySet<string> = new Set(inboundTypes);

export interface Activity {
  began(run: RunId): void;
  /** Before this life. */
  before(run: RunId): number;
  soFar(run: RunId): number;
}

export function createActivity({ events, cut }: Past, clock: Clock): Activity {
  const begunAt = new Map<RunId, number>();
  const before = (run: RunId): number =>
    activeTime(events, run, cut?.run === run ? { position: cut.position, activeMs: cut.state.activeMs } : undefined);
  return {
    began: (run) => void begunAt.set(run, clock.now()),
    before,
    soFar: (run) => before(run) + clock.now() - (begunAt.get(run) ?? clock.now()),
  };
}

/** `before`: how long it was up to a position; only what comes after it is counted. */
function activeTime(
  session: readonly LedgerEvent[],
  run: string,
  before?: { readonly position: number; readonly activeMs: number },
): number {
  let active = before?.activeMs ?? 0;
  let started = before !== undefined;
  let last: number | undefined;
  for (const event of session) {
    if (INBOUND.has(event.event_type) || event.position < (before?.position ?? 0)) continue;
    const at = Date.parse(event.timestamp);
    const takenUp = event.event_type === 'run.resumed';
    if (started && !takenUp && last !== undefined) active += Math.max(0, at - last);
    if (event.event_type === 'run.started' && event.run_id === run) started = true;
    last = at;
  }
  return active;
}
