/**
 * One connection to Redis that is made when it is needed and made anew when it broke. Nothing waits for it long: whoever asks
 * while it is away is told so at once, and only now and then is it tried again. Trouble is a value.
 */
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import { limits } from '../../base/limits.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import type { RedisAddress } from './address.ts';

export type RedisClient = Awaited<ReturnType<typeof openClient>>;

export interface RedisTrouble {
  /** `refused`: it is there and said no; the same again would be refused again. */
  readonly kind: 'away' | 'refused';
  readonly message: string;
}

export interface RedisConnection {
  /** One exchange, bounded in time. */
  use<Value>(work: (client: RedisClient) => Promise<Value>): Promise<Result<Value, RedisTrouble>>;
  /** How long nobody tries to connect any more after what went wrong; 0 when it may be tried. */
  retryInMs(): number;
  /** How often it was made. After another time it may be another server, or one that has lost what it held. */
  made(): number;
  close(): void;
}

export function createRedisConnection(address: RedisAddress, clock: Clock): RedisConnection {
  let connecting: Promise<Result<RedisClient, RedisTrouble>> | undefined;
  let current: RedisClient | undefined;
  let failures = 0;
  let made = 0;
  let again = 0;
  let last = '';
  const drop = (client: RedisClient): void => {
    if (current === client) {
      current = undefined;
      connecting = undefined;
    }
    if (client.isOpen) client.destroy();
  };
  const away = (why: string): Result<never, RedisTrouble> => {
    failures += 1;
    again = clock.elapsed() + Math.min(limits.redisRetryMs * 2 ** Math.min(failures - 1, 16), limits.redisRetryMaxMs);
    last = `${address.shown}: ${why}`;
    return fail({ kind: 'away', message: last });
  };
  const connect = async (): Promise<Result<RedisClient, RedisTrouble>> => {
    const client = await openClient(address);
    // Without a listener an error would end the process. Whoever uses the connection is told in its own place.
    client.on('error', () => clock.after(0, () => drop(client)));
    client.on('ready', () => client.unref());
    current = client;
    const connected = await within(clock, limits.redisConnectMs, client.connect());
    if (connected.ok) {
      failures = 0;
      made += 1;
      return ok(client);
    }
    drop(client);
    return away(connected.error);
  };
  return {
    async use(work) {
      if (connecting === undefined) {
        if (again > clock.elapsed()) return fail({ kind: 'away', message: last });
        connecting = connect();
      }
      const client = await connecting;
      if (!client.ok) {
        connecting = undefined;
        return client;
      }
      const done = await within(clock, limits.redisCommandMs, work(client.value));
      if (done.ok) return done;
      // An answer that says no leaves the connection as it was; anything else leaves nothing to rely on.
      if (client.value.isReady && isRefusal(done.error))
        return fail({ kind: 'refused', message: `${address.shown}: ${done.error}` });
      drop(client.value);
      return away(done.error);
    },
    retryInMs: () => (connecting === undefined ? Math.max(0, again - clock.elapsed()) : 0),
    made: () => made,
    close: () => {
      if (current !== undefined) drop(current);
      again = Number.POSITIVE_INFINITY;
    },
  };
}

/** The client is loaded only where a Redis is set. */
async function openClient(address: RedisAddress) {
  const { createClient } = await import('@redis/client');
  return createClient({
    url: address.location(),
    name: 'troupe',
    disableOfflineQueue: true,
    socket: { connectTimeout: limits.redisConnectMs, reconnectStrategy: false },
  });
}

const isRefusal = (message: string): boolean =>
  /^[A-Z]{2,}\b/.test(message) && !/^(?:E[A-Z]+|LOADING|MASTERDOWN|READONLY)\b/.test(message);

/** What came of it, or why nothing did in time. */
function within<Value>(clock: Clock, ms: number, work: Promise<Value>): Promise<Result<Value, string>> {
  return new Promise((resolve) => {
    const cancel = clock.after(ms, () => resolve(fail(`no answer within ${ms} ms`)), 'hold');
    const settle = (outcome: Result<Value, string>): void => {
      cancel();
      resolve(outcome);
    };
    work.then(
      (value) => settle(ok(value)),
      (error: unknown) => settle(fail(messageOf(error) || 'the connection was closed')),
    );
  });
}
