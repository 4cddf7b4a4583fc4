/** The packages that a run has handed over, or would: of each task the last. */
import type { EventType } from '../../events/catalogue.ts';
import type { LedgerEvent } from '../../events/envelope.ts';

export const packageTypes: readonly EventType[] = ['task.package'];

export function packagesIn(events: readonly LedgerEvent[]): readonly string[] {
  const last = new Map<string, string>();
  for (const event of events) if (event.event_type === 'task.package') last.set(event.payload.task, event.payload.yaml);
  return [...last.values()];
}
