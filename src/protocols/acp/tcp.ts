/**
 * ACP on a port of this machine, one client for each connection. Whoever reaches the port can make agents work: it listens on
 * loopback only. A page in a browser reaches it as well, but cannot help to speak HTTP first, and is let go at its first byte.
 */
import { createServer, type Server, type Socket } from 'node:net';
import { limits } from '../../base/limits.ts';
import type { AcpNeeds } from './needs.ts';
import { serveAcpStreams } from './stdio.ts';

const BRACE = '{'.charCodeAt(0);

export interface AcpPort {
  readonly port: number;
  /** Lets every client go, and frees the port. */
  close(): Promise<void>;
}

export async function listenAcp(
  needs: AcpNeeds,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<AcpPort> {
  const stopping = new AbortController();
  const serving = new Set<Promise<void>>();
  const serve = (socket: Socket): void => {
    // Who has gone is known by its end; what cannot be sent is lost with it.
    socket.on('error', () => undefined);
    if (serving.size >= limits.acpConnections) {
      needs.onError(new Error(`${limits.acpConnections} clients are connected (acpConnections); one more was let go`));
      return void socket.destroy();
    }
    const served = firstByte(socket).then(async (isOurs) => {
      if (!isOurs) needs.onError(new Error('A client that does not speak ACP was let go'));
      else await serveAcpStreams(needs, { input: socket, output: socket }, stopping.signal).catch(needs.onError);
      socket.destroy();
    });
    serving.add(served);
    void served.finally(() => serving.delete(served));
  };
  const server = createServer(serve);
  await listening(server, host, port);
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    async close() {
      stopping.abort();
      const closed = new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
      await Promise.allSettled(serving);
      await closed;
    },
  };
}

function listening(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, () => resolve());
  });
}

/** Whether what comes first begins a message; it is read again by whoever serves. */
function firstByte(socket: Socket): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (): void => resolve(false);
    socket.once('close', end);
    socket.once('readable', () => {
      socket.off('close', end);
      const chunk: unknown = socket.read();
      if (!Buffer.isBuffer(chunk)) return resolve(false);
      socket.unshift(chunk);
      resolve(chunk[0] === BRACE);
    });
  });
}
