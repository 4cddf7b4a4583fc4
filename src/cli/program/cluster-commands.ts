/** The words and options of `troupe worker` and `troupe cluster`. */
import { Option } from 'commander';
import type { ClusterStatusOptions, ClusterUpOptions } from '../serving/cluster.ts';
import type { WorkerCommandOptions } from '../serving/worker.ts';
import type { Perform } from '../terminal/command.ts';
import { collectText, parseCount, parsePort } from '../terminal/parse-option.ts';
import { type Add, addTo } from './describe.ts';

export function describeCluster(add: Add, perform: Perform): void {
  add('worker', 'work on runs of the cluster, until Ctrl-C', 'troupe worker --concurrency 200')
    .option('--concurrency <count>', 'so many runs at a time', parseCount)
    .option('--host <address>', 'the address to listen on', '127.0.0.1')
    .option('--port <number>', 'the port', parsePort, 9080)
    .option('--share-port', 'with other workers of this project on this machine, each started so')
    .option('--url <address>', 'where Restate reaches the workers, when that is not host and port')
    .option('--admin <address>', 'the admin port of Restate, to register at')
    .option('--engine <address>', 'the cluster, instead of the one in the settings')
    .option('--identity-key <key>', 'only believe calls that Restate signed with this key; may be given again', collectText)
    .option('--private-network', 'nobody but Restate reaches the port: listen beyond this machine without a key')
    .option('--no-register', 'do not tell Restate about this worker')
    .action((options: WorkerCommandOptions) =>
      perform(async (context) => (await import('../serving/worker.ts')).workerCommand(context, options)),
    );
  const cluster = add('cluster', 'many machines: try it on one, look at it', 'troupe cluster up');
  addTo(cluster, 'up', 'run Postgres, Restate and workers on this machine, until Ctrl-C', 'troupe cluster up --workers 2')
    .option('--workers <count>', 'so many processes that work on runs', parseCount, 2)
    .addOption(new Option('--nodes <count>', 'so many Restate servers').choices(['1', '3']).default('1'))
    .option('--concurrency <count>', 'so many runs at a time, for each worker', parseCount)
    .option('--data <folder>', 'where the servers keep their data; .troupe/cluster otherwise')
    .option('--postgres <url>', 'this database instead of starting one')
    .option('--write', 'write the settings into troupe.yaml')
    .action((options: ClusterUpOptions) =>
      perform(async (context) => (await import('../serving/cluster.ts')).clusterUpCommand(context, options)),
    );
  addTo(cluster, 'status', 'servers, workers and runs', 'troupe cluster status')
    .option('--admin <address>', 'the admin port of Restate')
    .option('--json', 'print one JSON value')
    .action((options: ClusterStatusOptions) =>
      perform(async (context) => (await import('../serving/cluster-status.ts')).clusterStatusCommand(context, options)),
    );
}
