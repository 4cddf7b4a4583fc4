/** What a life of a run begins with when it is not the first: that it was taken up, and what was heard before. */
import type { NewEvent } from '../../ledger/port.ts';
import type { LedgerAccess } from '../options.ts';
import type { DrivenRun } from './driven-run.ts';
import type { Past } from './past.ts';

export const resumed =
  (options: LedgerAccess, { heard }: Past, takenOver: boolean) =>
  (root: DrivenRun): readonly NewEvent[] => [
    root.journal.event('run.resumed', { owner: options.owner, takenOver, heard }, { actor: 'system' }),
  ];
