/** A worker of a local cluster, as a process. What it says is passed on; it has started when it says that it is ready. */

import { type Clock, sleep } from '../base/clock.ts';
import type { Environment } from '../base/environment.ts';
import { TroupeError } from '../base/errors.ts';
import { limits } from '../base/limits.ts';
import { endOf } from '../base/whole-words.ts';
import { type ServerProcess, startServerProcess } from './server-process.ts';

export interface WorkerProcessOptions {
  readonly root: string;
  readonly name: string;
  readonly port: number;
  readonly admin: string;
  readonly concurrency?: number | undefined;
  readonly settings: { readonly ledger: string; readonly engine: string };
  readonly env: Environment;
  readonly program: string;
  readonly clock: Clock;
  readonly say: (text: string) => void;
}

const STOP_SPARE_MS = 5_000;

export async function startWorker(options: WorkerProcessOptions): Promise<ServerProcess> {
  const { root, name, port, admin, concurrency, settings, env, program, clock, say } = options;
  const given = ['--port', String(port), '--share-port', '--admin', admin];
  const most = concurrency === undefined ? [] : ['--concurrency', String(concurrency)];
  let rest = '';
  let isReady = false;
  const worker = startServerProcess({
    program: process.execPath,
    args: [program, '-C', root, 'worker', ...given, ...most],
    folder: root,
    environment: { ...definedOf(env), TROUPE_LEDGER: settings.ledger, TROUPE_ENGINE: settings.engine },
    clock,
    stopMs: limits.workerDrainMs + STOP_SPARE_MS,
    onText: (text) => {
      const lines = (rest + text).split('\n');
      rest = (lines.pop() ?? '').slice(-limits.mcpStderrBytes);
      for (const line of lines) {
        isReady ||= line.endsWith(': ready');
        say(`${name}: ${line.replace(/^worker \d+: /, '')}`);
      }
    },
  });
  for (let attempt = 0; attempt < limits.registerAttempts * 10 && worker.alive(); attempt += 1) {
    if (isReady) return worker;
    await sleep(clock, limits.serverStartMs);
  }
  await worker.stop();
  throw new TroupeError('worker_start', `${name} did not start. It said: ${endOf(worker.said(), 500)}`);
}

function definedOf(env: Environment): Record<string, string> {
  return Object.fromEntries(Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}
