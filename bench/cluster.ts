/**
 * What many machines cost and bring: `node bench/cluster.ts [--quick] [--only steps,throughput,recovery,memory]`. Real Restate and
 * Postgres servers and worker processes on this machine, against runs that one process works on by itself. Every model call
 * takes 100 ms. Prints tables. Linux only: it reads what processes use from /proc.
 */
import { mkdirSync } from 'node:fs';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { messageOf } from '../src/base/errors.ts';
import type { RunEnd, RunHandle } from '../src/engine/port.ts';
import { type Project, userText } from '../src/index.ts';
import { FAN, LATENCY_MS, STEPS, tenSteps, threeSteps, WAITING } from './cluster-project.ts';
import { type ClusterStage, memoryMb, openClusterStage } from './cluster-stage.ts';
import { runModel, supervisorModel, USER_PROMPT } from './common.ts';
import { cpuMs } from './meter.ts';
import { processCpuMs } from './process-cpu.ts';
import { median, number, spread, table } from './table.ts';

const WORKERS = [1, 2, 4];
const AIM_STEP_MS = 10;
const AIM_RECOVERY_MS = 10_000;

interface Pace {
  readonly runs: number;
  readonly throughputRuns: number;
  readonly repetitions: number;
  readonly kills: number;
  readonly waiting: number;
}
const paces: Readonly<Record<'quick' | 'full', Pace>> = {
  quick: { runs: 3, throughputRuns: 200, repetitions: 1, kills: 2, waiting: 100 },
  full: { runs: 10, throughputRuns: 800, repetitions: 3, kills: 5, waiting: 1_000 },
};

type Cells = readonly string[];
const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));
const verdict = (isReached: boolean): string => (isReached ? 'yes' : '**no**');

async function start({ engine, root }: Project, agent: string): Promise<RunHandle> {
  const begun = await engine.start({ agent, input: userText(USER_PROMPT), workspace: root });
  if (begun.kind === 'refused') throw new Error(begun.error.message);
  return begun.handle;
}

async function finish(project: Project, agent: string): Promise<void> {
  const end: RunEnd = await (await start(project, agent)).done;
  if (end.kind !== 'ended' || end.result.error !== undefined)
    throw new Error(`a run ended as ${end.kind}: ${end.kind === 'ended' ? end.result.error?.message : ''}`);
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

async function times(count: number, work: () => Promise<unknown>): Promise<readonly number[]> {
  await work();
  await work();
  const found: number[] = [];
  for (let index = 0; index < count; index += 1) found.push(await timed(work));
  return found;
}

/** The same requests without anything around them. */
async function bare(model: string): Promise<void> {
  for (let index = 0; index < STEPS; index += 1) {
    const body = JSON.stringify({ model: runModel(tenSteps), messages: [] });
    await (await fetch(`${model}/v1/chat/completions`, { method: 'POST', body })).text();
  }
}

/** One run after the other: what a step costs beside the model's answer, and what a tree with sub-agents takes. */
async function measureSteps(stage: ClusterStage, pace: Pace): Promise<string> {
  await stage.scale(1);
  const floor = median(await times(pace.runs, () => bare(stage.model)));
  const row = async (name: string, project: Project): Promise<Cells> => {
    const steps = await times(pace.runs, () => finish(project, runModel(tenSteps)));
    const trees = await times(pace.runs, () => finish(project, supervisorModel(FAN)));
    const over = steps.map((milliseconds) => (milliseconds - floor) / STEPS);
    return [name, spread(over), verdict(median(over) < AIM_STEP_MS), spread(steps), spread(trees)];
  };
  const rows: Cells[] = [];
  for (const ledger of ['sqlite', 'postgres'] as const) {
    const project = await stage.embedded(ledger);
    rows.push(await row(ledger === 'sqlite' ? 'embedded, SQLite' : 'embedded, Postgres', project));
    await project.close();
  }
  rows.push(await row('Restate, Postgres, 1 worker', stage.cluster));
  const head = [
    'one run at a time',
    'overhead per step, ms',
    `below ${AIM_STEP_MS}`,
    `${STEPS} steps, ms`,
    '8 sub-agents, ms (ideal 500)',
  ];
  return table(head, rows);
}

/** Busy milliseconds of all cores so far. */
function busyMs(): number {
  return cpus().reduce((sum, { times: { user, nice, sys, irq } }) => sum + user + nice + sys + irq, 0);
}

interface Load {
  readonly runsPerSecond: number;
  readonly coresBusy: number;
  readonly workerMs: number;
  readonly restateMs: number;
  readonly clientMs: number;
  readonly shares: readonly number[];
}

/** So many runs at once, all the time, until all are done. */
async function load(stage: ClusterStage, runs: number, atOnce: number): Promise<Load> {
  const { restatePid, cluster } = stage;
  const before = stage.workers.map(({ pid }) => processCpuMs(pid));
  const [restate, client, busy] = [processCpuMs(restatePid), cpuMs(), busyMs()];
  let left = runs;
  const one = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await finish(cluster, runModel(threeSteps));
    }
  };
  const tookMs = await timed(() => Promise.all(Array.from({ length: atOnce }, one)));
  const used = stage.workers.map(({ pid }, index) => processCpuMs(pid) - (before[index] ?? 0));
  const total = used.reduce((sum, milliseconds) => sum + milliseconds, 0);
  return {
    runsPerSecond: (runs * 1_000) / tookMs,
    coresBusy: (busyMs() - busy) / tookMs,
    workerMs: total / runs,
    restateMs: (processCpuMs(restatePid) - restate) / runs,
    clientMs: (cpuMs() - client) / runs,
    shares: used.map((milliseconds) => milliseconds / total),
  };
}

async function measureThroughput(stage: ClusterStage, pace: Pace): Promise<string> {
  const rows: Cells[] = [];
  for (const atOnce of [20, 100]) {
    for (const workers of WORKERS) {
      await stage.scale(workers);
      await load(stage, atOnce, atOnce);
      const found: Load[] = [];
      for (let index = 0; index < pace.repetitions; index += 1) found.push(await load(stage, pace.throughputRuns, atOnce));
      const of = (pick: (one: Load) => number): string => spread(found.map(pick));
      const shares = found.flatMap((one) => one.shares.map((share) => share * 100));
      rows.push([
        `${workers}`,
        `${atOnce}`,
        of((one) => one.runsPerSecond),
        of((one) => one.coresBusy),
        of((one) => one.workerMs),
        of((one) => one.restateMs),
        of((one) => one.clientMs),
        `${number(Math.min(...shares), 0)}–${number(Math.max(...shares), 0)} %`,
      ]);
    }
  }
  const head = ['workers', 'runs at once', 'runs/s', `cores busy, of ${cpus().length}`];
  return table([...head, 'worker CPU ms/run', 'Restate CPU ms/run', 'client CPU ms/run', 'share of a worker'], rows);
}

/** From the kill of the worker that works on a run to the next model request of that run. */
async function recover(stage: ClusterStage): Promise<number> {
  await stage.scale(2);
  const handle = await start(stage.cluster, runModel(tenSteps));
  const owner = async (): Promise<number> => {
    const [row] = await stage.cluster.ledger.runs({ run: handle.run });
    return row?.owner?.pid ?? 0;
  };
  await pause(3.5 * LATENCY_MS);
  let pid = await owner();
  for (let attempt = 0; attempt < 100 && pid === 0; attempt += 1) {
    await pause(20);
    pid = await owner();
  }
  const worker = stage.workers.find((one) => one.pid === pid);
  if (worker === undefined) throw new Error(`nobody of the workers works on the run, but ${pid}`);
  const killedAt = Number(process.hrtime.bigint()) / 1e6;
  await worker.kill();
  await stage.control.ask('/reset');
  const end = await handle.done;
  if (end.kind !== 'ended' || end.result.error !== undefined) throw new Error(`the run ended as ${end.kind}`);
  return (await stage.control.stats()).firstRequestAtMs - killedAt;
}

async function measureRecovery(stage: ClusterStage, pace: Pace): Promise<string> {
  const found: number[] = [];
  for (let index = 0; index < pace.kills; index += 1) found.push(await recover(stage));
  const reached = verdict(Math.max(...found) < AIM_RECOVERY_MS);
  return table(
    ['after kill -9', 'ms', `below ${AIM_RECOVERY_MS / 1_000} s`],
    [['to the next model request', spread(found), reached]],
  );
}

async function measureMemory(stage: ClusterStage, pace: Pace): Promise<string> {
  await stage.scale(0);
  await stage.scale(1);
  await finish(stage.cluster, runModel(threeSteps));
  const pids = [stage.workers[0]?.pid ?? 0, stage.restatePid];
  const before = pids.map(memoryMb);
  let left = pace.waiting;
  const one = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const end = await (await start(stage.cluster, WAITING)).done;
      if (end.kind !== 'waiting') throw new Error(`a run that should wait ended as ${end.kind}`);
    }
  };
  const tookMs = await timed(() => Promise.all(Array.from({ length: 50 }, one)));
  const during = pids.map(memoryMb);
  await pause(15_000);
  const after = pids.map(memoryMb);
  const rows = ['worker', 'Restate'].map((name, index): Cells => {
    const [least = 0, most = 0, rest = 0] = [before, during, after].map((all) => all[index] ?? Number.NaN);
    return [name, number(least), number(most), number(rest), number(((rest - least) * 1_024) / pace.waiting)];
  });
  const head = [
    `memory, ${pace.waiting} waiting runs (${number(tookMs / 1_000)} s to get there)`,
    'before, MB',
    'just after, MB',
  ];
  return table([...head, '15 s later, MB', 'KB per run'], rows);
}

const measures = { steps: measureSteps, throughput: measureThroughput, recovery: measureRecovery, memory: measureMemory };
const { values } = parseArgs({ options: { quick: { type: 'boolean', default: false }, only: { type: 'string' } } });
const only = values.only?.split(',') ?? Object.keys(measures);
const stage = await openClusterStage();
for (const ledger of ['sqlite', 'postgres']) mkdirSync(`${stage.cluster.root}/${ledger}`, { recursive: true });
try {
  for (const [name, measure] of Object.entries(measures)) {
    if (!only.includes(name)) continue;
    process.stdout.write(`${await measure(stage, paces[values.quick ? 'quick' : 'full'])}\n\n`);
  }
} catch (error) {
  process.stderr.write(`${messageOf(error)}\n`);
  process.exitCode = 1;
} finally {
  await stage.close();
}
