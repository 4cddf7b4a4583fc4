/** Ports of this machine that nobody listens on: the wanted one when it is free. */
import { createServer } from 'node:net';

export async function freePort(wanted: number, taken: ReadonlySet<number>): Promise<number> {
  const bound = taken.has(wanted) ? undefined : await bind(wanted);
  return bound ?? (await bind(0)) ?? wanted;
}

function bind(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen({ port, host: '127.0.0.1' }, () => {
      const address = server.address();
      const bound = typeof address === 'object' && address !== null ? address.port : port;
      server.close(() => resolve(bound));
    });
  });
}
