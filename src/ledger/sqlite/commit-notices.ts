/**
 * Following a ledger: `tail` for readers of a session, `onInbound` for engines that wait for an answer or a signal.
 * News only says when to look; a tail reads by its position.
 */
import { existsSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import type { Clock } from '../../base/clock.ts';
import type { SessionId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import { followSession } from '../follow.ts';
import { integer } from '../rows.ts';
import { createListeners, EVERY_SESSION, onLater, ring, type Watch, watchFile } from '../watch.ts';
import type { Reader } from './read.ts';

export interface CommitNotices {
  tail(session: SessionId, after: number, signal: AbortSignal): AsyncIterable<LedgerEvent>;
  onNews(session: SessionId | undefined, callback: () => void): () => void;
  onInbound(session: SessionId, callback: () => void): () => void;
  /** This process committed events of the session. */
  committed(session: SessionId, inbound: boolean): void;
  close(): void;
}

/** How long a session may be listened to before the doorbell is watched. */
const WATCH_AFTER_MS = 20;
/** SQLite's log changes a moment before the commit in it can be seen, longer when it is flushed to the disk in between. */
const LOOK_AGAIN_MS = [5, 25, 100, 400] as const;

type Reads = Pick<Reader, 'read' | 'lastInbound'>;

export function createCommitNotices(database: DatabaseSync, path: string, reader: Reads, clock: Clock): CommitNotices {
  const bell = path === ':memory:' ? undefined : `${path}-bell`;
  const closing = new AbortController();
  const lastInbound = (session: SessionId): number =>
    closing.signal.aborted ? 0 : unlessBusy(() => reader.lastInbound(session), 0);

  const tails = createListeners(
    () => log.start(),
    () => log.stop(),
  );
  const log = watchLog(database, path, clock, () => tails.names().forEach(tails.tell));
  const waiting = createListeners(
    () => doorbell.start(),
    () => doorbell.stop(),
  );
  const ofOthers = othersCommits(database);
  const doorbell = patiently(
    // Our own rings are heard here, too: those who wait were told by the commit itself.
    watchBell(bell, clock, () => {
      if (ofOthers.look()) waiting.names().forEach(waiting.tell);
    }),
    clock,
  );

  return {
    tail: (session, after, signal) => {
      const ended = AbortSignal.any([signal, closing.signal]);
      return followSession(reader.read, session, after, ended, clock, (wake) => tails.add(session, wake));
    },
    onNews: (session, callback) => tails.add(session ?? EVERY_SESSION, callback),
    onInbound: (session, callback) => onLater(waiting, session, () => lastInbound(session), callback),
    committed: (session, inbound) => {
      tails.tell(session);
      tails.tell(EVERY_SESSION);
      if (!inbound) return;
      waiting.tell(session);
      if (bell !== undefined) ring(bell);
    },
    close: () => {
      closing.abort();
      log.stop();
      doorbell.close();
    },
  };
}

/** The bell is made when it is first listened to; whoever rings it only touches it. */
function watchBell(bell: string | undefined, clock: Clock, onNews: () => void): Watch {
  const rings = watchFile(bell, clock, onNews);
  return {
    start: () => {
      if (bell !== undefined && !existsSync(bell)) ring(bell);
      rings.start();
      // Somebody may have rung before anybody listened.
      onNews();
    },
    stop: rings.stop,
  };
}

/**
 * Many runs are over before anybody could have sent them a word, and another often follows at once. So watching begins a
 * moment after the first listener has come, and ends a while after the last has gone.
 */
function patiently(watch: Watch, clock: Clock): Watch & { close(): void } {
  let cancel: (() => void) | undefined;
  const soon = (delayMs: number, act: () => void): void => {
    cancel?.();
    cancel = clock.after(delayMs, act);
  };
  return {
    start: () => soon(WATCH_AFTER_MS, watch.start),
    stop: () => soon(limits.safetyCheckMs, watch.stop),
    close: () => {
      cancel?.();
      watch.stop();
    },
  };
}

/** News is looked for again and again: when SQLite cannot answer just now, the next look will do. */
function unlessBusy(look: () => number, otherwise: number): number {
  try {
    return look();
  } catch {
    return otherwise;
  }
}

/** Whether another process has committed since it was last looked: what we commit does not change the version that we see. */
function othersCommits(database: DatabaseSync): { look(): boolean } {
  const version = database.prepare('PRAGMA data_version');
  let seen = 0;
  return {
    look() {
      const before = seen;
      seen = unlessBusy(() => integer(version.get() ?? {}, 'data_version'), seen);
      return seen !== before;
    },
  };
}

/** Tells of commits of other processes. Our own change the log too. */
function watchLog(database: DatabaseSync, path: string, clock: Clock, onCommit: () => void): Watch {
  const ofOthers = othersCommits(database);
  let cancel: (() => void) | undefined;
  /** It changed again right after the first look: what comes in the same moment is looked for once. */
  let changed: boolean | undefined;

  const look = (attempt: number): void => {
    if (ofOthers.look()) onCommit();
    const delay = LOOK_AGAIN_MS[attempt];
    changed = attempt === 0 ? false : undefined;
    cancel?.();
    cancel = delay === undefined ? undefined : clock.after(delay, () => look(changed === true ? 0 : attempt + 1));
  };
  const onChange = (): void => {
    if (changed === undefined) look(0);
    else changed = true;
  };
  const watch = watchFile(path === ':memory:' ? undefined : `${path}-wal`, clock, onChange);
  return {
    start: watch.start,
    stop: () => {
      watch.stop();
      cancel?.();
      cancel = undefined;
      changed = undefined;
    },
  };
}
