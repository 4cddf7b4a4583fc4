/** Of all servers of a ledger one does some work; the others stand by, and it is theirs when that one has gone. */
import { type Clock, sleep } from '../base/clock.ts';
import { runIdFrom, type SessionId } from '../base/ids.ts';
import { limits } from '../base/limits.ts';
import type { Fence, Ledger } from './port.ts';

export interface OnlyOneNeeds {
  readonly ledger: Pick<Ledger, 'acquire' | 'release'>;
  readonly clock: Clock;
  readonly stopping: AbortSignal;
  onError(error: Error): void;
}

/** `claim` names the work; `isOver` is asked before each try: there is nothing more to do then, for anybody. */
export async function asOnlyOne(
  { ledger, clock, stopping, onError }: OnlyOneNeeds,
  claim: readonly string[],
  isOver: () => Promise<boolean>,
  work: (fence: Fence) => Promise<void>,
): Promise<void> {
  const run = runIdFrom(JSON.stringify(claim));
  while (!(await isOver())) {
    // A name of its own: the leases of runs belong to who works on them.
    const outcome = await ledger.acquire(run.replace(/^run_/, 'ses_') as SessionId, run);
    if (outcome.kind === 'acquired') {
      try {
        return await work(outcome.fence);
      } finally {
        // A ledger that closes gives everything back itself.
        await ledger.release(outcome.fence).catch((error: Error) => void (stopping.aborted || onError(error)));
      }
    }
    if ((await sleep(clock, limits.a2aPushStandByMs, stopping)) !== 'elapsed') return;
  }
}
