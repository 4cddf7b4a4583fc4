/**
 * How the threads and processes of a session stand, in memory. It is a fold of the session's events that is brought up to date
 * by reading what is new, so asking again about a session where nothing happened costs next to nothing. While somebody waits,
 * the ledger's tail feeds it. Sessions that nobody asked about for longest are forgotten and folded anew when they are needed.
 */
import { TroupeError } from '../../base/errors.ts';
import type { SessionId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { createRecentlyUsed } from '../../base/recently-used.ts';
import type { EventType } from '../../events/catalogue.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import { readPages } from '../../ledger/pages.ts';
import type { Ledger } from '../../ledger/port.ts';
import { createProcesses, type Processes, processTypes } from '../../projections/processes.ts';
import { createSessionThreads, type SessionThreads, threadTypes } from '../../projections/threads.ts';

export interface SessionState {
  readonly threads: SessionThreads;
  readonly processes: Processes;
  /** Afterwards everything is in it that was committed before the call. */
  refresh(): Promise<void>;
  /** Keeps it up to date and calls back after each change, with an error when that has come to an end. Returns what ends it. */
  follow(onChange: (error?: unknown) => void): () => void;
}

export interface Sessions {
  /** Brought up to date. */
  open(session: SessionId): Promise<SessionState>;
}

const TYPES: readonly EventType[] = [...threadTypes, ...processTypes];
const known: ReadonlySet<EventType> = new Set(TYPES);

export function createSessions(ledger: Ledger): Sessions {
  const states = createRecentlyUsed<SessionId, SessionState>(limits.messageSessionsKept);
  const trim = (): void => {
    let kept = 0;
    for (const [, state] of states.entries()) kept += state.threads.size();
    for (const [session, state] of states.entries()) {
      if (kept <= limits.messageCharactersKept || states.size === 1) return;
      kept -= state.threads.size();
      states.delete(session);
    }
  };
  return {
    async open(session) {
      const state = states.get(session) ?? createSessionState(ledger, session);
      states.set(session, state);
      await state.refresh();
      trim();
      return state;
    },
  };
}

function createSessionState(ledger: Ledger, session: SessionId): SessionState {
  const threads = createSessionThreads();
  const processes = createProcesses();
  const listeners = new Set<(error?: unknown) => void>();
  let position = 0;
  let reading: Promise<void> = Promise.resolve();
  let stopTail: (() => void) | undefined;

  /** Reads and the tail may bring the same event; both come in order and leave nothing out, so the position decides. */
  const take = (event: LedgerEvent): boolean => {
    if (event.position <= position) return false;
    position = event.position;
    if (!known.has(event.event_type)) return false;
    threads.apply(event);
    processes.apply(event);
    return true;
  };
  const tell = (error?: unknown): void => {
    for (const listener of [...listeners]) listener(error);
  };
  const readNew = async (): Promise<void> => {
    for await (const page of readPages(ledger, { session, after: position, types: TYPES })) {
      // Whoever waits hears of it here: when the tail brings the same events later, they are not new any more.
      if (page.filter(take).length > 0) tell();
    }
  };
  const tail = async (signal: AbortSignal): Promise<void> => {
    for await (const event of ledger.tail(session, position, signal)) if (take(event)) tell();
    if (!signal.aborted) throw new TroupeError('ledger_closed', 'The ledger was closed while somebody waited.');
  };
  const startTail = (): (() => void) => {
    const stop = new AbortController();
    tail(stop.signal).catch((error: unknown) => {
      if (!stop.signal.aborted) tell(error);
    });
    return () => stop.abort();
  };

  return {
    threads,
    processes,
    refresh() {
      // One after the other, and each looks anew: what was committed before the call is in what it reads.
      reading = reading.catch(() => undefined).then(readNew);
      return reading;
    },
    follow(onChange) {
      listeners.add(onChange);
      stopTail ??= startTail();
      return () => {
        listeners.delete(onChange);
        if (listeners.size > 0) return;
        stopTail?.();
        stopTail = undefined;
      };
    },
  };
}
