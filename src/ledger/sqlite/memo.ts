/**
 * What the writer remembers between transactions, so that an append reads nothing it already knows: the head of each
 * session, the numbers of runs, the epochs of leases, the values of counters. All of it is thrown away as soon as
 * another process has written (SQLite's data version tells), after a rollback, and when it grows too large.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { RunId, SessionId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { bytes, hex, integer, integerOrNull, type Row, text, textOrNull } from '../rows.ts';

export interface RememberedSession {
  readonly id: number;
  head: number;
  chain: string;
  inbound: number;
}

export interface RememberedRun {
  readonly id: number;
  readonly session: number;
  /** The number of the root run; its own for a root. */
  readonly root: number;
  endedAt: number | null;
}

interface LeaseState {
  readonly session: string;
  readonly epoch: number;
  /** `null` when it was given back. */
  readonly owner: string | null;
}

export interface Memo {
  session(name: SessionId): RememberedSession | undefined;
  addSession(name: SessionId, state: RememberedSession): RememberedSession;
  run(name: RunId): RememberedRun | undefined;
  addRun(name: RunId, run: RememberedRun): void;
  lease(run: RunId): LeaseState | undefined;
  forgetLease(run: RunId): void;
  counter(name: string): number;
  setCounter(name: string, value: number): void;
  /** First in every transaction. */
  begin(): void;
  /** The data version that the last transaction began with: another one means that somebody else has written since. */
  version(): number;
  /** Last in every transaction: writes changed counters. */
  flush(): void;
  forget(): void;
}

export function createMemo(database: DatabaseSync): Memo {
  const sessions = new Map<string, RememberedSession>();
  const runs = new Map<string, RememberedRun>();
  const leases = new Map<string, LeaseState | undefined>();
  const counters = new Map<string, number>();
  const changedCounters = new Set<string>();
  const sql = prepareStatements(database);
  let seenVersion = -1;

  const forget = (): void => {
    for (const remembered of [sessions, runs, leases, counters, changedCounters]) remembered.clear();
  };
  const size = (): number => sessions.size + runs.size + leases.size + counters.size;

  return {
    session: (name) => sessions.get(name) ?? remember(sessions, name, sessionState(sql.session.get(name))),
    addSession: (name, state) => {
      sessions.set(name, state);
      return state;
    },
    run: (name) => runs.get(name) ?? remember(runs, name, runState(sql.run.get(name))),
    addRun: (name, run) => runs.set(name, run),
    lease: (run) => (leases.has(run) ? leases.get(run) : remember(leases, run, leaseState(sql.lease.get(run)))),
    forgetLease: (run) => leases.delete(run),
    counter: (name) => {
      const row = counters.has(name) ? undefined : sql.counter.get(name);
      return counters.get(name) ?? remember(counters, name, row === undefined ? 0 : integer(row, 'value')) ?? 0;
    },
    setCounter: (name, value) => {
      counters.set(name, value);
      changedCounters.add(name);
    },
    begin: () => {
      const version = integer(sql.version.get() ?? {}, 'data_version');
      if (version !== seenVersion || size() > limits.memoEntries) forget();
      seenVersion = version;
    },
    version: () => seenVersion,
    flush: () => {
      for (const name of changedCounters) sql.saveCounter.run(name, counters.get(name) ?? 0);
      changedCounters.clear();
    },
    forget,
  };
}

function prepareStatements(database: DatabaseSync) {
  return {
    version: database.prepare('PRAGMA data_version'),
    session: database.prepare(
      `SELECT session.id, session.inbound, event.position AS head, event.chain FROM session JOIN event ON event.session = session.id
       WHERE session.name = ? ORDER BY event.position DESC LIMIT 1`,
    ),
    run: database.prepare('SELECT id, session, root, ended_at FROM run WHERE name = ?'),
    lease: database.prepare('SELECT session, epoch, owner FROM lease WHERE run = ?'),
    counter: database.prepare('SELECT value FROM counter WHERE name = ?'),
    saveCounter: database.prepare(
      'INSERT INTO counter (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
    ),
  };
}

function remember<Value>(known: Map<string, Value>, name: string, value: Value | undefined): Value | undefined {
  if (value !== undefined) known.set(name, value);
  return value;
}

function sessionState(row: Row | undefined): RememberedSession | undefined {
  if (row === undefined) return undefined;
  const [id, head, inbound] = [integer(row, 'id'), integer(row, 'head'), integer(row, 'inbound')];
  return { id, head, inbound, chain: hex(bytes(row, 'chain')) };
}

function runState(row: Row | undefined): RememberedRun | undefined {
  if (row === undefined) return undefined;
  const [id, session, root] = [integer(row, 'id'), integer(row, 'session'), integer(row, 'root')];
  return { id, session, root, endedAt: integerOrNull(row, 'ended_at') };
}

function leaseState(row: Row | undefined): LeaseState | undefined {
  return row === undefined
    ? undefined
    : { session: text(row, 'session'), epoch: integer(row, 'epoch'), owner: textOrNull(row, 'owner') };
}
