/**
 * The ledger: append-only, the single source of truth. What every store promises is written here and proved by the
 * checks in `test/conformance/ledger`.
 *
 * - Positions are assigned by the store, gap-free per session, also with many writers.
 * - An append is durable when its promise resolves; its events are visible all at once or not at all.
 * - A writer whose lease was taken over cannot append: the fence is checked in the same transaction.
 * - Whoever speaks to a run, and whoever ends it, can make the append depend on the other: of the two, one comes first and the
 *   other is told.
 * - Counters change in the same transaction as the events that explain them, and never pass their limit.
 * - Over all sessions, too, events have one order, which is stored: the feed. Those of a session are in it by their positions,
 *   and nothing ever comes before what was told from it once.
 */
import type { EventId, PayloadRef, RunId, SessionId } from '../base/ids.ts';
import type { EventType, Payloads, RunState } from '../events/catalogue.ts';
import type { Actor, LedgerEvent } from '../events/envelope.ts';
import type { Keeping } from './forgetting/port.ts';

/** Stands for a new event: what follows from it can name it as its cause without holding on to what it carries. */
export interface EventMark {
  readonly of: EventType;
}

/**
 * A new event's cause: an event already stored, or a new event (or its mark) that this process appended before this one, perhaps
 * not committed yet (the store knows the position it got). `null` only for the first event of a session.
 */
export type Cause = EventId | NewEvent | EventMark | null;

export type NewEvent = {
  [Type in EventType]: {
    readonly type: Type;
    readonly run: RunId;
    readonly actor: Actor;
    readonly cause: Cause;
    readonly mark?: EventMark | undefined;
    readonly payload: Payloads[Type];
    readonly step?: string | undefined;
    readonly tool?: string | undefined;
    /** Secrets are taken out of a text; bytes are stored as they are, so whoever gives them has seen to that. */
    readonly attachment?: string | Uint8Array | undefined;
    /** Milliseconds since 1970. */
    readonly at: number;
  };
}[EventType];

/** The right to write for a run and the runs of its tree, until somebody else takes it over. */
export interface Fence {
  readonly run: RunId;
  readonly epoch: number;
}

/** `name` is free; `add` may be negative; with `max`, an append that would pass it is refused whole. */
export interface CounterChange {
  readonly name: string;
  readonly add: number;
  readonly max?: number;
}

export interface Append {
  readonly session: SessionId;
  /** `null` only for inbound types, which come from outside the run: `inboundTypes` in events/catalogue.ts. */
  readonly fence: Fence | null;
  readonly events: readonly NewEvent[];
  readonly counters?: readonly CounterChange[];
  /** `power`: on the disk before the promise resolves, against loss of power too. Default `process`: safe against kill -9. */
  readonly sync?: 'process' | 'power';
  /** Refused with `ended` when this run has ended by then: what is said to it would not be heard any more. */
  readonly unended?: RunId;
  /** Refused with `unheard` when something of an inbound type came to the session after this position: hear it first. */
  readonly heard?: number;
  /** Gives the lease of the fence back in the same transaction. */
  readonly release?: boolean;
}

export type AppendOutcome =
  | { readonly kind: 'appended'; readonly events: readonly LedgerEvent[] }
  | { readonly kind: 'lease_lost'; readonly run: RunId }
  | { readonly kind: 'ended'; readonly run: RunId }
  /** `inbound` is the position of what came last. */
  | { readonly kind: 'unheard'; readonly inbound: number }
  | { readonly kind: 'over_limit'; readonly counter: string; readonly value: number; readonly add: number; readonly max: number };

export interface ReadQuery {
  readonly session: SessionId;
  /** Only events after this position. */
  readonly after?: number;
  readonly run?: RunId;
  /** Only events of this root run and of the runs below it. */
  readonly root?: RunId;
  readonly types?: readonly EventType[];
  readonly limit?: number;
  /**
   * For what runs, never for what is shown: payloads as they were appended, with their secrets. One that cannot be had exactly is
   * given as it was redacted, and says so (`inexact`).
   */
  readonly exact?: boolean;
  /** The newest first, instead of the oldest. */
  readonly newest?: boolean;
}

/** A place in the feed: text that only the store that gave it understands. */
export type FeedPlace = string;

export interface FeedQuery {
  /** Only what comes after this place; from the beginning without it. */
  readonly after?: FeedPlace | undefined;
  /** This place too. */
  readonly inclusive?: boolean;
  /** The newest first. */
  readonly newest?: boolean;
  readonly limit: number;
}

/** Where an event stands in the order of all: what it says, `read` tells. */
export interface FeedEntry {
  readonly place: FeedPlace;
  readonly session: SessionId;
  readonly position: number;
  readonly type: EventType;
}

export interface FeedPage {
  readonly entries: readonly FeedEntry[];
  /** Something is written already whose place is not certain yet: look again soon. */
  readonly pending: boolean;
}

/** One row per run, kept in step with the run's events: an index, rebuilt from them at any time. */
export interface RunRow {
  readonly run: RunId;
  readonly session: SessionId;
  readonly parent: RunId | null;
  readonly agent: string;
  readonly state: RunState;
  readonly startedAt: number;
  readonly endedAt: number | null;
  /** Who holds the lease now; `null` when nobody does. A dead owner is reported as `null`. */
  readonly owner: LeaseOwner | null;
  /** A dead owner never gave it back: whatever it was at was cut off. */
  readonly cutOff?: true;
}

export interface RunFilter {
  readonly run?: RunId;
  readonly session?: SessionId;
  /** Only runs without a parent. */
  readonly roots?: boolean;
  readonly agent?: string;
  readonly states?: readonly RunRow['state'][];
  /** Only those that began before this one: where the page before ended. A run that is not there has nothing before it. */
  readonly before?: RunId;
  /** Newest first. */
  readonly limit?: number;
}

export interface LeaseOwner {
  readonly id: string;
  readonly pid: number;
  readonly host: string;
}

export interface AcquireOptions {
  /**
   * Somebody else has decided who works on this run: the lease is taken whoever holds it, and a child run may have one of its
   * own. Whoever held it is fenced off.
   */
  readonly assigned?: boolean;
}

export type LeaseOutcome =
  /** `fresh`: neither the run nor its session has any event yet. */
  | { readonly kind: 'acquired'; readonly fence: Fence; readonly takenOver: boolean; readonly fresh?: true }
  | { readonly kind: 'held'; readonly owner: LeaseOwner }
  | { readonly kind: 'busy_session'; readonly run: RunId; readonly owner: LeaseOwner };

export interface LedgerStats {
  readonly sessions: number;
  readonly runs: number;
  readonly events: number;
  readonly payloads: number;
  readonly payloadBytes: number;
  readonly fileBytes: number;
  readonly databaseBytes: number;
}

export type VerifyReport =
  | {
      readonly kind: 'sound';
      readonly sessions: number;
      readonly events: number;
      readonly tombstones: number;
      readonly forgotten: number;
    }
  | { readonly kind: 'broken'; readonly event: EventId; readonly why: string }
  /** The events are as they were written, but what is kept beside them does not follow from them: `rebuild` sets it right. */
  | { readonly kind: 'drifted'; readonly rows: readonly DriftedRow[] }
  /** The file itself is damaged, as SQLite says. */
  | { readonly kind: 'damaged'; readonly why: string };

/** One value that follows from the events and is another. */
export interface DriftedRow {
  /** `feed` is the order of all events; its rows go by the name of their session. */
  readonly table: 'run' | 'session' | 'counter' | 'feed';
  readonly name: string;
  /** `name` when no event speaks of the row at all. */
  readonly column: string;
  readonly found: string | number | null;
  readonly expected: string | number | null;
  /** The last event that it follows from, if there is one. */
  readonly event: EventId | null;
}

export interface RetentionPolicy {
  /** Sessions whose last event is older lose their payloads, except pinned ones and ones with unfinished runs. */
  readonly olderThanMs: number;
  readonly now: number;
  readonly dryRun: boolean;
  /** Only these of them. */
  readonly only?: readonly SessionId[] | undefined;
  /** What is attached to events of some types has a time of its own; without this it goes with its session. */
  readonly attachments?: AttachmentRetention | undefined;
}

/** For attachments that are kept longer, or shorter, than the session that they are of. */
export interface AttachmentRetention {
  /** The types of events whose attachments these are. Their payloads stay, so that it is known what there was. */
  readonly types: readonly EventType[];
  /** Further types whose payloads stay. */
  readonly records: readonly EventType[];
  /** Stay, also when their session is collected. */
  readonly keep: readonly PayloadRef[];
  /** Go, also when their session is kept, unless something else holds the same bytes. */
  readonly drop: readonly PayloadRef[];
  /**
   * How far each session was looked at. Of one that has more events of these types since, a pin say, nothing is dropped; nor of
   * one that somebody works on, or that is pinned.
   */
  readonly upTo: ReadonlyMap<SessionId, number>;
}

export interface GcReport {
  readonly sessions: readonly SessionId[];
  readonly payloads: number;
  readonly bytes: number;
  readonly dryRun: boolean;
}

/** Everything that has happened, and the only thing that is stored. */
export interface Ledger extends Keeping {
  append(request: Append): Promise<AppendOutcome>;

  /** At most `limit` (default 1,000) events in order, payloads included. Looks at no more than the question is about. */
  read(query: ReadQuery): Promise<readonly LedgerEvent[]>;
  /** What was appended to any session, in the one order of the ledger. A place that is none of this store's gives nothing. */
  feed(query: FeedQuery): Promise<FeedPage>;
  /** Everything after `after`, then what comes, from any process, until `signal` aborts. Loses and repeats nothing. */
  tail(session: SessionId, after: number, signal: AbortSignal): AsyncIterable<LedgerEvent>;
  /**
   * Calls back when there may be something new in this session, or in any without one; from any process, and rather once too
   * often. Says only when to look: what there is, `read` tells. Returns what ends it.
   */
  onNews(session: SessionId | undefined, callback: () => void): () => void;
  /** Calls back soon after an event of an inbound type was appended to this session. Returns what ends it. */
  onInbound(session: SessionId, callback: () => void): () => void;
  /** Where the last event of an inbound type stands in the session, 0 without one: cheap enough to be asked again and again. */
  lastInbound(session: SessionId): Promise<number>;
  /** The bytes behind a reference; `undefined` when collected (a tombstone is left). */
  payload(ref: PayloadRef): Promise<Uint8Array | undefined>;
  /** Those of these whose bytes are there, by what the ledger knows: nothing is read. */
  held(refs: readonly PayloadRef[]): Promise<ReadonlySet<PayloadRef>>;

  runs(filter: RunFilter): Promise<readonly RunRow[]>;
  counter(name: string): Promise<number>;

  /** Takes the lease of a root run. A live owner keeps it; a dead one's is taken over and fenced off. */
  acquire(session: SessionId, run: RunId, options?: AcquireOptions): Promise<LeaseOutcome>;
  release(fence: Fence): Promise<void>;

  stats(): Promise<LedgerStats>;
  verify(session?: SessionId): Promise<VerifyReport>;
  /** Sets right what `verify` finds drifted; what has changed meanwhile stays. Gives what it found. */
  rebuild(): Promise<VerifyReport>;
  gc(policy: RetentionPolicy): Promise<GcReport>;
  /** Writes what is queued, gives leases back and closes. */
  close(): Promise<void>;
}
