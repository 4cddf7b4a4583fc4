/**
 * What copying needs of a store: its rows, in pages, as they are. Events keep their positions, their causes and their
 * hashes, so a copy is the same ledger. Leases stay behind: whoever goes on with a run takes its lease anew.
 */
import type { PayloadRef, RunId, SessionId } from '../../base/ids.ts';
import type { LeaseOwner } from '../port.ts';
import type { Row } from '../rows.ts';
import type { ChainedEvent } from '../rules/stored-event.ts';

export interface CopiedSession {
  readonly session: SessionId;
  readonly head: number;
  /** The hash of the event at `head`. */
  readonly chain: string;
  readonly sealed: number;
  readonly seal: string;
  readonly inbound: number;
  readonly collected: number;
  readonly pinned: boolean;
}

export interface CopiedRun {
  readonly run: RunId;
  readonly root: RunId;
  readonly first: number;
  readonly parent: RunId | null;
  readonly agent: string | null;
  readonly role: string | null;
  readonly state: string | null;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
}

export interface PayloadSize {
  readonly ref: PayloadRef;
  readonly bytes: number;
  /** A tombstone. */
  readonly gone: boolean;
}

export interface CopiedPayload extends PayloadSize {
  /** `undefined` for a tombstone. */
  readonly body: Uint8Array | undefined;
}

export interface CopiedCounter {
  readonly name: string;
  readonly value: number;
}

/** What people decided about a session, as its rows say it. */
export interface CopiedKeeping {
  readonly holds: readonly Row[];
  readonly forgotten: readonly Row[];
}

/** A session with all its events. */
export interface WholeSession {
  readonly session: CopiedSession;
  readonly runs: readonly CopiedRun[];
  readonly events: readonly ChainedEvent[];
}

export interface CopyStore {
  /** How messages call it: without secrets. */
  readonly shown: string;
  /** Names in the order the sessions were made, a page at a time, after the one given. */
  sessionsAfter(session: SessionId | undefined): Promise<readonly SessionId[]>;
  session(session: SessionId): Promise<CopiedSession | undefined>;
  /** Who works on it at this moment. */
  liveOwner(session: SessionId): Promise<LeaseOwner | undefined>;
  /** In the order they were made. */
  runs(session: SessionId): Promise<readonly CopiedRun[]>;
  events(session: SessionId, after: number, limit: number): Promise<readonly ChainedEvent[]>;
  sizes(refs: readonly PayloadRef[]): Promise<readonly PayloadSize[]>;
  body(ref: PayloadRef): Promise<Uint8Array | undefined>;
  keeping(session: SessionId): Promise<CopiedKeeping>;
  /** By name, a page at a time. */
  countersAfter(name: string): Promise<readonly CopiedCounter[]>;

  writePayloads(payloads: readonly CopiedPayload[]): Promise<void>;
  /** In one transaction: the session as it is after these events, its runs, and the events. */
  writeEvents(session: CopiedSession, runs: readonly CopiedRun[], events: readonly ChainedEvent[]): Promise<void>;
  /** Adds what is not there yet; a hold that was released is released. */
  writeKeeping(session: SessionId, keeping: CopiedKeeping): Promise<void>;
  /**
   * In one transaction: sessions that are not there yet, whole. Nothing is written, and `there` names one, when one is there or
   * one of their runs is in another session.
   */
  writeWhole(sessions: readonly WholeSession[]): Promise<{ readonly there: SessionId | RunId | undefined }>;
  /** What was spent is never forgotten: of two values the larger one stays. */
  writeCounters(counters: readonly CopiedCounter[]): Promise<void>;
  close(): Promise<void>;
}
