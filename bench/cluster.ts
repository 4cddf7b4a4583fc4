/**
 * What many machines cost and bring: `node bench/cluster.ts [--quick] [--only steps,throughput,recovery,memory]`. Real Restate
 * and Postgres servers and worker processes on this machine, against runs that one process works on by itself. Every model call
 * takes 100 ms. Prints tables. Linux only: it reads what processes use from /proc.
 */
import { mkdirSync } from 'node:fs';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { messageOf } from '../src/base/errors.ts';
import type { RunEnd, RunHandle } from '../src/engine/port.ts';
import { userText } from '../src/index.ts';
import type { Project } from '../src/project/project.ts';
import { FAN, LATENCY_MS, STEPS, tenSteps, threeSteps, WAITING } from './cluster-project.ts';
import { type ClusterServers, memoryMb, openClusterServers } from './cluster-servers.ts';
import { runModel, supervisorModel, USER_PROMPT } from './common.ts';
import { cpuMs } from './meter.ts';
import { familyCpuMs, processCpuMs } from './process-cpu.ts';
import { median, number, spread, table } from './table.ts';

const WORKERS = [1, 2, 4];
/** How many runs a worker takes at a time, and how many the client has under way: too many for few workers, and all at once. */
const LOADS = [
  [4, 40],
  [100, 100],
] as const;
const AIM_STEP_MS = 10;
const AIM_RECOVERY_MS = 10_000;
/** Longer than Restate keeps a waiting invocation connected. */
const REST_MS = 15_000;
/** Others take less than this for this long, or we have waited often enough. */
const QUIET_CORES = 0.5;
const QUIET_MS = 200;
const QUIET_ATTEMPTS = 20;

interface Pace {
  readonly runs: number;
  readonly throughputRuns: number;
  readonly repetitions: number;
  readonly kills: number;
  readonly waiting: number;
}
const paces: Readonly<Record<'quick' | 'full', Pace>> = {
  quick: { runs: 3, throughputRuns: 200, repetitions: 1, kills: 2, waiting: 100 },
  full: { runs: 10, throughputRuns: 200, repetitions: 2, kills: 5, waiting: 1_000 },
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

/** The same requests without anything around them. */
async function bare(model: string): Promise<void> {
  for (let index = 0; index < STEPS; index += 1) {
    const body = JSON.stringify({ model: runModel(tenSteps), messages: [] });
    await (await fetch(`${model}/v1/chat/completions`, { method: 'POST', body })).text();
  }
}

/** Waits a bounded time until others leave most of the machine alone. */
async function quietMoment(): Promise<void> {
  for (let attempt = 0; attempt < QUIET_ATTEMPTS; attempt += 1) {
    if ((await othersDuring(() => pause(QUIET_MS))) < QUIET_CORES) return;
  }
}

/** How many cores processes took meanwhile that are none of ours. */
async function othersDuring(work: () => Promise<unknown>): Promise<number> {
  const [busy, family] = [busyMs(), familyCpuMs()];
  const tookMs = await timed(work);
  return Math.max(0, busyMs() - busy - (familyCpuMs() - family)) / tookMs;
}

/** One run after the other, the systems in turns: what a step costs beside the model's answer, and what a tree takes. */
async function measureSteps(servers: ClusterServers, pace: Pace): Promise<string> {
  await servers.scale(1);
  const [sqlite, postgres] = [await servers.embedded('sqlite'), await servers.embedded('postgres')];
  const systems = [
    { name: 'embedded, SQLite', project: sqlite, steps: [] as number[], over: [] as number[], trees: [] as number[] },
    { name: 'embedded, Postgres', project: postgres, steps: [] as number[], over: [] as number[], trees: [] as number[] },
    { name: 'Restate, Postgres', project: servers.cluster, steps: [] as number[], over: [] as number[], trees: [] as number[] },
  ];
  const others: number[] = [];
  for (let index = -2; index < pace.runs; index += 1) {
    for (const { project, steps, over, trees } of systems) {
      await quietMoment();
      const found = { floor: 0, run: 0, tree: 0 };
      const foreign = await othersDuring(async () => {
        found.floor = await timed(() => bare(servers.model));
        found.run = await timed(() => finish(project, runModel(tenSteps)));
        found.tree = await timed(() => finish(project, supervisorModel(FAN)));
      });
      // The first ones warm up.
      if (index < 0) continue;
      others.push(foreign);
      steps.push(found.run);
      over.push((found.run - found.floor) / STEPS);
      trees.push(found.tree);
    }
  }
  await Promise.all([sqlite.close(), postgres.close()]);
  const head = [
    'one run at a time',
    'overhead per step, ms',
    `below ${AIM_STEP_MS}`,
    `${STEPS} steps, ms`,
    '8 sub-agents, ms (ideal 500)',
  ];
  const rows = systems.map(({ name, over, steps, trees }): Cells => {
    return [name, spread(over), verdict(median(over) < AIM_STEP_MS), spread(steps), spread(trees)];
  });
  return `${table(head, rows)}\n\nOthers took ${spread(others)} cores meanwhile.`;
}

/** Busy milliseconds of all cores so far. */
function busyMs(): number {
  return cpus().reduce((sum, { times: { user, nice, sys, irq } }) => sum + user + nice + sys + irq, 0);
}

interface Load {
  readonly runsPerSecond: number;
  readonly cores: number;
  readonly workerMs: number;
  readonly restateMs: number;
  readonly postgresMs: number;
  readonly clientMs: number;
  /** Cores that processes took which are none of ours. */
  readonly others: number;
  readonly shares: readonly number[];
}

/** So many runs at once, all the time, until all are done. */
async function load(servers: ClusterServers, runs: number, atOnce: number): Promise<Load> {
  const { restatePid, modelPid, cluster } = servers;
  const before = servers.workers.map(({ pid }) => processCpuMs(pid));
  const meters = [processCpuMs.bind(undefined, restatePid), processCpuMs.bind(undefined, modelPid), cpuMs, familyCpuMs, busyMs];
  const begun = meters.map((read) => read());
  let left = runs;
  const one = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await finish(cluster, runModel(threeSteps));
    }
  };
  const tookMs = await timed(() => Promise.all(Array.from({ length: atOnce }, one)));
  const used = servers.workers.map(({ pid }, index) => processCpuMs(pid) - (before[index] ?? 0));
  const total = used.reduce((sum, milliseconds) => sum + milliseconds, 0);
  const [restate = 0, model = 0, client = 0, family = 0, busy = 0] = meters.map((read, index) => read() - (begun[index] ?? 0));
  return {
    runsPerSecond: (runs * 1_000) / tookMs,
    cores: family / tookMs,
    others: Math.max(0, busy - family) / tookMs,
    workerMs: total / runs,
    restateMs: restate / runs,
    postgresMs: (family - total - restate - model - client) / runs,
    clientMs: client / runs,
    shares: used.map((milliseconds) => milliseconds / total),
  };
}

async function measureThroughput(servers: ClusterServers, pace: Pace): Promise<string> {
  const rows: Cells[] = [];
  for (const [concurrency, atOnce] of LOADS) {
    for (const workers of WORKERS) {
      await servers.scale(workers, concurrency);
      await load(servers, atOnce, atOnce);
      const found: Load[] = [];
      for (let index = 0; index < pace.repetitions; index += 1) found.push(await load(servers, pace.throughputRuns, atOnce));
      const of = (pick: (one: Load) => number): string => spread(found.map(pick));
      const shares = found.flatMap((one) => one.shares.map((share) => share * 100));
      rows.push([
        `${workers}`,
        `${concurrency}`,
        `${atOnce}`,
        of((one) => one.runsPerSecond),
        of((one) => one.cores),
        of((one) => one.others),
        of((one) => one.workerMs),
        of((one) => one.restateMs),
        of((one) => one.postgresMs),
        of((one) => one.clientMs),
        `${number(Math.min(...shares), 0)}–${number(Math.max(...shares), 0)} %`,
      ]);
    }
  }
  const head = [
    'workers',
    'runs each at most',
    'runs at once',
    'runs/s',
    `cores used, of ${cpus().length}`,
    'by others',
    'CPU ms/run: workers',
  ];
  return table([...head, 'Restate', 'Postgres', 'client', 'share of a worker'], rows);
}

/** From the kill of the worker that works on a run to the next model request of that run. */
async function recover(servers: ClusterServers): Promise<number> {
  await servers.scale(2);
  const handle = await start(servers.cluster, runModel(tenSteps));
  const owner = async (): Promise<number> => {
    const [row] = await servers.cluster.ledger.runs({ run: handle.run });
    return row?.owner?.pid ?? 0;
  };
  await pause(3.5 * LATENCY_MS);
  let pid = await owner();
  for (let attempt = 0; attempt < 100 && pid === 0; attempt += 1) {
    await pause(20);
    pid = await owner();
  }
  const worker = servers.workers.find((one) => one.pid === pid);
  if (worker === undefined) throw new Error(`nobody of the workers works on the run, but ${pid}`);
  const killedAt = Number(process.hrtime.bigint()) / 1e6;
  await worker.kill();
  await servers.control.ask('/reset');
  const end = await handle.done;
  if (end.kind !== 'ended' || end.result.error !== undefined) throw new Error(`the run ended as ${end.kind}`);
  return (await servers.control.stats()).firstRequestAtMs - killedAt;
}

async function measureRecovery(servers: ClusterServers, pace: Pace): Promise<string> {
  const found: number[] = [];
  for (let index = 0; index < pace.kills; index += 1) found.push(await recover(servers));
  const reached = verdict(Math.max(...found) < AIM_RECOVERY_MS);
  return table(
    ['after kill -9', 'ms', `below ${AIM_RECOVERY_MS / 1_000} s`],
    [['to the next model request', spread(found), reached]],
  );
}

/** Has the workers collect what nobody needs any more. */
async function collect({ workers }: ClusterServers): Promise<void> {
  for (const { pid } of workers) process.kill(pid, 'SIGUSR2');
  await pause(1_000);
}

async function measureMemory(servers: ClusterServers, pace: Pace): Promise<string> {
  await servers.scale(0);
  await servers.scale(1);
  await finish(servers.cluster, runModel(threeSteps));
  const pids = [servers.workers[0]?.pid ?? 0, servers.restatePid];
  await collect(servers);
  const before = pids.map(memoryMb);
  let left = pace.waiting;
  const one = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const end = await (await start(servers.cluster, WAITING)).done;
      if (end.kind !== 'waiting') throw new Error(`a run that should wait ended as ${end.kind}`);
    }
  };
  const tookMs = await timed(() => Promise.all(Array.from({ length: 50 }, one)));
  const during = pids.map(memoryMb);
  await pause(REST_MS);
  await collect(servers);
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
  return table([...head, '15 s later, collected, MB', 'KB per run'], rows);
}

const measures = { steps: measureSteps, throughput: measureThroughput, recovery: measureRecovery, memory: measureMemory };
const { values } = parseArgs({ options: { quick: { type: 'boolean', default: false }, only: { type: 'string' } } });
const only = values.only?.split(',') ?? Object.keys(measures);
const servers = await openClusterServers();
for (const ledger of ['sqlite', 'postgres']) mkdirSync(`${servers.cluster.root}/${ledger}`, { recursive: true });
try {
  for (const [name, measure] of Object.entries(measures)) {
    if (!only.includes(name)) continue;
    process.stdout.write(`${await measure(servers, paces[values.quick ? 'quick' : 'full'])}\n\n`);
  }
} catch (error) {
  process.stderr.write(`${messageOf(error)}\n`);
  process.exitCode = 1;
} finally {
  await servers.close();
}
