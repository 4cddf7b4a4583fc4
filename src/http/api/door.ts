/**
 * Who asks. A program has a token in a header. A browser has a cookie, which it sends whoever made it ask: so what comes with one
 * must come from our own page, and a write must also carry the key that only that page has.
 */
import { fail, ok, type Result } from '../../base/result.ts';
import type { McpCaller } from '../../protocols/mcp/needs.ts';
import type { Logins } from '../logins.ts';
import { bearerToken, type Tokens } from '../tokens.ts';
import type { Refusal } from './refusals.ts';

export const COOKIE = 'troupe_login';
export const KEY_HEADER = 'x-troupe-key';

export interface ApiDoor {
  readonly tokens: Tokens;
  readonly logins: Logins;
  /** Where people come through a proxy: an origin that is ours as well. */
  readonly proxied?: string | undefined;
  callerOf(name: string): McpCaller;
}

export function callerIn({ tokens, logins, callerOf, proxied }: ApiDoor, request: Request): Result<McpCaller, Refusal> {
  const { headers } = request;
  const token = bearerToken(headers.get('authorization') ?? undefined);
  if (token !== undefined) {
    const name = tokens.ownerOf(token);
    return name === undefined ? fail(unknown('The token is not known here.')) : ok(callerOf(name));
  }
  const header = (name: string): string | undefined => headers.get(name) ?? undefined;
  const cookie = cookieIn(header);
  const holder = cookie === undefined ? undefined : logins.holder(cookie);
  if (holder === undefined) return fail(unknown('This needs a token or a login.'));
  if (!isOwnPage(header, proxied))
    return fail(refusedAs('foreign_page', 'A page of another origin asks in the name of this login.'));
  const reads = request.method === 'GET' || request.method === 'HEAD';
  if (!reads && !holder.hasKey(headers.get(KEY_HEADER) ?? ''))
    return fail(refusedAs('no_key', `What changes something needs the header ${KEY_HEADER}, with the key that the login gave.`));
  return ok(callerOf(holder.name));
}

/** Tokens are those of the whole life of a server; a login may have ended meanwhile. */
export function isStillIn({ logins }: Pick<ApiDoor, 'logins'>, { headers }: Request): boolean {
  if (bearerToken(headers.get('authorization') ?? undefined) !== undefined) return true;
  const cookie = cookieIn((name) => headers.get(name) ?? undefined);
  return cookie !== undefined && logins.holder(cookie) !== undefined;
}

type Header = (name: string) => string | undefined;

export function cookieIn(header: Header): string | undefined {
  for (const part of (header('cookie') ?? '').split(';')) {
    const [name, value] = part.trim().split('=', 2);
    if (name === COOKIE && value !== undefined) return value;
  }
  return undefined;
}

/**
 * To another port of the same host a browser sends cookies as well: the whole origin has to be ours. What a proxy says of where a
 * request came from (`x-forwarded-…`) is not asked: anybody can say it, and the settings know it.
 */
export function isOwnPage(header: Header, proxied?: string): boolean {
  const site = header('sec-fetch-site');
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return false;
  const origin = header('origin');
  if (origin === undefined) return true;
  const host = URL.parse(origin)?.host;
  if (proxied !== undefined && host === URL.parse(proxied)?.host) return origin === proxied;
  return host === header('host')?.toLowerCase();
}

const unknown = (message: string): Refusal => ({
  status: 401,
  code: 'unauthenticated',
  message,
  fix: 'Send Authorization: Bearer <token>, or open a link that troupe console prints.',
});

const refusedAs = (code: string, message: string): Refusal => ({ status: 403, code, message });
