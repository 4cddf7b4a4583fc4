/** The states of a run as the index of runs stores them. */
import { TroupeError } from '../../base/errors.ts';
import { runStatus } from '../../events/run-status.ts';
import type { RunRow } from '../port.ts';

export function runStateOf(name: string): RunRow['state'] {
  if (name === 'running' || name === 'waiting' || name === 'paused' || name === 'parked') return name;
  const status = runStatus.safeParse(name);
  if (status.success) return status.data;
  throw new TroupeError('ledger_corrupt', `The ledger is damaged: a run is in the unknown state ${name}`);
}

/** Runs in these states have not ended: there are few of them, and they have an index of their own. */
export const isUnfinished = (state: RunRow['state']): boolean =>
  state === 'running' || state === 'waiting' || state === 'paused' || state === 'parked';
