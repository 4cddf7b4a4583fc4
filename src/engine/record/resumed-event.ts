/** What a life of a run begins with when it is not the first: that it was taken up, and what was heard before. */
import type { NewEvent } from '../../ledger/port.ts';
import type { EngineParts, RunNode } from '../tree.ts';
import type { Past } from './past.ts';

export const resumed =
  (parts: EngineParts, { heard }: Past, takenOver: boolean) =>
  (root: RunNode): readonly NewEvent[] => [
    root.journal.event('run.resumed', { owner: parts.owner, takenOver, heard }, { actor: 'system' }),
  ];
