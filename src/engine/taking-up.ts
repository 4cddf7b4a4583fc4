/** What a life of a run begins with when it is not the first: what was heard before it, and that it was taken up. */
import type { LedgerEvent } from '../events/envelope.ts';
import type { NewEvent } from '../ledger/port.ts';
import type { EngineParts, RunNode } from './tree.ts';

/** How far everything that came from outside is among the events of a whole session. */
export const heardIn = (events: readonly LedgerEvent[]): number => events.at(-1)?.position ?? 0;

export const resumed =
  (parts: EngineParts, events: readonly LedgerEvent[], takenOver: boolean) =>
  (root: RunNode): readonly NewEvent[] => [
    root.journal.event('run.resumed', { owner: parts.owner, takenOver, heard: heardIn(events) }, { actor: 'system' }),
  ];
