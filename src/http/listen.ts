/** Puts an app on a port, with bounds on what strangers can hold open, and takes it off again without hurry. */
import { createServer, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { type Clock, sleep } from '../base/clock.ts';
import { codeOf, messageOf, TroupeError } from '../base/errors.ts';
import { limits } from '../base/limits.ts';
import { bracketed } from './names.ts';

export interface ListenOptions {
  readonly fetch: (request: Request, connection: HttpConnection) => Response | Promise<Response>;
  readonly host: string;
  /** 0 takes any that is free. */
  readonly port: number;
  readonly clock: Clock;
  /** For tests; `limits.httpHeadersMs` otherwise. */
  readonly headersMs?: number | undefined;
}

/** What a request came over. */
export type HttpConnection = {
  /** Closes it at once, whatever is still to be written. */
  cut(): void;
};

export interface Listening {
  readonly port: number;
  readonly origin: string;
  /** Takes no more requests, waits a little for those under way, and closes every connection. */
  stop(): Promise<void>;
}

export async function listen({ fetch, host, port, clock, headersMs = limits.httpHeadersMs }: ListenOptions): Promise<Listening> {
  const server = createServer(
    {
      headersTimeout: headersMs,
      requestTimeout: headersMs,
      connectionsCheckingInterval: Math.ceil(headersMs / 10),
      requireHostHeader: true,
    },
    getRequestListener((request, { outgoing }) => fetch(request, { cut: () => outgoing.destroy() }), {
      overrideGlobalObjects: false,
    }),
  );
  boundConnections(server, limits.httpConnections);
  const underWay = countRequests(server);
  await bind(server, host, port);
  const address = server.address();
  const bound = typeof address === 'object' && address !== null ? address.port : port;
  return { port: bound, origin: `http://${bracketed(host)}:${bound}`, stop: () => stop(server, underWay, clock) };
}

function bind(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(explain(error, host, port)));
    server.listen({ host, port }, () => {
      server.removeAllListeners('error');
      resolve();
    });
  });
}

/**
 * At most so many connections at a time. One more takes the place of the one that has been without a request for longest, so
 * that nobody can lock others out by holding connections open; a client whose idle connection went opens another.
 */
function boundConnections(server: Server, most: number): void {
  const idle = new Set<Socket>();
  const busy = new Map<Socket, number>();
  server.on('connection', (socket) => {
    const [longest] = idle;
    if (idle.size + busy.size >= most) {
      const victim = longest ?? socket;
      idle.delete(victim);
      victim.destroy();
    }
    if (!socket.destroyed) idle.add(socket);
    socket.once('close', () => {
      idle.delete(socket);
      busy.delete(socket);
    });
  });
  server.on('request', ({ socket }, response) => {
    idle.delete(socket);
    busy.set(socket, (busy.get(socket) ?? 0) + 1);
    response.once('close', () => {
      const left = (busy.get(socket) ?? 1) - 1;
      if (left > 0) return void busy.set(socket, left);
      busy.delete(socket);
      if (!socket.destroyed) idle.add(socket);
    });
  });
}

/** Says when the last request has been answered. */
interface UnderWay {
  none(): Promise<void>;
}

function countRequests(server: Server): UnderWay {
  let count = 0;
  const waiting = new Set<() => void>();
  server.on('request', (_request, response) => {
    count += 1;
    response.once('close', () => {
      count -= 1;
      if (count === 0) for (const resolve of waiting) resolve();
    });
  });
  return { none: () => (count === 0 ? Promise.resolve() : new Promise((resolve) => waiting.add(resolve))) };
}

/** A connection without a request, which clients keep for later, is no reason to wait. */
async function stop(server: Server, underWay: UnderWay, clock: Clock): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  const patience = new AbortController();
  await Promise.race([underWay.none(), sleep(clock, limits.serverStopMs, patience.signal)]);
  patience.abort();
  server.closeAllConnections();
  await closed;
}

function explain(error: Error, host: string, port: number): TroupeError {
  switch (codeOf(error)) {
    case 'EADDRINUSE':
      return new TroupeError('usage', `Port ${port} of ${host} is in use`, {
        fix: 'choose another: --port 4748, or any free one: --port 0',
      });
    case 'EACCES':
      return new TroupeError('usage', `Port ${port} is not open to you`, { fix: 'choose one above 1023: --port 4747' });
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new TroupeError('usage', `${host} is not an address of this machine`, {
        fix: 'serve this machine only: --host 127.0.0.1',
      });
    default:
      return new TroupeError('io', `Cannot listen on ${host}:${port}: ${messageOf(error)}`);
  }
}
