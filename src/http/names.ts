/**
 * Whom a request says it is for, and from which page it comes. A page in somebody's browser can be made to call a server on
 * the same machine under a name of its own (DNS rebinding): so the name must be one of ours, and so must the page.
 */
import { isIP } from 'node:net';

export interface AllowedNames {
  readonly names: ReadonlySet<string>;
  /** Any address that is not a name: when all of the machine's addresses are served. An address cannot be rebound. */
  readonly addresses: boolean;
}

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];
const EVERYWHERE = new Set(['0.0.0.0', '::']);

/** `host` is what the server is bound to; `more` are names that lead to it; `url` is where people come through a proxy. */
export function allowedNames(host: string, more: readonly string[] = [], url?: string): AllowedNames {
  const proxied = url === undefined ? undefined : URL.parse(url)?.hostname;
  const all = [...LOOPBACK, bracketed(host), ...more.map(bracketed), ...(proxied === undefined ? [] : [proxied])];
  const names = all.map((name) => name.toLowerCase());
  return { names: new Set(names), addresses: EVERYWHERE.has(host) };
}

export function isLoopback(host: string): boolean {
  return host.toLowerCase() === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

/** An address of version 6 as it stands in a URL. */
export function bracketed(host: string): string {
  return isIP(host) === 6 ? `[${host}]` : host;
}

export function isAllowedHost(header: string | undefined, allowed: AllowedNames): boolean {
  // Whatever else a URL may hold would make two readers see two names.
  if (header === undefined || !/^[\w.:[\]-]{1,255}$/.test(header)) return false;
  return isAllowedUrl(`http://${header}`, allowed);
}

/** A request without an origin is not from a page. */
export function isAllowedOrigin(header: string | undefined, allowed: AllowedNames): boolean {
  if (header === undefined) return true;
  return /^https?:\/\/[\w.:[\]-]{1,255}$/i.test(header) && isAllowedUrl(header, allowed);
}

function isAllowedUrl(text: string, { names, addresses }: AllowedNames): boolean {
  const url = URL.parse(text);
  if (url === null || url.hostname === '') return false;
  return names.has(url.hostname) || (addresses && isIP(url.hostname.replace(/^\[|\]$/g, '')) !== 0);
}
