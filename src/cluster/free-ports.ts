/** Ports of this machine that nobody listens on. */
import { createServer, type Server } from 'node:net';
import { type Random, systemRandom } from '../base/random.ts';

/**
 * Where any will do: above the ports of well-known services, and below those that Linux gives to whoever connects to
 * somebody. One of these would be free now and taken when it is needed, by a connection that has nothing to do with it.
 */
const LOWEST = 15_000;
const HIGHEST = 32_000;
const TRIES = 50;

/** The wanted ones, or as many others: all or none, so that two clusters never have some in common. 0 stands for any. */
export async function freePorts(wanted: readonly number[], random: Random = systemRandom): Promise<readonly number[]> {
  const usual = await hold(wanted, random);
  const held =
    usual.length === wanted.length
      ? usual
      : await hold(
          wanted.map(() => 0),
          random,
        );
  const ports = held.map((server) => {
    const address = server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  });
  await Promise.all([...new Set([...usual, ...held])].map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

/** All are held at the same time: none is found twice. */
async function hold(ports: readonly number[], random: Random): Promise<readonly Server[]> {
  const servers = await Promise.all(ports.map((port) => (port === 0 ? bindAny(random) : bind(port))));
  return servers.filter((server) => server !== undefined);
}

async function bindAny(random: Random): Promise<Server | undefined> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const server = await bind(LOWEST + Math.floor(random.fraction() * (HIGHEST - LOWEST)));
    if (server !== undefined) return server;
  }
  // Nearly all are taken: what the system gives is better than nothing.
  return await bind(0);
}

function bind(port: number): Promise<Server | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen({ port, host: '127.0.0.1' }, () => resolve(server));
  });
}
