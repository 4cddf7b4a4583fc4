/** Workers as processes that a test starts, stops, freezes and kills. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { programOf, ROOM_FOR_THE_YOUNG } from '../programs/programs.ts';
import type { ClusterPlan } from './world.ts';

export interface WorkerProcess {
  readonly name: string;
  readonly pid: number;
  kill(signal: NodeJS.Signals): void;
  /** Gives the exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals | null>;
  alive(): boolean;
}

export interface Workers {
  /** Resolves when it answers. */
  start(name: string, change?: Partial<ClusterPlan>): Promise<WorkerProcess>;
  /** Those that answer. */
  all(): readonly WorkerProcess[];
  stop(): Promise<void>;
}

const MAIN = await programOf(join(import.meta.dirname, 'worker-main.ts'));

export function createWorkers(plan: ClusterPlan, main = MAIN): Workers {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-workers-'));
  const workers: WorkerProcess[] = [];
  const ready = new Set<WorkerProcess>();
  return {
    async start(name, change = {}) {
      const file = join(folder, `${name}.json`);
      writeFileSync(file, JSON.stringify({ ...plan, ...change }));
      const child = spawn(process.execPath, [...ROOM_FOR_THE_YOUNG, main, file, name], { stdio: ['ignore', 'pipe', 'inherit'] });
      const worker = asWorker(name, child);
      workers.push(worker);
      await Promise.race([
        new Promise<void>((resolve) => child.stdout.once('data', () => resolve())),
        worker.ended.then((how) => {
          throw new Error(`${name} ended before it was ready: ${how}`);
        }),
      ]);
      ready.add(worker);
      return worker;
    },
    all: () => [...ready].filter((worker) => worker.alive()),
    async stop() {
      for (const worker of workers) worker.kill('SIGKILL');
      await Promise.all(workers.map((worker) => worker.ended));
    },
  };
}

function asWorker(name: string, child: ChildProcess): WorkerProcess {
  let isAlive = true;
  const ended = new Promise<number | NodeJS.Signals | null>((resolve) => {
    child.once('exit', (code, signal) => {
      isAlive = false;
      resolve(code ?? signal);
    });
  });
  return { name, pid: child.pid ?? 0, kill: (signal) => void child.kill(signal), ended, alive: () => isAlive };
}
