/**
 * `fetch` for the SDK's transports: to addresses that were looked at first, without redirects, bounded in bytes. What goes wrong
 * is thrown with whether the request can have arrived.
 */
import type { ClientRequest, IncomingMessage } from 'node:http';
import { pipeline, Readable, Transform } from 'node:stream';
import { messageOf } from '../../base/errors.ts';
import { limits } from '../../base/limits.ts';
import { type Address, reachableAddresses } from '../../network/addresses.ts';
import { WayFailed } from './failures.ts';

/** The connection never came about. */
const NEVER_THERE: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
]);

const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

/** `inside`: whether it may be in a network of one's own. */
export function guardedFetch(inside: boolean): typeof fetch {
  return async (input, init = {}) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const { signal } = init;
    const addresses = await reachableAddresses(url.hostname, inside);
    if (!addresses.ok) {
      const { kind, message } = addresses.error;
      throw new WayFailed(kind === 'refused' ? 'refused' : 'network', message, true);
    }
    signal?.throwIfAborted();
    const response = await asked(url, init, addresses.value);
    refuseDoors(url, response);
    const headers = new Headers();
    for (const [name, value] of Object.entries(response.headers)) if (value !== undefined) headers.set(name, String(value));
    const status = response.statusCode ?? 0;
    return new Response(WITHOUT_BODY.has(status) ? null : counted(response), { status, headers });
  };
}

async function asked(url: URL, init: RequestInit, addresses: readonly Address[]): Promise<IncomingMessage> {
  const { request } = url.protocol === 'https:' ? await import('node:https') : await import('node:http');
  return new Promise((resolve, reject) => {
    const outgoing: ClientRequest = request(url, {
      method: init.method ?? 'GET',
      ...(init.signal ? { signal: init.signal } : {}),
      // A pool could hand out a connection to an address that was not looked at.
      agent: false,
      lookup: (_host, options, callback) => {
        const [first] = addresses;
        if (options.all === true) callback(null, [...addresses]);
        else callback(null, first?.address ?? '', first?.family);
      },
      headers: { 'user-agent': 'troupe', ...Object.fromEntries(new Headers(init.headers)), 'accept-encoding': 'identity' },
    });
    outgoing.once('response', resolve);
    outgoing.once('error', (error: NodeJS.ErrnoException) => {
      if (init.signal?.aborted === true) reject(error);
      else reject(new WayFailed('network', `${url.host}: ${messageOf(error)}`, NEVER_THERE.has(error.code ?? '')));
    });
    outgoing.end(typeof init.body === 'string' ? init.body : undefined);
  });
}

/** Answers that are no answers of the protocol. */
function refuseDoors({ host }: URL, response: IncomingMessage): void {
  const status = response.statusCode ?? 0;
  const failed = DOORS[status] ?? (status >= 300 && status < 400 ? ELSEWHERE : undefined);
  if (failed === undefined) return;
  response.destroy();
  throw new WayFailed(failed.kind, `${host} ${failed.says} (${status}).`, failed.unsent);
}

type Door = { readonly kind: WayFailed['failure']['kind']; readonly says: string; readonly unsent: boolean };
const ELSEWHERE: Door = { kind: 'refused', says: 'sends to another place, and nobody is followed there', unsent: true };
const DOORS: Readonly<Record<number, Door>> = {
  401: { kind: 'auth', says: 'does not know you', unsent: true },
  403: { kind: 'auth', says: 'does not let you in', unsent: true },
  429: { kind: 'rate_limited', says: 'is asked too often', unsent: true },
  502: { kind: 'overloaded', says: 'does not reach the agent behind it', unsent: false },
  // A gateway says it, too, when whoever is behind it died with the message.
  503: { kind: 'overloaded', says: 'has no room', unsent: false },
  504: { kind: 'timeout', says: 'waits too long for the agent behind it', unsent: false },
};

/** A connection that breaks off breaks the stream off, too. */
function counted(response: IncomingMessage): ReadableStream<Uint8Array> {
  let bytes = 0;
  const most = limits.peerStreamBytes;
  const counter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes <= most) done(null, chunk);
      else done(new WayFailed('bad_response', `It sent more than ${most} bytes (peerStreamBytes).`, false));
    },
  });
  pipeline(response, counter, () => undefined);
  return Readable.toWeb(counter) as ReadableStream<Uint8Array>;
}
