/**
 * How a browser gets in without a token in an address, a log or a script's reach. A code that works once stands behind the `#` of
 * a link, where no server and no log sees it; the page swaps it for a cookie that scripts cannot read, and for a key that writes
 * need beside it: cookies go to every port of a host, what the page keeps does not.
 *
 * A cookie is signed, not stored: it says whose it is and until when. It dies with the secret that signed it, and with the token
 * of whoever it is for. Whoever has the secret, the owner on the machine of the server, makes codes as well: each names the
 * server that it is for, so that it works once.
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

/** What outlives a server, where there is a place for it. */
export interface LoginKeys {
  /** Signs cookies; with another one every login has ended. */
  secret(): Uint8Array;
  hasEnded(id: string): boolean;
  /** Before its time, which is `until`. */
  end(id: string, until: number): void;
}

export interface LoginOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly keys: LoginKeys;
  /** Known to whoever may make codes elsewhere; another one for each server. */
  readonly server: string;
  /** Whom such codes are for. */
  readonly owner: string;
  /** What changes when the token of this name does; `undefined` when there is nobody of this name. */
  mark(name: string): string | undefined;
}

const CODE_BYTES = 24;
export const SECRET_BYTES = 32;

/** Those of a server without a place of its own: they end with it. */
export function fleetingKeys(random: Random): LoginKeys {
  const secret = random.bytes(SECRET_BYTES);
  const ended = new Map<string, number>();
  return {
    secret: () => secret,
    hasEnded: (id) => ended.has(id),
    end(id, until) {
      ended.set(id, until);
      for (const oldest of ended.keys()) if (ended.size > limits.loginsEnded) ended.delete(oldest);
    },
  };
}

const chanceOf = (random: Random): string => Buffer.from(random.bytes(CODE_BYTES)).toString('base64url');
const signed = (secret: Uint8Array, words: string): string => createHmac('sha256', secret).update(words).digest('base64url');

/** A code for the owner of a server, made beside it. */
export function ownersCode(secret: Uint8Array, server: string, clock: Clock, random: Random): string {
  const body = `${clock.now() + limits.loginCodeMs}.${chanceOf(random)}`;
  return `${body}.${signed(secret, `owner ${server} ${body}`)}`;
}

const claims = z.strictObject({ name: z.string(), until: z.number(), id: z.string() });

export function createLogins(options: LoginOptions): Logins {
  const { clock, random, keys, mark } = options;
  const codes = new Map<string, CodeFor>();
  const owners = readOwnersCodes(options);
  const chance = (): string => chanceOf(random);
  const sign = (words: string): string => signed(keys.secret(), words);
  const keyOf = (cookie: string): string => sign(`key ${cookie}`);
  const read = (cookie: string): z.infer<typeof claims> | undefined => {
    const [body = '', signature = '', ...rest] = cookie.split('.');
    const parsed = parseJson(Buffer.from(body, 'base64url').toString());
    const said = claims.safeParse(parsed.ok ? parsed.value : undefined);
    const known = said.success ? mark(said.data.name) : undefined;
    if (!said.success || known === undefined || rest.length > 0) return undefined;
    const isOurs = isSame(signature, sign(`cookie ${body} ${known}`));
    return isOurs && said.data.until > clock.now() && !keys.hasEnded(said.data.id) ? said.data : undefined;
  };
  return {
    code(name) {
      const [code, until] = [chance(), clock.now() + limits.loginCodeMs];
      codes.set(sign(`code ${code}`), { name, until });
      for (const oldest of codes.keys()) if (codes.size > limits.loginCodes) codes.delete(oldest);
      return { code, expiresAt: until };
    },
    swap(code) {
      const given = code.slice(0, limits.tokenCharacters);
      const hash = sign(`code ${given}`);
      const found = codes.get(hash) ?? owners(given);
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
      if (said !== undefined) keys.end(said.id, said.until);
    },
  };
}

interface CodeFor {
  readonly name: string;
  readonly until: number;
}

/** Each once: what was used is known for as long as it could be used again. */
function readOwnersCodes({ clock, keys, server, owner }: LoginOptions): (code: string) => CodeFor | undefined {
  const used = new Map<string, number>();
  return (code) => {
    const [time = '', id = '', signature = '', ...rest] = code.split('.');
    const until = Number(time);
    const now = clock.now();
    for (const [old, end] of used) if (end <= now) used.delete(old);
    const isOurs = isSame(signature, signed(keys.secret(), `owner ${server} ${time}.${id}`));
    if (!isOurs || rest.length > 0 || !(until <= now + limits.loginCodeMs) || used.has(id)) return undefined;
    if (used.size >= limits.loginCodes) return undefined;
    used.set(id, until);
    return { name: owner, until };
  };
}

function isSame(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}
