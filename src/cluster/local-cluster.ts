/**
 * A whole cluster on one machine, to try it: Postgres, one or three Restate servers, and workers. Everything is a child process
 * that ends with ours, however ours ends; what they keep is in one folder, and the next start goes on with it.
 */

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import type { Environment } from '../base/environment.ts';
import { TroupeError } from '../base/errors.ts';
import { limits } from '../base/limits.ts';
import type { Random } from '../base/random.ts';
import { type ClusterFile, openClusterFile } from './cluster-file.ts';
import { type Kept, keepRunning } from './keep-running.ts';
import { findPostgres, startPostgres } from './postgres-server.ts';
import { findRestateBinary, startRestate } from './restate-server.ts';
import type { ServerProcess } from './server-process.ts';
import { startWorker } from './worker-process.ts';
import { canSharePorts } from './worker-server.ts';

export interface LocalClusterOptions {
  /** The folder of the project. */
  readonly root: string;
  /** Where the servers keep what they know. */
  readonly folder: string;
  readonly nodes: number;
  readonly workers: number;
  readonly concurrency?: number | undefined;
  /** A database that is there already. */
  readonly postgres?: string | undefined;
  readonly env: Environment;
  /** Folders in whose packages the servers may be, besides Troupe's own. */
  readonly packages: readonly string[];
  /** The file that is the command line. */
  readonly program: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly say: (text: string) => void;
  /** A server ended again and again. */
  readonly gaveUp: () => void;
}

export interface LocalCluster {
  /** What a project that uses it has in its settings. */
  readonly settings: { readonly ledger: string; readonly engine: string };
  readonly admin: string;
  stop(): Promise<void>;
}

const USER = 'troupe';

export async function startLocalCluster(options: LocalClusterOptions): Promise<LocalCluster> {
  requirePossible(options);
  const file = await openClusterFile(options.folder, options.nodes, options.random);
  const logs = join(options.folder, 'logs');
  await mkdir(logs, { recursive: true, mode: 0o700 });
  /** Those that need others come after them, and are stopped before them. */
  const layers: Kept[][] = [];
  const stop = async (): Promise<void> => {
    for (const layer of layers.splice(0).reverse()) await Promise.all(layer.map((one) => one.stop()));
  };
  const keep = async (names: readonly string[], start: (index: number) => Promise<ServerProcess>): Promise<void> => {
    const layer: Kept[] = [];
    layers.push(layer);
    const { clock, say, gaveUp } = options;
    const started = await Promise.allSettled(
      names.map(async (name, index) => layer.push(await keepRunning({ name, clock, start: () => start(index), say, gaveUp }))),
    );
    for (const one of started) if (one.status === 'rejected') throw one.reason;
  };
  try {
    if (options.postgres === undefined) await keep(['postgres'], databaseOf(options, file, logs));
    const binary = findRestateBinary(options.env, options.packages);
    await keep(numbered('restate', options.nodes), (index) => startNode(options, file, binary, logs, index));
    const cluster = { settings: settingsOf(options, file), admin: `http://127.0.0.1:${file.restate[0]?.admin}` };
    await keep(numbered('worker', options.workers), (index) =>
      startWorker({ ...options, ...cluster, name: `worker-${index + 1}`, port: file.workers }),
    );
    return { ...cluster, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function requirePossible({ workers }: LocalClusterOptions): void {
  if (workers > limits.clusterWorkers)
    throw new TroupeError('usage', `${workers} workers are more than one machine is given (limit clusterWorkers)`, {
      fix: `take up to ${limits.clusterWorkers}; each works on many runs at a time: --concurrency`,
    });
  if (workers > 1 && !canSharePorts)
    throw new TroupeError('usage', 'Workers cannot share a port on this system', {
      fix: 'take one, which works on many runs at a time: --workers 1',
    });
}

const numbered = (name: string, count: number): readonly string[] =>
  count === 1 ? [name] : Array.from({ length: count }, (_, index) => `${name}-${index + 1}`);

function databaseOf(options: LocalClusterOptions, file: ClusterFile, logs: string): () => Promise<ServerProcess> {
  const home = findPostgres(options.packages);
  const { clock } = options;
  const { postgres: port, password } = file;
  const folder = join(options.folder, 'postgres');
  return () => startPostgres({ home, folder, port, user: USER, password, clock, log: join(logs, 'postgres.log') });
}

/** Several form one cluster: the first founds it, the others look for it. */
function startNode(
  { folder, clock }: LocalClusterOptions,
  { restate }: ClusterFile,
  binary: string,
  logs: string,
  index: number,
): Promise<ServerProcess> {
  const name = `restate-${index + 1}`;
  const addresses = restate.map(({ node }) => `http://127.0.0.1:${node}`);
  const ports = restate[index] ?? { ingress: 0, admin: 0, node: 0 };
  const together = {
    RESTATE_CLUSTER_NAME: 'troupe',
    RESTATE_NODE_NAME: name,
    RESTATE_AUTO_PROVISION: String(index === 0),
    RESTATE_DEFAULT_REPLICATION: '2',
    RESTATE_ADVERTISED_ADDRESS: addresses[index] ?? '',
    RESTATE_METADATA_CLIENT__ADDRESSES: JSON.stringify(addresses),
  };
  const settings = restate.length === 1 ? {} : together;
  return startRestate({ binary, folder: join(folder, name), clock, ports, settings, log: join(logs, `${name}.log`) });
}

function settingsOf({ postgres }: LocalClusterOptions, file: ClusterFile): LocalCluster['settings'] {
  return {
    ledger: postgres ?? `postgres://${USER}:${file.password}@127.0.0.1:${file.postgres}/postgres`,
    engine: `restate+http://${file.restate.map(({ ingress }) => `127.0.0.1:${ingress}`).join(',')}`,
  };
}
