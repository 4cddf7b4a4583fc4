/**
 * Following a ledger that other machines write to. The server tells a listening connection of every commit, with session
 * and position. What is told while nobody is connected is lost, so after every connect everybody looks for themselves;
 * a slow check goes beside it.
 */
import type { Clock } from '../../base/clock.ts';
import type { SessionId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import { followSession } from '../follow.ts';
import type { Ledger } from '../port.ts';
import { integer, text } from '../rows.ts';
import { createListeners, EVERY_SESSION, onLater } from '../watch.ts';
import type { Database, Statement } from './connection.ts';
import { createListening } from './listen.ts';
import type { BatchState } from './state.ts';
import { channels } from './write.ts';

interface PostgresNotices {
  tail(session: SessionId, after: number, signal: AbortSignal): AsyncIterable<LedgerEvent>;
  onNews(session: SessionId | undefined, callback: () => void): () => void;
  onInbound(session: SessionId, callback: () => void): () => void;
  /** This process committed a batch. */
  committed(state: BatchState): void;
  close(): Promise<void>;
}

interface NoticesOptions {
  readonly database: Database;
  readonly schema: string;
  readonly name: string;
  readonly clock: Clock;
  readonly read: Ledger['read'];
}

const INBOUND: Statement = {
  name: 'troupe-inbound',
  text: 'SELECT name, inbound FROM session WHERE name = ANY($1::text[])',
};

export function createPostgresNotices(options: NoticesOptions): PostgresNotices {
  const { database, clock } = options;
  const channel = channels(options.schema);
  const closing = new AbortController();
  const inbound = createInbound(database, clock, closing.signal);
  const tails = createListeners(
    () => listening.want(channel.events),
    () => listening.unwant(channel.events),
  );
  const waiting = createListeners(
    () => {
      listening.want(channel.inbound);
      inbound.start(waiting.names);
    },
    () => {
      listening.unwant(channel.inbound);
      inbound.stop();
    },
  );
  inbound.onNews(waiting.tell);
  const listening = createListening({
    database,
    clock,
    name: options.name,
    onNews: (from, payload) => {
      const [session = '', position = ''] = payload.split(' ');
      if (from === channel.events) {
        tails.tell(session);
        tails.tell(EVERY_SESSION);
      } else inbound.heard(session, Number(position));
    },
    onConnected: () => {
      tails.names().forEach(tails.tell);
      inbound.look();
    },
  });
  return {
    tail: (session, after, signal) => {
      const ended = AbortSignal.any([signal, closing.signal]);
      return followSession(options.read, session, after, ended, clock, (wake) => tails.add(session, wake));
    },
    onNews: (session, callback) => tails.add(session ?? EVERY_SESSION, callback),
    onInbound: (session, callback) => onLater(waiting, session, () => inbound.known(session), callback),
    committed: (state) => {
      for (const { name, head, inbound: position, changed } of state.sessions.values()) {
        if (!changed || head === 0) continue;
        tails.tell(name);
        inbound.heard(name, position);
      }
      tails.tell(EVERY_SESSION);
    },
    close: async () => {
      closing.abort();
      inbound.stop();
      await listening.close();
    },
  };
}

/**
 * The last inbound position of each session, as far as it was heard of. Whoever drives a run has just appended to its
 * session, so its position is known when it begins to listen, and nothing that comes later can be taken for old. Of a
 * session that was never heard of, earlier inbound events are told too: rather once too often.
 */
function createInbound(database: Database, clock: Clock, closing: AbortSignal) {
  const positions = new Map<string, number>();
  let tell = (_session: string): void => undefined;
  let names: (() => readonly string[]) | undefined;
  let cancel: (() => void) | undefined;

  const heard = (session: string, position: number): void => {
    const before = positions.get(session) ?? -1;
    if (!(position > before)) return;
    if (positions.size >= limits.memoEntries) forgetOthers();
    positions.set(session, position);
    tell(session);
  };
  const forgetOthers = (): void => {
    const wanted = new Set(names?.() ?? []);
    for (const name of [...positions.keys()]) if (!wanted.has(name)) positions.delete(name);
  };
  const look = (): void => {
    const wanted = names?.() ?? [];
    if (wanted.length === 0 || closing.aborted) return;
    // A look that fails is made up for by the next one.
    database.rows(INBOUND, [wanted]).then(
      (rows) => {
        for (const row of rows) heard(text(row, 'name'), integer(row, 'inbound'));
      },
      () => undefined,
    );
  };
  const lookNowAndThen = (): void => {
    cancel = clock.after(limits.safetyCheckMs, () => {
      look();
      lookNowAndThen();
    });
  };
  return {
    heard,
    look,
    known: (session: string): number => positions.get(session) ?? 0,
    onNews: (listener: (session: string) => void): void => {
      tell = listener;
    },
    start: (wanted: () => readonly string[]): void => {
      names = wanted;
      cancel?.();
      lookNowAndThen();
    },
    stop: (): void => {
      cancel?.();
      names = undefined;
    },
  };
}
