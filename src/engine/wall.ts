/** How long a run has been worked on, from its events: the time between being taken up and being left, summed. */
import type { LedgerEvent } from '../events/envelope.ts';

export function activeTime(events: readonly LedgerEvent[]): number {
  let active = 0;
  let from: number | undefined;
  let last = 0;
  for (const event of events) {
    const at = Date.parse(event.timestamp);
    if (event.event_type === 'run.started' || event.event_type === 'run.resumed') {
      if (from !== undefined) active += Math.max(0, last - from);
      from = at;
    }
    last = at;
  }
  return from === undefined ? active : active + Math.max(0, last - from);
}
