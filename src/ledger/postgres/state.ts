/**
 * What one transaction works on: the rows it may need, loaded under their locks, changed in memory by one job after the
 * other, and written back together. So a batch takes the same number of round trips however many appends are in it.
 *
 * Locks are advisory, taken in one order, before anything is read: they also cover sessions and counters that do not
 * exist yet, and two batches cannot wait for each other in a circle.
 */
import type { PayloadRef, RunId, SessionId } from '../../base/ids.ts';
import type { ChainedFields } from '../../events/envelope.ts';
import type { Fence, LeaseOwner } from '../port.ts';
import type { WriterView } from '../rules/append.ts';
import type { HeldLease, LeaseView } from '../rules/leases.ts';
import type { PayloadBody } from '../rules/prepared-event.ts';

/** What a job may look at or change. */
export interface Needs {
  readonly sessions?: readonly SessionId[];
  /** Runs that are made when they are not there, parents before their children. */
  readonly runs?: readonly RunId[];
  /** Runs that are only looked at. */
  readonly parents?: readonly RunId[];
  readonly leases?: readonly RunId[];
  /** Sessions of which every lease and every unfinished run matters. */
  readonly leasing?: readonly SessionId[];
  readonly counters?: readonly string[];
  readonly bodies?: readonly PayloadBody[];
}

export interface PostgresSession {
  readonly id: number;
  readonly name: SessionId;
  head: number;
  chain: string;
  sealed: number;
  seal: string;
  inbound: number;
  /** `inbound` as it was loaded. */
  readonly inboundBefore: number;
  pinned: boolean;
  changed: boolean;
}

export interface PostgresRun {
  readonly id: number;
  readonly name: RunId;
  session: number;
  root: number;
  /** 0: it does not exist yet, only its number is reserved. */
  first: number;
  parent: number | null;
  agent: string | null;
  role: string | null;
  state: string | null;
  startedAt: number | null;
  endedAt: number | null;
  changed: boolean;
}

export interface LeaseState extends HeldLease {
  readonly session: SessionId;
  readonly changed: boolean;
}

interface StoredBody {
  readonly body: PayloadBody;
  /** A tombstone that gets its bytes back. */
  readonly revived: boolean;
}

interface WrittenEvent {
  readonly session: number;
  readonly run: number;
  readonly fields: ChainedFields;
  readonly chain: string;
}

/** The rows of one batch. */
export interface BatchRows {
  readonly sessions: Map<SessionId, PostgresSession>;
  readonly runs: Map<RunId, PostgresRun>;
  readonly leases: Map<RunId, LeaseState>;
  readonly counters: Map<string, number>;
  /** Where the payloads are that are already stored. */
  readonly places: Map<PayloadRef, number>;
  /** The number of the last batch of this writer that was committed. */
  readonly lastBatch: number;
}

/** The rows, what the rules of appends and leases see of them, and what has to be written. */
export interface BatchState extends WriterView, LeaseView, BatchRows {
  session(name: SessionId): PostgresSession | undefined;
  run(name: RunId): PostgresRun | undefined;
  lease(run: RunId): ReturnType<WriterView['lease']>;
  setCounter(name: string, value: number): void;
  setLease(run: RunId, session: SessionId, epoch: number, owner: LeaseOwner): void;
  freeLease(fence: Fence, owner: string): void;
  readonly changedCounters: Set<string>;
  readonly bodies: Map<PayloadRef, StoredBody>;
  readonly events: WrittenEvent[];
  /** Leases of this writer to give back, unless somebody has taken them over. */
  readonly freed: Fence[];
  /** The writer says goodbye: its leases are given back and its row goes. */
  goodbye: boolean;
}

export function createBatchState(rows: BatchRows): BatchState {
  const { sessions, runs, leases, counters } = rows;
  const changedCounters = new Set<string>();
  const freed: Fence[] = [];
  return {
    ...rows,
    changedCounters,
    bodies: new Map(),
    events: [],
    freed,
    goodbye: false,
    session: (name) => existing(sessions.get(name), (session) => session.head > 0),
    run: (name) => existing(runs.get(name), (run) => run.first > 0),
    lease: (run) => {
      const lease = leases.get(run);
      return lease === undefined ? undefined : { ...lease, owner: lease.owner?.id ?? null };
    },
    counter: (name) => counters.get(name) ?? 0,
    setCounter: (name, value) => {
      counters.set(name, value);
      changedCounters.add(name);
    },
    held: (run) => leases.get(run),
    othersHeld: (session, run) => [...leases.values()].filter((lease) => lease.session === session && lease.run !== run),
    unfinished: (name) => {
      const id = sessions.get(name)?.id;
      const isUnfinished = (run: PostgresRun): boolean =>
        run.session === id && run.root === run.id && run.startedAt !== null && run.endedAt === null;
      return [...runs.values()].filter(isUnfinished).map((run) => run.name);
    },
    setLease: (run, session, epoch, owner) => {
      leases.set(run, { run, session, epoch, owner, live: true, changed: true });
    },
    freeLease: (fence, owner) => {
      const lease = leases.get(fence.run);
      if (lease?.epoch !== fence.epoch || lease.owner?.id !== owner) return;
      leases.set(fence.run, { ...lease, owner: null, live: false });
      freed.push(fence);
    },
  };
}

function existing<Value>(value: Value | undefined, exists: (value: Value) => boolean): Value | undefined {
  return value !== undefined && exists(value) ? value : undefined;
}
