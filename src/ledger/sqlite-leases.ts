/**
 * Who may write for a run. A lease names its owner and an epoch; every acquisition raises the epoch, so an owner that was
 * thought dead and comes back is fenced off (invariant I7). An owner lives while its heartbeat is fresh and, on this
 * host, its process exists. One heartbeat row serves all leases of a process.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { Clock } from '../base/clock.ts';
import { codeOf } from '../base/errors.ts';
import type { RunId, SessionId } from '../base/ids.ts';
import { limits } from '../base/limits.ts';
import type { GroupCommit } from './group-commit.ts';
import type { Fence, LeaseOutcome, LeaseOwner } from './port.ts';
import { badAppend } from './prepared-event.ts';
import type { Memo } from './sqlite-memo.ts';
import { integer, type Row, text } from './sqlite-rows.ts';

interface Leases {
  acquire(session: SessionId, run: RunId): Promise<LeaseOutcome>;
  release(fence: Fence): Promise<void>;
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

/** Stands for the owner of an unfinished run that nobody holds at the moment. */
const NOBODY: LeaseOwner = { id: 'none', pid: 0, host: '' };

/** Rows of processes that died long ago and hold nothing are cleared away. */
const FORGET_OWNER_MS = 24 * 60 * 60 * 1000;

export function createLeases(options: LeaseOptions): Leases {
  const { database, writes, memo, clock, owner } = options;
  const sql = prepareStatements(database);
  const held = new Set<RunId>();
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

  const take = (session: SessionId, run: RunId): LeaseOutcome => {
    const known = memo.run(run);
    if (known !== undefined && known.root !== known.id) throw badAppend(`${run} is a child run: its root's lease covers it`);
    if (known !== undefined && known.session !== memo.session(session)?.id) throw badAppend(`${run} is not in ${session}`);
    const isLive = liveness(clock, owner);
    const mine = sql.lease.get(run);
    if (mine !== undefined && mine['owner'] !== null && isLive(mine)) return { kind: 'held', owner: ownerOf(mine) };
    const busy = sql.othersInSession.all(session, run).find(isLive);
    if (busy !== undefined) return { kind: 'busy_session', run: text(busy, 'run') as RunId, owner: ownerOf(busy) };
    const unfinished = sql.unfinished.all(session).map((row) => text(row, 'name') as RunId);
    const other = unfinished.find((name) => name !== run);
    if (other !== undefined && !unfinished.includes(run)) return { kind: 'busy_session', run: other, owner: NOBODY };
    const epoch = (mine === undefined ? 0 : integer(mine, 'epoch')) + 1;
    beat();
    sql.take.run(run, session, epoch, owner.id);
    memo.forgetLease(run);
    return { kind: 'acquired', fence: { run, epoch }, takenOver: mine !== undefined && mine['owner'] !== null };
  };

  const free = ({ run, epoch }: Fence): void => {
    sql.free.run(run, epoch, owner.id);
    memo.forgetLease(run);
  };

  return {
    acquire: (session, run) =>
      writes.submit({
        weight: 1,
        power: false,
        apply: () => take(session, run),
        after: (outcome) => {
          if (outcome.kind !== 'acquired') return;
          held.add(run);
          keepBeating();
        },
      }),
    release: (fence) =>
      writes.submit({ weight: 1, power: false, apply: () => free(fence), after: () => void held.delete(fence.run) }),
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

function processExists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

const ownerOf = (row: Row): LeaseOwner => ({ id: text(row, 'owner'), pid: integer(row, 'pid'), host: text(row, 'host') });
