/** Gives a cluster of a test ports of its own: those that people use are left to one that starts at the same moment. */
import { createServer } from 'node:net';
import { join } from 'node:path';
import { systemRandom } from '../../../src/base/random.ts';
import { openClusterFile } from '../../../src/cluster/cluster-file.ts';

const USUAL_WORKERS = 9080;

export async function chooseOwnPorts(projectFolder: string, nodes: number): Promise<void> {
  const holder = createServer();
  // Somebody else who holds it serves as well.
  await new Promise<void>((resolve) => holder.once('error', () => resolve()).listen(USUAL_WORKERS, '127.0.0.1', resolve));
  await openClusterFile(join(projectFolder, '.troupe', 'cluster'), nodes, systemRandom);
  if (holder.listening) await new Promise((resolve) => holder.close(resolve));
}
