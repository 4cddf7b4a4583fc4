/**
 * One HTTP exchange, bounded in bytes, that connects only to addresses checked beforehand. Redirects are returned, not
 * followed: the caller checks where they lead first.
 */
import type { IncomingMessage } from 'node:http';
import type { LookupFunction } from 'node:net';
import type { Readable } from 'node:stream';
import { messageOf } from '../base/errors.ts';
import { fail, ok, type Result } from '../base/result.ts';
import type { Address } from './addresses.ts';

export interface HttpRequest {
  readonly url: URL;
  readonly method: 'GET' | 'HEAD' | 'POST';
  /** What is sent, and what goes before it. */
  readonly body?: string | Uint8Array | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly addresses: readonly Address[];
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

export interface HttpResponse {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
  /** The body was longer than allowed and ends early. */
  readonly cut: boolean;
}

export const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const NO_BODY = { body: Buffer.alloc(0), cut: false };

export async function sendRequest(request: HttpRequest): Promise<Result<HttpResponse, string>> {
  try {
    const response = await open(request);
    const headers = new Map(Object.entries(response.headers).map(([name, value]) => [name, String(value)]));
    const status = response.statusCode ?? 0;
    const bare = request.method === 'HEAD' || status === 204 || status === 304 || REDIRECTS.has(status);
    const body = bare ? NO_BODY : await readBody(await decoded(response, headers.get('content-encoding')), request.maxBytes);
    response.destroy();
    return ok({ status, headers, ...body });
  } catch (error) {
    return fail(messageOf(error));
  }
}

async function open({ url, method, addresses, signal, body, headers }: HttpRequest): Promise<IncomingMessage> {
  const { request } = url.protocol === 'https:' ? await import('node:https') : await import('node:http');
  return new Promise((resolve, reject) => {
    const outgoing = request(url, {
      method,
      signal,
      // A pool could hand out a connection to an address that was not checked.
      agent: false,
      lookup: lookupAmong(addresses),
      headers: {
        'user-agent': 'troupe',
        accept: 'text/html, text/plain, application/json, */*;q=0.5',
        'accept-encoding': 'gzip, deflate, br',
        ...headers,
      },
    });
    outgoing.once('response', resolve);
    outgoing.once('error', reject);
    outgoing.end(body);
  });
}

function lookupAmong(addresses: readonly Address[]): LookupFunction {
  return (_host, options, callback) => {
    const [first] = addresses;
    if (options.all === true) callback(null, [...addresses]);
    else callback(null, first?.address ?? '', first?.family);
  };
}

async function decoded(response: IncomingMessage, encoding: string | undefined): Promise<Readable> {
  if (encoding === undefined || encoding === 'identity') return response;
  const { createBrotliDecompress, createUnzip } = await import('node:zlib');
  const decoder = encoding === 'br' ? createBrotliDecompress() : createUnzip();
  response.once('error', (error) => decoder.destroy(error));
  return response.pipe(decoder);
}

async function readBody(stream: Readable, maxBytes: number): Promise<{ readonly body: Buffer; readonly cut: boolean }> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream) {
    const bytes: Buffer = chunk;
    chunks.push(bytes.subarray(0, maxBytes - length));
    length += bytes.length;
    if (length > maxBytes) return { body: Buffer.concat(chunks), cut: true };
  }
  return { body: Buffer.concat(chunks), cut: false };
}
