/** Whom a run chose for its request, where its pattern chooses, and how sure it was. */
import type { EventType } from '../../events/catalogue.ts';
import type { LedgerEvent } from '../../events/envelope.ts';

export interface ChosenAgents {
  readonly agents: readonly string[];
  /** From 0 to 1; unknown where nobody said so. */
  readonly confidence?: number | undefined;
}

/** The events in which somebody is chosen. */
export const choosingTypes = ['router.chose'] as const satisfies readonly EventType[];

export function chosenAgents(event: LedgerEvent): ChosenAgents | undefined {
  return event.event_type === 'router.chose' ? { agents: [event.payload.agent] } : undefined;
}
