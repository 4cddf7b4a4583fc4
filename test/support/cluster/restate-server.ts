/** A real Restate server for tests: on free ports, with its data in a folder that goes away again. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../../src/base/clock.ts';
import { freePorts } from '../../../src/cluster/free-ports.ts';
import { findRestateBinary, type RestateServer, startRestate } from '../../../src/cluster/restate-server.ts';

type RestatePorts = Parameters<typeof startRestate>[0]['ports'];

export const restateBinary = (): string =>
  findRestateBinary(process.env, [join(import.meta.dirname, '..', '..', '..', 'tools', 'cluster')]);

export async function startTestRestate(
  settings: Readonly<Record<string, string>> = {},
  at?: RestatePorts,
): Promise<RestateServer> {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-restate-'));
  const [ingress = 0, admin = 0, node = 0] = await freePorts([0, 0, 0]);
  const ports = at ?? { ingress, admin, node };
  const server = await startRestate({ binary: restateBinary(), folder, clock: systemClock, ports, partitions: 2, settings });
  return {
    ...server,
    async stop() {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Several servers that form one cluster: whatever one of them holds, another one holds too. One is a server of its own. */
export async function startRestateNodes(count: number): Promise<RestateServer[]> {
  if (count === 1) return [await startTestRestate()];
  const ports = await freePorts(Array.from({ length: count * 3 }, () => 0));
  const nodes = Array.from({ length: count }, (_, index) => {
    const [ingress = 0, admin = 0, node = 0] = ports.slice(index * 3);
    return { ingress, admin, node };
  });
  const addresses = nodes.map(({ node }) => `http://127.0.0.1:${node}`);
  return await Promise.all(
    nodes.map((ports, index) =>
      startTestRestate(
        {
          RESTATE_CLUSTER_NAME: 'test',
          RESTATE_NODE_NAME: `node-${index + 1}`,
          RESTATE_AUTO_PROVISION: String(index === 0),
          RESTATE_DEFAULT_REPLICATION: '2',
          RESTATE_ADVERTISED_ADDRESS: addresses[index] ?? '',
          RESTATE_METADATA_CLIENT__ADDRESSES: JSON.stringify(addresses),
        },
        ports,
      ),
    ),
  );
}
