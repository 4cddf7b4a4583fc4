/**
 * Words between processes on any machines that share a ledger in Postgres, by its notices: nothing is stored, and what nobody
 * listens to is gone. Whoever watches says so, and again now and then, because one that was killed does not say goodbye; whoever
 * drives runs asks once who watches, and hears of it from then on. While nobody does, nothing is sent and no model streams.
 */
import type { Clock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import type { Random } from '../base/random.ts';
import type { LivePiece } from '../engine/port.ts';
import type { Database } from '../ledger/postgres/connection.ts';
import { gathered } from './gathered.ts';
import type { LiveOptions } from './live-channel.ts';
import { noticesOf, readNotice } from './notices.ts';
import type { LiveChannel } from './port.ts';
import { inWholeWords } from './whole-words.ts';

export interface PostgresLiveOptions extends Omit<LiveOptions, 'folder'> {
  readonly url: string;
  readonly clock: Clock;
}

type Tell = (piece: LivePiece) => void;
type Use = (act: (opened: Opened) => void, failed?: () => void) => void;

const NAME_BYTES = 12;
const nameFrom = (random: Random): string => Buffer.from(random.bytes(NAME_BYTES)).toString('base64url');

/** Connects when somebody watches or drives. */
export function createPostgresLive(options: PostgresLiveOptions): LiveChannel {
  const { clock, redact, watch } = options;
  const own = nameFrom(options.random);
  const watchers = createWatchers(clock);
  const hearing = new Set<Tell>();
  let isDriving = false;
  let opening: Promise<Opened> | undefined;
  let closed = false;

  const opened = (): Promise<Opened> => {
    opening ??= open(options, own, { told, connected }).catch((error: unknown) => {
      opening = undefined;
      throw error;
    });
    return opening;
  };
  /** Where it cannot be done nobody is told: the ledger says so loudly enough. */
  const use: Use = (act, failed = () => undefined) => {
    if (!closed) opened().then(act, failed);
  };
  const say = (word: string): void => use(({ send }) => send('watchers', [`${word} ${own}`]));
  const connected = (): void => {
    if (hearing.size > 0) say('here');
    if (isDriving) say('who');
  };
  const told = (channel: Channel, notice: string): void => {
    if (channel === 'watchers') {
      const [word, who = ''] = notice.split(' ');
      if (who === own) return;
      if (word === 'here') watchers.here(who);
      if (word === 'gone') watchers.gone(who);
      if (word === 'who' && hearing.size > 0) say('here');
      return;
    }
    const heard = readNotice(notice);
    if (heard === undefined || heard.from === own) return;
    for (const piece of heard.pieces) for (const tell of hearing) tell(piece);
  };
  const speak = createSpeaking(own, use);
  const outside = gathered(clock, limits.liveGatherMs, inWholeWords(redact, speak));
  return {
    outside() {
      if (!isDriving) use(({ want }) => want('watchers'));
      isDriving = true;
      return watchers.any() ? outside : undefined;
    },
    hear(tell) {
      hearing.add(tell);
      use(({ want }) => (['watchers', 'words'] as const).forEach(want));
      const stopBeating = beating(clock, () => say('here'));
      const stop = watch(inWholeWords(redact, tell));
      return () => {
        stop();
        stopBeating();
        if (!hearing.delete(tell) || hearing.size > 0) return;
        say('gone');
        use(({ unwant }) => {
          unwant('words');
          if (!isDriving) unwant('watchers');
        });
      };
    },
    async close() {
      if (closed) return;
      closed = true;
      const last = await opening?.catch(() => undefined);
      await last?.close();
    },
  };
}

/** Those who said within the last while that they watch. */
function createWatchers(clock: Clock) {
  const until = new Map<string, number>();
  return {
    here: (who: string): void => {
      if (until.has(who) || until.size < limits.liveWatchers) until.set(who, clock.elapsed() + 3 * limits.liveHereMs);
    },
    gone: (who: string): void => void until.delete(who),
    any: (): boolean => {
      for (const [who, end] of until) if (end < clock.elapsed()) until.delete(who);
      return until.size > 0;
    },
  };
}

function beating(clock: Clock, beat: () => void): () => void {
  let cancel = (): void => undefined;
  const next = (): void => {
    cancel = clock.after(limits.liveHereMs, () => {
      beat();
      next();
    });
  };
  next();
  return () => cancel();
}

/** One message at a time. What comes meanwhile goes together in the next, and what is too much is dropped. */
function createSpeaking(own: string, use: Use): Tell {
  let [pending, characters, isSending]: [LivePiece[], number, boolean] = [[], 0, false];
  const taken = (): readonly LivePiece[] => {
    const pieces = pending;
    [pending, characters] = [[], 0];
    return pieces;
  };
  const sent = (): void => {
    isSending = false;
    if (pending.length > 0) next();
  };
  const failed = (): void => {
    taken();
    isSending = false;
  };
  const next = (): void => {
    isSending = true;
    use(({ send }) => send('words', noticesOf(own, taken()), sent), failed);
  };
  return (piece) => {
    const length = piece.delta.type === 'tool' ? piece.delta.name.length : piece.delta.text.length;
    if (characters + length > limits.liveUnsentBytes) return;
    pending.push(piece);
    characters += length;
    if (!isSending) next();
  };
}

type Channel = 'watchers' | 'words';

interface Opened {
  want(channel: Channel): void;
  unwant(channel: Channel): void;
  send(channel: Channel, notices: readonly string[], done?: () => void): void;
  close(): Promise<void>;
}

interface Hears {
  told(channel: Channel, notice: string): void;
  connected(): void;
}

const NOTIFY = { name: 'troupe-live', text: 'SELECT pg_notify($1, notice) FROM unnest($2::text[]) AS notice' };

async function open({ url, clock }: PostgresLiveOptions, own: string, hears: Hears): Promise<Opened> {
  const { parsePostgresAddress } = await import('../ledger/postgres/address.ts');
  const { openDatabase } = await import('../ledger/postgres/connection.ts');
  const { createListening } = await import('../ledger/postgres/listen.ts');
  const address = parsePostgresAddress(url);
  const database: Database = await openDatabase(address, { clock, readOnly: false });
  const channels = { watchers: `troupe_watch_${address.schema}`, words: `troupe_words_${address.schema}` } as const;
  const listening = createListening({
    ...{ database, clock, name: `troupe words ${own}` },
    onNews: (channel, notice) => hears.told(channel === channels.words ? 'words' : 'watchers', notice),
    onConnected: hears.connected,
  });
  return {
    want: (channel) => listening.want(channels[channel]),
    unwant: (channel) => listening.unwant(channels[channel]),
    send(channel, notices, done = () => undefined) {
      const sent = database.rows(NOTIFY, [channels[channel], notices]);
      sent.then(done, done);
    },
    async close() {
      await listening.close();
      await database.close();
    },
  };
}
