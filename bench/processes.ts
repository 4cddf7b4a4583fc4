/** Starts the processes of the benchmark: the fake model server, and one worker per measurement. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { z } from 'zod';
import { parseJson } from '../src/base/json.ts';
import { builtFolder, resultsFolder } from './build.ts';
import { figureNames, type Pace, type WorkerReport } from './measurement.ts';
import { type Control, createControl } from './meter.ts';

const workFolder = `${resultsFolder}/work`;
const KEPT_OUTPUT = 4_000;

const reportSchema = z.object({
  figures: z.partialRecord(z.enum(figureNames), z.number()),
  errors: z.array(z.string()),
  cpuTotalMs: z.number(),
});

const { PATH = '' } = process.env;
/** Nothing of the caller's environment reaches a measured process but what it needs to start. */
const env = { PATH, HOME: workFolder, TMPDIR: tmpdir(), NODE_ENV: 'production', NO_COLOR: '1' };

export interface FakeServer {
  readonly origin: string;
  readonly control: Control;
  stop(): void;
}

export async function startServer(): Promise<FakeServer> {
  const child = spawn(process.execPath, [`${builtFolder}/bench/server.js`], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const port = await new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => {
      const found = /PORT (\d+)/.exec(chunk.toString())?.[1];
      if (found !== undefined) resolve(found);
    });
    child.on('exit', (code) => reject(new Error(`the fake server ended with ${code}`)));
  });
  const origin = `http://127.0.0.1:${port}`;
  return { origin, control: createControl(origin), stop: () => child.kill() };
}

export interface Job {
  readonly system: string;
  readonly workload: string;
  readonly folder: string;
  readonly turns?: number;
  readonly timeoutMs: number;
  /** Options for Node, such as a profiler's. */
  readonly nodeOptions?: readonly string[];
  readonly onStart?: (child: ChildProcess) => void;
}

/** Runs one worker to its end. A worker that says nothing, or too late, is a failed measurement. */
export function runWorker(origin: string, pace: Pace, job: Job): Promise<WorkerReport> {
  const numbers = [job.turns ?? 0, pace.warmMs, pace.measureMs, pace.delayedRuns].map(String);
  const script = [`${builtFolder}/bench/worker.js`, job.system, job.workload, origin, job.folder, ...numbers];
  const nodeOptions = ['--expose-gc', ...(job.nodeOptions ?? [])];
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [...nodeOptions, ...script], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    let complaint = '';
    let late = false;
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
    child.stderr.on('data', (chunk: Buffer) => {
      complaint = (complaint + chunk.toString()).slice(-KEPT_OUTPUT);
    });
    const timer = setTimeout(() => {
      late = true;
      child.kill('SIGKILL');
    }, job.timeoutMs);
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      const why = late ? `not done after ${Math.round(job.timeoutMs / 1_000)} s` : `ended with ${code ?? signal}: ${complaint}`;
      resolve(readReport(output) ?? { figures: {}, errors: [why], cpuTotalMs: 0 });
    });
    job.onStart?.(child);
  });
}

function readReport(output: string): WorkerReport | undefined {
  const line = /^@@(.*)$/m.exec(output)?.[1];
  if (line === undefined) return undefined;
  const parsed = parseJson(line);
  return parsed.ok ? reportSchema.parse(parsed.value) : undefined;
}

let lastFolder = 0;
/** Gives `work` an empty folder on the disk of the project, and removes it afterwards. */
export async function withFolder<Value>(work: (folder: string) => Promise<Value>): Promise<Value> {
  lastFolder += 1;
  const folder = `${workFolder}/${process.pid}-${lastFolder}`;
  mkdirSync(folder, { recursive: true });
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
