/** A worker of a test's cluster, as a process of its own. Usage: worker-main.ts <file with its plan> <its name> */
import { readFileSync } from 'node:fs';
import { serveWorker } from '../../../src/cluster/worker-server.ts';
import { createRestateEngine } from '../../../src/engine/restate/engine.ts';
import { createRestateWorker, type RestateWorker } from '../../../src/engine/restate/worker.ts';
import { addressIn, type ClusterPlan, openClusterWorld } from './world.ts';

const [file = '', by = ''] = process.argv.slice(2);
const plan = { ...(JSON.parse(readFileSync(file, 'utf8')) as ClusterPlan), by };
const address = addressIn(plan);
let worker: RestateWorker | undefined;
const world = await openClusterWorld(plan, (engineOptions) => {
  worker = createRestateWorker({ engineOptions, address, inactivityMs: plan.inactivityMs, drainMs: plan.drainMs });
  return createRestateEngine(engineOptions, address);
});
if (worker === undefined) throw new Error('no worker was made');
const { drain } = worker;
const served = await serveWorker({ worker, host: '127.0.0.1', port: plan.port });
process.stdout.write('ready\n');
process.once('SIGTERM', () => {
  served.stopListening();
  void drain()
    .then(() => served.close())
    .then(() => world.close())
    .then(() => process.exit(0));
});
