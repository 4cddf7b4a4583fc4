/**
 * Stands between a ledger and its server, and can hang up at the worst moments: when a commit was sent but has not reached
 * the server, or when it was made but its answer has not come back.
 */

import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

export type WorstMoment = 'before the commit arrives' | 'after the commit was made';

export interface PostgresProxy {
  readonly port: number;
  /** Hangs up at that moment of the next commit. */
  arm(moment: WorstMoment): void;
  /** How often it did. */
  readonly hungUp: () => number;
  close(): Promise<void>;
}

const COMMIT = 'troupe-commit';

export async function startPostgresProxy(target: number): Promise<PostgresProxy> {
  let armed: WorstMoment | undefined;
  let count = 0;
  const sockets = new Set<Socket>();

  const join = (client: Socket): void => {
    const server = connect(target, '127.0.0.1');
    let swallowing = false;
    const hangUp = (): void => {
      client.destroy();
      server.destroy();
    };
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.on('error', hangUp);
      socket.on('close', hangUp);
    }
    client.on('data', (chunk) => {
      const moment = chunk.includes(COMMIT) ? armed : undefined;
      if (moment !== undefined) {
        armed = undefined;
        count += 1;
      }
      if (moment === 'before the commit arrives') return hangUp();
      swallowing ||= moment !== undefined;
      server.write(chunk);
    });
    server.on('data', (chunk) => {
      if (!swallowing) return client.write(chunk);
      if (chunk.includes('COMMIT')) hangUp();
      return undefined;
    });
  };
  const proxy = createServer(join).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const address = proxy.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    arm: (moment) => {
      armed = moment;
    },
    hungUp: () => count,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      proxy.close();
      await once(proxy, 'close');
    },
  };
}
