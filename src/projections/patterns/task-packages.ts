/** The packages that a run has handed over, or would: of each task the last. */
import type { EventType } from '../../events/catalogue.ts';
import type { EventOf, LedgerEvent } from '../../events/envelope.ts';

export const packageTypes: readonly EventType[] = ['task.package'];

export type ShownPackage = Pick<EventOf<'task.package'>['payload'], 'task' | 'executor' | 'verify' | 'yaml'>;

export function packagesIn(events: readonly LedgerEvent[]): readonly ShownPackage[] {
  const last = new Map<string, ShownPackage>();
  for (const event of events) {
    if (event.event_type !== 'task.package') continue;
    const { task, executor, verify, yaml } = event.payload;
    last.set(task, { task, executor, verify, yaml });
  }
  return [...last.values()];
}
