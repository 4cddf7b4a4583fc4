/** A real Restate server for tests: on free ports, with its data in a folder that goes away again. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/base/clock.ts';
import { findRestateBinary, type RestateServer, startRestate } from '../../src/cluster/restate-server.ts';

export const restateBinary = (): string =>
  findRestateBinary(process.env, [join(import.meta.dirname, '..', '..', 'tools', 'cluster')]);

export async function startTestRestate(settings: Readonly<Record<string, string>> = {}): Promise<RestateServer> {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-restate-'));
  const [ingress = 0, admin = 0, node = 0] = await freePorts(3);
  const ports = { ingress, admin, node };
  const server = await startRestate({ binary: restateBinary(), folder, clock: systemClock, ports, partitions: 2, settings });
  return {
    ...server,
    async stop() {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer();
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      return server;
    }),
  );
  const ports = servers.map((server) => (server.address() as { port: number }).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
