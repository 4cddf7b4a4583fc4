/** The lease of a run that is about to be driven, and what is read under it. */
import { sleep } from '../base/clock.ts';
import type { EventId, RunId, SessionId } from '../base/ids.ts';
import { limits } from '../base/limits.ts';
import type { Failure, RunState } from '../events/catalogue.ts';
import type { Append, Fence, LeaseOutcome, LeaseOwner, Ledger, RunRow } from '../ledger/port.ts';
import { isSomebody } from '../ledger/rules/leases.ts';
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

async function acquire(ledger: Ledger, session: SessionId, run: RunId): Promise<Acquired> {
  try {
    return await ledger.acquire(session, run);
  } catch (error) {
    return { kind: 'failed', error: failureOf(error) };
  }
}

/**
 * The lease of a run that stands still, or of a new one in a session where all do. Whoever had a run stand still writes that down
 * before it gives the lease back, and on a cluster a worker that is woken late takes the lease, sees that there is nothing to do,
 * and leaves it: who wants to go on waits for both.
 */
export async function acquireLeft(
  { ledger, clock }: LedgerAccess & Pick<TimeAndIds, 'clock'>,
  { session, run }: Pick<RunRow, 'session' | 'run'>,
): Promise<Acquired> {
  const until = clock.elapsed() + limits.leaveRunMs;
  for (;;) {
    const lease = await acquire(ledger, session, run);
    if (lease.kind === 'acquired' || lease.kind === 'failed' || !isSomebody(lease.owner)) return lease;
    if (clock.elapsed() >= until) return lease;
    const [row] = await ledger.runs({ run: lease.kind === 'held' ? run : lease.run, limit: 1 });
    if (row === undefined || (row.endedAt === null && !STANDS.has(row.state))) return lease;
    await sleep(clock, limits.leaveRunPollMs);
  }
}

const STANDS: ReadonlySet<RunState> = new Set(['parked', 'paused']);

/** What comes of a look at a run: without events it stays as it is. */
export interface Decided<Outcome> {
  readonly outcome: Outcome;
  readonly write?: Pick<Append, 'events' | 'counters'>;
}

type NotWritten = { readonly kind: 'refused'; readonly error: Failure } | { readonly kind: 'held'; readonly owner: LeaseOwner };

/**
 * Looks at a run that stands still and writes what is decided then, under its lease: nobody else ends it, or has it go on,
 * meanwhile. A worker that is woken late takes the lease also between the look and the append: then both are done again.
 */
export async function underLease<Outcome extends { readonly kind: string }>(
  options: LedgerAccess & Pick<TimeAndIds, 'clock'>,
  root: Pick<RunRow, 'session' | 'run'>,
  look: () => Promise<Decided<Outcome>>,
): Promise<Outcome | NotWritten> {
  const { ledger } = options;
  for (let tries = 1; ; tries += 1) {
    const lease = await acquireLeft(options, root);
    if (lease.kind === 'failed') return { kind: 'refused', error: lease.error };
    if (lease.kind !== 'acquired') return { kind: 'held', owner: lease.owner };
    const { fence } = lease;
    const written = await withLease(ledger, fence, async () => {
      const { outcome, write } = await look();
      if (write === undefined) await ledger.release(fence);
      else {
        const { kind } = await ledger.append({ session: root.session, fence, ...write, sync: 'power', release: true });
        if (kind !== 'appended') return { kind };
      }
      return { kind: 'decided' as const, outcome };
    });
    if (written.kind === 'decided') return written.outcome;
    if (written.kind === 'refused') return written;
    if (written.kind !== 'lease_lost' || tries >= limits.overtakenTries) return { kind: 'refused', error: takenUp };
  }
}

const takenUp: Failure = { code: 'held', message: 'Another process has taken it up.', fix: 'Look how it stands now.' };

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
