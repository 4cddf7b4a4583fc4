/**
 * How a browser gets in without a token in an address, a log or a script's reach. A code that works once stands behind the `#` of
 * a link, where no server and no log sees it; the page swaps it for a cookie that scripts cannot read, and for a key that writes
 * need beside it: cookies go to every port of a host, what the page keeps does not.
 *
 * A cookie is signed, not stored: it says whose it is and until when. It dies with the secret that signed it, and with the token
 * of whoever it is for.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { Clock } from '../base/clock.ts';
import { parseJson } from '../base/json.ts';
import { limits } from '../base/limits.ts';
import type { Random } from '../base/random.ts';

export interface Login {
  readonly cookie: string;
  /** What writes with this cookie must carry. */
  readonly key: string;
  readonly expiresAt: number;
}

export interface Logins {
  /** A code for whoever has this name, good for one login within a few minutes. */
  code(name: string): { readonly code: string; readonly expiresAt: number };
  /** `undefined` when there is no such code, or not any more. */
  swap(code: string): (Login & { readonly name: string }) | undefined;
  /** Whose cookie it is, and whether this is the key that goes with it. */
  holder(cookie: string): { readonly name: string; hasKey(key: string): boolean } | undefined;
  end(cookie: string): void;
}

export interface LoginOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Signs cookies. */
  readonly secret: Uint8Array;
  /** What changes when the token of this name does; `undefined` when there is nobody of this name. */
  mark(name: string): string | undefined;
}

const CODE_BYTES = 24;
const claims = z.strictObject({ name: z.string(), until: z.number(), id: z.string() });

export function createLogins({ clock, random, secret, mark }: LoginOptions): Logins {
  const codes = new Map<string, { readonly name: string; readonly until: number }>();
  const ended = new Map<string, number>();
  const chance = (): string => Buffer.from(random.bytes(CODE_BYTES)).toString('base64url');
  const sign = (words: string): string => createHmac('sha256', secret).update(words).digest('base64url');
  const keyOf = (cookie: string): string => sign(`key ${cookie}`);
  const read = (cookie: string): z.infer<typeof claims> | undefined => {
    const [body = '', signature = '', ...rest] = cookie.split('.');
    const parsed = parseJson(Buffer.from(body, 'base64url').toString());
    const said = claims.safeParse(parsed.ok ? parsed.value : undefined);
    const known = said.success ? mark(said.data.name) : undefined;
    if (!said.success || known === undefined || rest.length > 0) return undefined;
    const isOurs = isSame(signature, sign(`cookie ${body} ${known}`));
    return isOurs && said.data.until > clock.now() && !ended.has(said.data.id) ? said.data : undefined;
  };
  return {
    code(name) {
      const [code, until] = [chance(), clock.now() + limits.loginCodeMs];
      codes.set(sign(`code ${code}`), { name, until });
      for (const oldest of codes.keys()) if (codes.size > limits.loginCodes) codes.delete(oldest);
      return { code, expiresAt: until };
    },
    swap(code) {
      const hash = sign(`code ${code.slice(0, limits.tokenCharacters)}`);
      const found = codes.get(hash);
      codes.delete(hash);
      const known = found === undefined ? undefined : mark(found.name);
      if (found === undefined || known === undefined || found.until <= clock.now()) return undefined;
      const until = clock.now() + limits.loginMs;
      const body = Buffer.from(JSON.stringify({ name: found.name, until, id: chance() })).toString('base64url');
      const cookie = `${body}.${sign(`cookie ${body} ${known}`)}`;
      return { name: found.name, cookie, key: keyOf(cookie), expiresAt: until };
    },
    holder(cookie) {
      const said = read(cookie.slice(0, limits.tokenCharacters));
      return said && { name: said.name, hasKey: (key) => isSame(key.slice(0, limits.tokenCharacters), keyOf(cookie)) };
    },
    end(cookie) {
      const said = read(cookie);
      if (said === undefined) return;
      ended.set(said.id, said.until);
      for (const [id, until] of ended) if (until <= clock.now() || ended.size > limits.loginsEnded) ended.delete(id);
    },
  };
}

function isSame(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}
