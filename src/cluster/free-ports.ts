/** Ports of this machine that nobody listens on. */
import { createServer, type Server } from 'node:net';

/** The wanted ones, or as many others: all or none, so that two clusters never have some in common. */
export async function freePorts(wanted: readonly number[]): Promise<readonly number[]> {
  const usual = await hold(wanted);
  const held = usual.length === wanted.length ? usual : await hold(wanted.map(() => 0));
  const ports = held.map((server) => {
    const address = server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  });
  await Promise.all([...new Set([...usual, ...held])].map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

/** All are held at the same time: none is found twice. */
async function hold(ports: readonly number[]): Promise<readonly Server[]> {
  const servers = await Promise.all(ports.map(bind));
  return servers.filter((server) => server !== undefined);
}

function bind(port: number): Promise<Server | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen({ port, host: '127.0.0.1' }, () => resolve(server));
  });
}
