/**
 * One connection that listens, while anybody wants it to. Many runs are over before anybody could have sent them a word, so
 * it is opened a moment after the first wish and stays a while after the last. A lost one is opened again, ever more patiently.
 */
import type { Client } from 'pg';
import type { Clock } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import type { Database } from './connection.ts';

interface Listening {
  want(channel: string): void;
  unwant(channel: string): void;
  close(): Promise<void>;
}

interface ListeningOptions {
  readonly database: Database;
  readonly clock: Clock;
  /** How the server's list of connections calls it. */
  readonly name: string;
  readonly onNews: (channel: string, payload: string) => void;
  /** What was told before is lost: time to look. */
  readonly onConnected: () => void;
}

const CONNECT_AFTER_MS = 20;
const RETRY_MS = { first: 100, most: 5_000 } as const;

export function createListening({ database, clock, name, onNews, onConnected }: ListeningOptions): Listening {
  const wanted = new Set<string>();
  let open: Client | undefined;
  let connecting = false;
  let closed = false;
  let cancel: (() => void) | undefined;

  const soon = (delayMs: number, act: () => void): void => {
    cancel?.();
    cancel = clock.after(delayMs, act);
  };
  const hangUp = async (): Promise<void> => {
    const last = open;
    open = undefined;
    await last?.end().catch(() => undefined);
  };

  const listen = async (client: Client): Promise<void> => {
    for (const channel of wanted) await client.query(`LISTEN "${channel}"`);
    onConnected();
  };
  const connect = async (): Promise<void> => {
    const client = await database.connect(name, false);
    client.on('notification', ({ channel, payload }) => onNews(channel, payload ?? ''));
    client.once('end', () => {
      if (open !== client) return;
      open = undefined;
      attempt(RETRY_MS.first);
    });
    open = client;
    await listen(client);
  };
  const attempt = (pause: number): void => {
    if (closed || wanted.size === 0 || connecting || open !== undefined) return;
    connecting = true;
    connect()
      .catch(hangUp)
      .finally(() => {
        connecting = false;
        if (closed) void hangUp();
        else if (open === undefined) soon(pause, () => attempt(Math.min(pause * 2, RETRY_MS.most)));
      });
  };

  return {
    want: (channel) => {
      wanted.add(channel);
      if (open === undefined) return soon(CONNECT_AFTER_MS, () => attempt(RETRY_MS.first));
      cancel?.();
      listen(open).catch(() => undefined);
    },
    unwant: (channel) => {
      wanted.delete(channel);
      if (wanted.size === 0) return soon(limits.safetyCheckMs, () => void hangUp());
      open?.query(`UNLISTEN "${channel}"`).catch(() => undefined);
    },
    close: async () => {
      closed = true;
      cancel?.();
      await hangUp();
    },
  };
}
