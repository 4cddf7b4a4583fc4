/**
 * Leases over machines. One heartbeat row serves all leases of a process; every batch it writes is a heartbeat too.
 * An owner that was paused for longer than its lease finds, when it goes on, that somebody else has the next epoch.
 */
import type { Clock } from '../../base/clock.ts';
import type { RunId, SessionId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import type { AcquireOptions, Fence, LeaseOutcome } from '../port.ts';
import { decideLease } from '../rules/leases.ts';
import type { PostgresCommit } from './commit.ts';
import type { Database, Statement } from './connection.ts';
import type { Writer } from './owner.ts';
import type { BatchState } from './state.ts';

interface Leases {
  acquire(session: SessionId, run: RunId, options?: AcquireOptions): Promise<LeaseOutcome>;
  release(fence: Fence): Promise<void>;
  /** Gives a lease back inside a transaction of somebody else; `freed` is called when that was committed. */
  free(state: BatchState, fence: Fence): void;
  freed(fence: Fence): void;
  /** Gives everything back and stops the heartbeat. */
  close(): Promise<void>;
}

interface LeaseOptions {
  readonly database: Database;
  readonly writes: PostgresCommit;
  readonly clock: Clock;
  readonly writer: Writer;
}

/** Beside the writing connection, which may be waiting for a lock. */
const BEAT: Statement = { name: 'troupe-beat', text: 'UPDATE writer SET beat = clock_timestamp() WHERE id = $1' };
/** Rows of processes that died long ago and hold nothing are cleared away. */
const SWEEP: Statement = {
  name: 'troupe-sweep',
  text: `DELETE FROM writer WHERE beat < clock_timestamp() - interval '1 day'
         AND NOT EXISTS (SELECT 1 FROM lease WHERE lease.owner = writer.id)`,
};

export function createPostgresLeases({ database, writes, clock, writer }: LeaseOptions): Leases {
  /** With the epoch: a fence from before gives nothing back. */
  const held = new Map<RunId, number>();
  const renewMs = Math.min(limits.leaseRenewMs, Math.ceil(writer.leaseMs / 3));
  let stopBeating: (() => void) | undefined;
  let swept = false;

  const keepBeating = (): void => {
    stopBeating ??= clock.after(renewMs, () => {
      stopBeating = undefined;
      if (held.size === 0) return;
      // A beat that fails is made up for by the next one; if none succeeds the lease is lost, and the fence says so.
      database.rows(BEAT, [writer.id]).catch(() => undefined);
      if (!swept) database.rows(SWEEP, []).catch(() => undefined);
      swept = true;
      keepBeating();
    });
  };

  const take = (state: BatchState, session: SessionId, run: RunId, options?: AcquireOptions): LeaseOutcome => {
    const outcome = decideLease(state, session, run, options);
    if (outcome.kind === 'acquired') state.setLease(run, session, outcome.fence.epoch, writer);
    return outcome;
  };

  const free = (state: BatchState, fence: Fence): void => state.freeLease(fence, writer.id);
  const freed = ({ run, epoch }: Fence): void => {
    if (held.get(run) === epoch) held.delete(run);
  };

  return {
    acquire: (session, run, options) =>
      writes.submit({
        weight: 1,
        needs: { leasing: [session], leases: [run], parents: [run] },
        apply: (state) => take(state, session, run, options),
        after: (outcome) => {
          if (outcome.kind !== 'acquired') return;
          held.set(run, outcome.fence.epoch);
          keepBeating();
        },
      }),
    release: (fence) =>
      writes.submit({
        weight: 1,
        needs: { leases: [fence.run] },
        apply: (state) => free(state, fence),
        after: () => freed(fence),
      }),
    free,
    freed,
    close: async () => {
      stopBeating?.();
      held.clear();
      const goodbye = (state: BatchState): void => {
        state.goodbye = true;
      };
      await writes.submit({ weight: 1, needs: {}, apply: goodbye });
    },
  };
}
