/** A worker of the cluster benchmark: `cluster-worker.ts <port> <concurrency> <addresses as JSON>`. Says when it is ready. */
import { serveWorker } from '../src/cluster/worker-server.ts';
import { openBenchProject } from './cluster-project.ts';

const [port = '0', concurrency = '1', addresses = '{}'] = process.argv.slice(2);
const project = await openBenchProject(JSON.parse(addresses));
const worker = await project.worker({ concurrency: Number(concurrency) });
await serveWorker({ worker, host: '127.0.0.1', port: Number(port) });
process.stdout.write('READY\n');
// What is only waiting to be collected is not counted as memory.
process.on('SIGUSR2', () => void globalThis.gc?.());
// It ends with whoever started it.
process.stdin.resume().once('end', () => process.exit());
