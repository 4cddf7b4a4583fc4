/** The lease of a run that is about to be driven, and what is read under it. */
import { sleep } from '../base/clock.ts';
import type { EventId, RunId, SessionId } from '../base/ids.ts';
import { limits } from '../base/limits.ts';
import type { Failure, RunState } from '../events/catalogue.ts';
import type { Fence, LeaseOutcome, Ledger, RunRow } from '../ledger/port.ts';
import { failureOf } from './failure-of.ts';
import type { LedgerAccess, TimeAndIds } from './options.ts';

/** A lease that leads to nothing is not kept, whatever went wrong on the way. */
export async function withLease<Outcome extends { readonly kind: string }>(
  ledger: Ledger,
  fence: Fence,
  begin: () => Promise<Outcome>,
): Promise<Outcome | { readonly kind: 'refused'; readonly error: Failure }> {
  try {
    return await begin();
  } catch (error) {
    await ledger.release(fence).catch(() => undefined);
    return { kind: 'refused', error: failureOf(error) };
  }
}

type Acquired = LeaseOutcome | { readonly kind: 'failed'; readonly error: Failure };

export async function acquire(ledger: Ledger, session: SessionId, run: RunId): Promise<Acquired> {
  try {
    return await ledger.acquire(session, run);
  } catch (error) {
    return { kind: 'failed', error: failureOf(error) };
  }
}

/**
 * The lease of a run that stands still. Whoever had it stand still writes that down before it gives the lease back: who reads the
 * one and wants the run to go on waits for the other.
 */
export async function acquireLeft(
  { ledger, clock }: LedgerAccess & Pick<TimeAndIds, 'clock'>,
  { session, run }: Pick<RunRow, 'session' | 'run'>,
): Promise<Acquired> {
  const until = clock.elapsed() + limits.leaveRunMs;
  for (;;) {
    const lease = await acquire(ledger, session, run);
    if (lease.kind !== 'held' || clock.elapsed() >= until) return lease;
    const [row] = await ledger.runs({ run, limit: 1 });
    if (row === undefined || (row.endedAt === null && !STANDS.has(row.state))) return lease;
    await sleep(clock, limits.leaveRunPollMs);
  }
}

const STANDS: ReadonlySet<RunState> = new Set(['parked', 'paused']);

/** Where a session works that has begun, and its newest event. */
export async function begunSession(
  ledger: Ledger,
  session: SessionId,
): Promise<{ readonly workspace: string; readonly newest: EventId } | undefined> {
  const [first] = await ledger.read({ session, limit: 1 });
  if (first === undefined) return undefined;
  const [newest] = await ledger.read({ session, newest: true, limit: 1 });
  if (first.event_type !== 'session.started' || newest === undefined) return undefined;
  return { workspace: first.payload.workspace, newest: newest.event_id };
}
