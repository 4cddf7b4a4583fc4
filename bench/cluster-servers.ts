/** The servers and processes of the cluster benchmark: Postgres, Restate, the fake model server, and workers on one port. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePorts } from '../src/cluster/free-ports.ts';
import { registerWorkers } from '../src/cluster/register.ts';
import type { Project } from '../src/project/project.ts';
import { startTestRestate } from '../test/support/cluster/restate-server.ts';
import { startPostgres } from '../test/support/ledger/postgres-server.ts';
import { openBenchProject } from './cluster-project.ts';
import { type Control, createControl } from './meter.ts';

const file = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** More runs at a time than the benchmark ever has. */
const ENOUGH = 500;

export interface ClusterServers {
  readonly model: string;
  readonly control: Control;
  readonly restatePid: number;
  readonly modelPid: number;
  readonly workers: readonly Worker[];
  /** Starts or stops workers until there are so many, each for so many runs at a time. */
  scale(count: number, concurrency?: number): Promise<void>;
  /** A client of the cluster. */
  readonly cluster: Project;
  /** Runs are driven in this process. */
  embedded(ledger: 'sqlite' | 'postgres'): Promise<Project>;
  close(): Promise<void>;
}

export interface Worker {
  readonly pid: number;
  kill(): Promise<void>;
}

export async function openClusterServers(): Promise<ClusterServers> {
  const root = mkdtempSync(join(tmpdir(), 'troupe-bench-cluster-'));
  const [postgres, restate, server] = await Promise.all([startPostgres(), startTestRestate(), startModelServer()]);
  const [port = 0] = await freePorts([0]);
  const { model } = server;
  const addresses = { root, model, ledger: postgres.address('cluster'), engine: `restate+${restate.ingress}/bench` };
  const cluster = await openBenchProject(addresses);
  let workers: Worker[] = [];
  let registered = false;
  let started = ENOUGH;

  const start = async (concurrency: number): Promise<void> => {
    const child = spawn(
      process.execPath,
      ['--expose-gc', file('./cluster-worker.ts'), String(port), String(concurrency), JSON.stringify(addresses)],
      {
        stdio: ['pipe', 'pipe', 'inherit'],
      },
    );
    await said(child, /READY/);
    const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    const worker: Worker = {
      pid: child.pid ?? 0,
      async kill() {
        child.kill('SIGKILL');
        workers = workers.filter((other) => other !== worker);
        await gone;
      },
    };
    workers.push(worker);
    if (!registered) await registerWorkers(restate.admin, `http://127.0.0.1:${port}`);
    registered = true;
  };
  return {
    model,
    control: createControl(model),
    restatePid: restate.pid,
    modelPid: server.child.pid ?? 0,
    cluster,
    get workers() {
      return workers;
    },
    async scale(count, concurrency = ENOUGH) {
      const most = concurrency === started ? count : 0;
      while (workers.length > most) await workers.at(-1)?.kill();
      while (workers.length < count) await start(concurrency);
      started = concurrency;
    },
    embedded: (ledger) =>
      openBenchProject({
        root: `${root}/${ledger}`,
        model,
        ...(ledger === 'postgres' ? { ledger: postgres.address('embedded') } : {}),
      }),
    async close() {
      await cluster.close();
      for (const worker of [...workers]) await worker.kill();
      await restate.stop();
      await postgres.stop();
      server.child.kill();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

async function startModelServer(): Promise<{ readonly model: string; readonly child: ChildProcess }> {
  const child = spawn(process.execPath, [file('./server.ts')], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [, port = ''] = await said(child, /PORT (\d+)/);
  return { model: `http://127.0.0.1:${port}`, child };
}

function said(child: ChildProcess, pattern: RegExp): Promise<RegExpExecArray> {
  return new Promise((resolve, reject) => {
    let output = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      const match = pattern.exec(output);
      if (match !== null) resolve(match);
    });
    child.once('exit', (code) => reject(new Error(`a process of the benchmark ended with ${code}`)));
  });
}

/** Resident memory of a process. */
export function memoryMb(pid: number): number {
  const found = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(found) / 1_024;
}
