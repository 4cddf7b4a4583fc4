/**
 * How long a run has been worked on, from its session's events. The process that drives the root drives everything below it,
 * so the time between the root's being taken up and being left counts for every run that had started by then.
 */
import { inboundTypes } from '../events/catalogue.ts';
import type { LedgerEvent } from '../events/envelope.ts';

/** What others append while nobody drives the run is no work on it. */
const INBOUND: ReadonlySet<string> = new Set(inboundTypes);

/** `before`: how long it was up to a position; only what comes after it is counted. */
export function activeTime(
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
