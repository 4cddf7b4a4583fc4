/**
 * Who may write for a run. A lease names its owner and an epoch; every acquisition raises the epoch, so an owner that was
 * thought dead and comes back is fenced off (invariant I7). An owner lives while its heartbeat is fresh and, on this
 * host, its process exists. One heartbeat row serves all leases of a process.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { Clock } from '../../base/clock.ts';
import type { RunId, SessionId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import type { AcquireOptions, Append, AppendOutcome, Fence, LeaseOutcome, LeaseOwner } from '../port.ts';
import { integer, integerOrNull, type Row, text, textOrNull } from '../rows.ts';
import { decideLease, type HeldLease, type LeaseView, processExists } from '../rules/leases.ts';
import type { GroupCommit } from './group-commit.ts';
import type { Memo } from './memo.ts';

interface Leases {
  acquire(session: SessionId, run: RunId, options?: AcquireOptions): Promise<LeaseOutcome>;
  release(fence: Fence): Promise<void>;
  /** Gives the lease back in the transaction of an append that asks for it; `freed` is called when that was committed. */
  freeWith(request: Append, outcome: AppendOutcome): AppendOutcome;
  freed(request: Pick<Append, 'release' | 'fence'>): void;
  /** Gives everything back and stops the heartbeat. */
  close(): Promise<void>;
}

interface LeaseOptions {
  readonly database: DatabaseSync;
  readonly writes: GroupCommit;
  readonly memo: Memo;
  readonly clock: Clock;
  readonly owner: LeaseOwner;
}

/** Rows of processes that died long ago and hold nothing are cleared away. */
const FORGET_OWNER_MS = 24 * 60 * 60 * 1000;

export function createLeases(options: LeaseOptions): Leases {
  const { database, writes, memo, clock, owner } = options;
  const sql = prepareStatements(database);
  /** With the epoch: a fence from before gives nothing back. */
  const held = new Map<RunId, number>();
  let registered = false;
  let stopBeating: (() => void) | undefined;

  const beat = (): void => {
    if (!registered) sql.sweep.run(clock.now() - FORGET_OWNER_MS);
    registered = true;
    sql.beat.run(owner.id, owner.pid, owner.host, clock.now());
  };

  const keepBeating = (): void => {
    stopBeating ??= clock.after(limits.leaseRenewMs, () => {
      stopBeating = undefined;
      if (held.size === 0) return;
      // A beat that fails is made up for by the next one; if none succeeds the lease is lost, and the fence says so.
      writes.submit({ weight: 1, power: false, apply: beat }).catch(() => undefined);
      keepBeating();
    });
  };

  const heldLease = (row: Row): HeldLease => ({
    run: text(row, 'run') as RunId,
    epoch: integer(row, 'epoch'),
    owner: row['owner'] === null ? null : ownerOf(row),
    live: liveness(clock, owner)(row),
  });
  const view: LeaseView = {
    run: memo.run,
    session: memo.session,
    held: (run) => {
      const row = sql.lease.get(run);
      return row === undefined ? undefined : heldLease(row);
    },
    othersHeld: (session, run) => sql.othersInSession.all(session, run).map(heldLease),
    unfinished: (session) => sql.unfinished.all(session).map((row) => text(row, 'name') as RunId),
  };

  const take = (session: SessionId, run: RunId, options: AcquireOptions | undefined): LeaseOutcome => {
    const outcome = decideLease(view, session, run, options);
    if (outcome.kind !== 'acquired') return outcome;
    beat();
    sql.take.run(run, session, outcome.fence.epoch, owner.id);
    memo.forgetLease(run);
    return outcome;
  };

  const free = ({ run, epoch }: Fence): void => {
    sql.free.run(run, epoch, owner.id);
    memo.forgetLease(run);
  };

  const freed = ({ fence, release }: Pick<Append, 'release' | 'fence'>): void => {
    if (release === true && fence !== null && held.get(fence.run) === fence.epoch) held.delete(fence.run);
  };

  return {
    acquire: (session, run, options) =>
      writes.submit({
        weight: 1,
        power: false,
        apply: () => take(session, run, options),
        after: (outcome) => {
          if (outcome.kind !== 'acquired') return;
          held.set(run, outcome.fence.epoch);
          keepBeating();
        },
      }),
    release: (fence) =>
      writes.submit({ weight: 1, power: false, apply: () => free(fence), after: () => freed({ fence, release: true }) }),
    freeWith: (request, outcome) => {
      if (outcome.kind === 'appended' && request.release === true && request.fence !== null) free(request.fence);
      return outcome;
    },
    freed,
    close: async () => {
      stopBeating?.();
      held.clear();
      if (!registered) return;
      await writes.submit({
        weight: 1,
        power: false,
        apply: () => {
          sql.freeAll.run(owner.id);
          sql.forgetOwner.run(owner.id);
          memo.forget();
        },
      });
    },
  };
}

function prepareStatements(database: DatabaseSync) {
  const columns = 'lease.run, lease.epoch, lease.owner, owner.pid, owner.host, owner.beat';
  return {
    lease: database.prepare(`SELECT ${columns} FROM lease LEFT JOIN owner ON owner.id = lease.owner WHERE lease.run = ?`),
    othersInSession: database.prepare(
      `SELECT ${columns} FROM lease JOIN owner ON owner.id = lease.owner WHERE lease.session = ? AND lease.run <> ?`,
    ),
    unfinished: database.prepare(
      `SELECT run.name FROM run JOIN session ON session.id = run.session
       WHERE session.name = ? AND run.root = run.id AND run.started_at IS NOT NULL AND run.ended_at IS NULL`,
    ),
    take: database.prepare(
      `INSERT INTO lease (run, session, epoch, owner) VALUES (?, ?, ?, ?)
       ON CONFLICT (run) DO UPDATE SET session = excluded.session, epoch = excluded.epoch, owner = excluded.owner`,
    ),
    free: database.prepare('UPDATE lease SET owner = NULL WHERE run = ? AND epoch = ? AND owner = ?'),
    freeAll: database.prepare('UPDATE lease SET owner = NULL WHERE owner = ?'),
    forgetOwner: database.prepare('DELETE FROM owner WHERE id = ?'),
    sweep: database.prepare('DELETE FROM owner WHERE beat < ? AND id NOT IN (SELECT owner FROM lease WHERE owner IS NOT NULL)'),
    beat: database.prepare(
      'INSERT INTO owner (id, pid, host, beat) VALUES (?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET beat = excluded.beat',
    ),
  };
}

/**
 * Says of a row with owner, pid, host and beat whether that owner lives. A beat in the future (the clock was set back)
 * counts as fresh for no longer than one in the past does.
 */
export function liveness(clock: Clock, self: LeaseOwner): (row: Row) => boolean {
  return (row) => {
    if (typeof row['beat'] !== 'number') return false;
    if (Math.abs(clock.now() - row['beat']) > limits.leaseMs) return false;
    return text(row, 'host') !== self.host || processExists(integer(row, 'pid'));
  };
}

/** A row whose owner was cleared away still names it. */
const ownerOf = (row: Row): LeaseOwner => ({
  id: text(row, 'owner'),
  pid: integerOrNull(row, 'pid') ?? 0,
  host: textOrNull(row, 'host') ?? '',
});
