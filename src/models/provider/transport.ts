/**
 * HTTP under the model providers: the part of `fetch` that they use, on undici's dispatcher, at less than half of its cost.
 * Connections are kept and reused, one request at a time on each. Redirects are not followed, so a key never travels to
 * another host. A body that is not an event stream is collected whole before the response is handed out.
 *
 * Timeouts are the caller's: undici's own are off, because a model may think for minutes before its first byte.
 */

import type { Environment } from '../../base/environment.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import {
  type ByteQueue,
  createByteQueue,
  type ResponseHead,
  streamedResponse,
  type TransportResponse,
  wholeResponse,
} from './response.ts';

export interface TransportRequest {
  readonly method?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: string | undefined;
  readonly signal?: AbortSignal | null | undefined;
}

export type Transport = (url: string, request: TransportRequest) => Promise<TransportResponse>;

/** The other side answered, but not with what a model API answers. */
export class UnexpectedResponse extends Error {
  readonly status: number;
  readonly excerpt: string;

  constructor(status: number, message: string, excerpt: string) {
    super(message);
    this.name = 'UnexpectedResponse';
    this.status = status;
    this.excerpt = excerpt;
  }
}

type Dispatcher = Pick<import('undici').Dispatcher, 'dispatch'>;
type Controller = import('undici').Dispatcher.DispatchController;
export interface TransportOptions {
  /** Read for `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`. */
  readonly env: Environment;
  readonly maxResponseBytes?: number;
}

/** undici is loaded with the first request. */
export function createTransport(options: TransportOptions): Transport {
  const maxBytes = options.maxResponseBytes ?? limits.modelResponseBytes;
  let opening: Promise<Dispatcher> | undefined;
  let dispatcher: Dispatcher | undefined;
  return async (url, request) => {
    opening ??= openDispatcher(options.env);
    dispatcher ??= await opening;
    return await send(dispatcher, url, request, maxBytes);
  };
}

async function openDispatcher(env: Environment): Promise<Dispatcher> {
  const settings = {
    connections: limits.modelConnections,
    pipelining: 1,
    allowH2: false,
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: 30_000,
    connect: { timeout: limits.modelConnectMs },
  };
  const httpProxy = env['http_proxy'] ?? env['HTTP_PROXY'];
  const httpsProxy = env['https_proxy'] ?? env['HTTPS_PROXY'];
  if (httpProxy === undefined && httpsProxy === undefined) {
    const { default: Agent } = await import('undici/lib/dispatcher/agent.js');
    return new Agent(settings);
  }
  const { default: EnvHttpProxyAgent } = await import('undici/lib/dispatcher/env-http-proxy-agent.js');
  return new EnvHttpProxyAgent({
    ...settings,
    noProxy: env['no_proxy'] ?? env['NO_PROXY'] ?? 'localhost,127.0.0.1,[::1]',
    ...present({ httpProxy, httpsProxy }),
  });
}

function send(dispatcher: Dispatcher, url: string, request: TransportRequest, maxBytes: number): Promise<TransportResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<TransportResponse>();
  const signal = request.signal ?? undefined;
  const target = new URL(url);
  let control: Controller | undefined;
  let head: ResponseHead | undefined;
  let stream: ByteQueue | undefined;
  let received = 0;
  const chunks: Uint8Array[] = [];

  const settle = (error?: Error): void => {
    signal?.removeEventListener('abort', onAbort);
    if (error === undefined) return;
    stream?.fail(error);
    reject(error);
  };
  const onAbort = (): void => {
    const reason = abortReason(signal);
    settle(reason);
    control?.abort(reason);
  };
  if (signal?.aborted === true) return Promise.reject(abortReason(signal));
  signal?.addEventListener('abort', onAbort, { once: true });

  dispatcher.dispatch(
    {
      origin: target.origin,
      path: target.pathname + target.search,
      method: request.method ?? 'POST',
      headers: request.headers ?? {},
      body: request.body ?? null,
    },
    {
      onRequestStart: (controller) => {
        control = controller;
        if (signal?.aborted === true) controller.abort(abortReason(signal));
      },
      onResponseStart: (controller, status, headers, statusText) => {
        if (status < 200) return;
        head = { status, statusText: statusText ?? '', headers: headerMap(headers), url };
        if (!isEventStream(head)) return;
        stream = createByteQueue({
          pause: () => controller.pause(),
          resume: () => controller.resume(),
          stop: () => controller.abort(abortReason(undefined)),
        });
        resolve(streamedResponse(head, stream));
      },
      onResponseData: (controller, chunk) => {
        received += chunk.length;
        if (received > maxBytes) controller.abort(tooLong(head?.status ?? 0, maxBytes));
        else if (stream === undefined) chunks.push(chunk);
        else stream.push(chunk);
      },
      onResponseEnd: () => {
        settle();
        stream?.end();
        if (head !== undefined && stream === undefined) settleWhole(head, chunks, resolve, reject);
      },
      onResponseError: (_controller, error) => settle(error),
    },
  );
  return promise;
}

function settleWhole(
  head: ResponseHead,
  chunks: readonly Uint8Array[],
  resolve: (response: TransportResponse) => void,
  reject: (error: Error) => void,
): void {
  const [first] = chunks;
  const bytes = first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks);
  if (head.status < 300 && (head.headers.get('content-type') ?? '').includes('text/html')) {
    const page = new TextDecoder().decode(bytes);
    reject(new UnexpectedResponse(head.status, 'The server answered with an HTML page instead of JSON', page));
    return;
  }
  resolve(wholeResponse(head, bytes));
}

/** Only a success can be an event stream: an error is always read whole, whatever it calls itself. */
function isEventStream(head: ResponseHead): boolean {
  return head.status < 300 && (head.headers.get('content-type') ?? '').startsWith('text/event-stream');
}

function headerMap(headers: Readonly<Record<string, string | string[] | undefined>>): ReadonlyMap<string, string> {
  const map = new Map<string, string>();
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined) map.set(name, typeof value === 'string' ? value : value.join(', '));
  }
  return map;
}

function tooLong(status: number, maxBytes: number): UnexpectedResponse {
  return new UnexpectedResponse(status, `The response is longer than ${maxBytes} bytes (limit modelResponseBytes)`, '');
}

/** Providers know an abort by its name. */
function abortReason(signal: AbortSignal | undefined): Error {
  const reason: unknown = signal?.reason;
  if (reason instanceof Error) return reason;
  return Object.assign(new Error('The request was aborted.'), { name: 'AbortError' });
}
