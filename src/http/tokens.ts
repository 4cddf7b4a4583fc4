/**
 * Tokens and whose they are. Only their hashes are kept, and every one is compared in constant time, so that neither a dump
 * of memory nor the time of an answer tells much about them.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { limits } from '../base/limits.ts';
import { fail, ok, type Result } from '../base/result.ts';

export interface Tokens {
  /** Nobody needs a token. */
  readonly open: boolean;
  /** The name of whoever holds this token. */
  ownerOf(token: string): string | undefined;
  /** What changes when the token of this name does; `undefined` without one. */
  markOf(name: string): string | undefined;
}

export interface GivenToken {
  readonly name: string;
  readonly token: string;
}

/** A token, or its SHA-256 in hexadecimal digits. */
export type NamedToken = GivenToken | { readonly name: string; readonly sha256: string };

export function createTokens(named: readonly NamedToken[]): Tokens {
  const hashes = named.map((one) => ({ name: one.name, hash: Buffer.from(sha256Of(one), 'hex') }));
  return {
    open: named.length === 0,
    ownerOf(token) {
      const given = hashOf(token.slice(0, limits.tokenCharacters + 1));
      let owner: string | undefined;
      for (const { name, hash } of hashes) if (timingSafeEqual(hash, given)) owner ??= name;
      return owner;
    },
    markOf: (name) => hashes.find((one) => one.name === name)?.hash.toString('hex'),
  };
}

export function sha256Of(one: NamedToken): string {
  return 'token' in one ? hashOf(one.token).toString('hex') : one.sha256;
}

/** The token of `Authorization: Bearer …`. */
export function bearerToken(header: string | undefined): string | undefined {
  return /^bearer +([\w.~+/=-]+) *$/i.exec(header ?? '')?.[1];
}

const NAME = /^[\p{L}\p{N}][\p{L}\p{N}._-]{0,99}$/u;
const TOKEN = /^[\w.~+/=-]+$/;
/** Shorter ones can be guessed. */
const TOKEN_MIN = 16;

/** `alice=…,bob=…`. */
export function parseTokens(text: string): Result<readonly GivenToken[], string> {
  const named: GivenToken[] = [];
  for (const entry of text.split(',')) {
    const [name = '', ...rest] = entry.trim().split('=');
    const token = rest.join('=');
    if (!isCallerName(name)) return fail(`"${name}" is not a name for a caller`);
    if (isReservedName(name)) return fail(reservedText(name));
    const problem = tokenProblem(token);
    if (problem !== undefined) return fail(`the token of ${name} ${problem}`);
    if (named.some((other) => other.name === name || other.token === token))
      return fail(`${name} shares its name or its token with another caller`);
    named.push({ name, token });
  }
  return named.length > limits.callersPerServer ? fail(`there are more than ${limits.callersPerServer} callers`) : ok(named);
}

export function isCallerName(name: string): boolean {
  return NAME.test(name);
}

/** Who acts in the ledger is told by these: a caller of that name would look like the owner, or like Troupe itself. */
const RESERVED = new Set(['user', 'system', 'architect', 'executor']);

export const isReservedName = (name: string): boolean => RESERVED.has(name.toLowerCase());

export function reservedText(name: string): string {
  const owner = name.toLowerCase() === 'user' ? '; the token of the owner belongs into TROUPE_TOKEN' : '';
  return `"${name}" is reserved and cannot be the name of a caller${owner}`;
}

export function tokenProblem(token: string): string | undefined {
  if (token.length < TOKEN_MIN) return `has fewer than ${TOKEN_MIN} characters`;
  if (token.length > limits.tokenCharacters) return `has more than ${limits.tokenCharacters} characters`;
  return TOKEN.test(token) ? undefined : 'has characters that a header cannot carry; use letters, digits and - . _ ~ + / =';
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
