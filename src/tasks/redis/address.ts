/**
 * Where the Redis is that holds copies of tasks: `redis://user@host:6379/0`, with TLS `rediss://…`. The password stands in the
 * address or in a variable; what is shown has none.
 */
import type { Environment } from '../../base/environment.ts';
import { TroupeError } from '../../base/errors.ts';
import type { Secret } from '../../base/secrets/redact.ts';
import { canBeSecret } from '../../base/secrets/values.ts';

/** The whole address; wins over the settings. */
export const REDIS_VARIABLE = 'TROUPE_REDIS';
export const REDIS_PASSWORD_VARIABLE = 'TROUPE_REDIS_PASSWORD';

export interface RedisAddress {
  /** For people and logs. */
  readonly shown: string;
  /** For whoever connects: may hold a password. A function, so that printing the settings cannot show it. */
  readonly location: () => string;
  readonly secrets: () => readonly Secret[];
}

export const isRedisAddress = (text: string): boolean =>
  /^rediss?:\/\/[^\s]+$/.test(text) && URL.canParse(text) && /^\/?\d*$/.test(new URL(text).pathname);

/** The text is not repeated when it is wrong: it may hold a password. */
export function parseRedisAddress(text: string, env: Environment): RedisAddress {
  if (!isRedisAddress(text))
    throw new TroupeError('config', 'The address of the Redis for tasks is not right', {
      fix: `Write redis://user@host:6379/0 or rediss://…, and give the password in ${REDIS_PASSWORD_VARIABLE}.`,
    });
  const url = new URL(text);
  const given = env[REDIS_PASSWORD_VARIABLE] || undefined;
  if (url.password === '' && given !== undefined) url.password = encodeURIComponent(given);
  const user = url.username === '' ? '' : `${url.username}@`;
  const shown = `${url.protocol}//${user}${url.host}${url.pathname}`;
  const password = decoded(url.password);
  return {
    shown,
    location: () => url.href,
    secrets: () => (canBeSecret(password) ? [{ name: 'redis-password', value: password }] : []),
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
