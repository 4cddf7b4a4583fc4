/**
 * Serves a worker to Restate over HTTP/1.1, one connection for each run that is worked on. Several workers of one machine may
 * share a port: the system deals connections out among them.
 */
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { TroupeError } from '../base/errors.ts';
import { limits } from '../base/limits.ts';
import type { RestateWorker } from '../engine/restate/worker.ts';

/** Not every system deals connections out among those that share a port. */
export const canSharePorts = process.platform === 'linux';

export interface WorkerServer {
  readonly port: number;
  /** Takes no new connections; those that are open come to their end. */
  stopListening(): void;
  close(): Promise<void>;
}

export interface WorkerServerOptions {
  readonly worker: RestateWorker;
  readonly host: string;
  readonly port: number;
  /** Refuses a port that somebody listens on: workers of another project would get runs of this one, and know nothing of them. */
  readonly alone?: boolean | undefined;
  /** Before each request. */
  readonly onRequest?: (() => void) | undefined;
}

export async function serveWorker({ worker, host, port, alone, onRequest }: WorkerServerOptions): Promise<WorkerServer> {
  const server = createAdaptorServer({
    fetch: (request) => {
      onRequest?.();
      if (new URL(request.url).pathname !== '/healthz') return worker.handle(request);
      return Response.json({ status: 'ok', working: worker.working() });
    },
  }) as Server;
  // A run may be worked on for long without a word on the wire.
  server.requestTimeout = 0;
  server.keepAliveTimeout = 60_000;
  // Work is dealt out by connection: one that never ended would keep it from workers that came later.
  server.maxRequestsPerSocket = limits.workerRequestsPerConnection;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) =>
      reject(
        new TroupeError('worker_port', `The worker cannot listen on ${host}:${port}: ${error.message}`, {
          fix: 'Choose another port with --port. On Linux workers of one project may share one: --share-port, for each.',
        }),
      ),
    );
    server.listen({ host, port, reusePort: port !== 0 && alone !== true && canSharePorts }, resolve);
  });
  const closed = new Promise<void>((resolve) => server.once('close', () => resolve()));
  return {
    port: (server.address() as AddressInfo).port,
    stopListening: () => void server.close(),
    async close() {
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
