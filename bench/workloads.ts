/**
 * The workloads. Each opens a system in an empty folder, warms it up, and measures. Warming goes by time and not by count:
 * a fast system must not be measured with colder code than a slow one.
 *
 * A measurement counts only if every run gave the final answer and the server saw exactly the expected number of requests.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { counters, type FanOutScript, FINAL_MARK, type RunScript, type System } from './common.ts';
import type { Figures } from './measurement.ts';
import { type Control, cpuMs, peakRssMb, quantile, type ServerStats, settledBytes, writtenBytes } from './meter.ts';

export interface Bench {
  open(folder: string, scripts: readonly RunScript[]): Promise<System>;
  readonly control: Control;
  /** Gets three folders: `main`, `warm` and `base`. */
  readonly folder: string;
  readonly warmMs: number;
  readonly measureMs: number;
  readonly delayedRuns: number;
  /** For w3. */
  readonly turns: number;
  readonly errors: string[];
}

type Workload = (bench: Bench) => Promise<Figures>;

const TEN: RunScript = { turns: 10 };
const ONE: RunScript = { turns: 1 };
const KEPT_ERRORS = 5;
const CRASHING: RunScript = { turns: 10, stall: 6 };
const CRASHED_RUN = 'crash';

/** One agent, one run after the other. */
const oneAgent: Workload = async (bench) => {
  const system = await bench.open(folderFor(bench, 'main'), [TEN]);
  await forAtLeast(bench.warmMs, 10, () => attempt(bench, () => system.run(nextId(), TEN)));
  const perTurn: number[] = [];
  const spent = await section(bench, async () => {
    const runs = await forAtLeast(bench.measureMs, 20, async () => {
      perTurn.push((await timed(() => attempt(bench, () => system.run(nextId(), TEN)))) / TEN.turns);
    });
    return runs * TEN.turns;
  });
  await system.close();
  const cpuMsPerTurn = spent.cpuMs / perTurn.length / TEN.turns;
  return { msPerTurn: quantile(perTurn, 0.5), p95MsPerTurn: quantile(perTurn, 0.95), cpuMsPerTurn };
};

/** Throughput: 200 runs, 50 at a time. */
const throughput: Workload = async (bench) => {
  const runs = 200;
  const atOnce = 50;
  await warmUp(bench, 10);
  const system = await bench.open(folderFor(bench, 'main'), [TEN]);
  const spent = await section(bench, async () => {
    let left = runs;
    const lane = async (): Promise<void> => {
      while (left > 0) {
        left -= 1;
        await attempt(bench, () => system.run(nextId(), TEN));
      }
    };
    await Promise.all(Array.from({ length: atOnce }, lane));
    return runs * TEN.turns;
  });
  const peak = peakRssMb();
  await system.close();
  return {
    runsPerSecond: runs / (spent.wallMs / 1_000),
    cpuMsPerTurn: spent.cpuMs / runs / TEN.turns,
    peakRssMb: peak,
    diskBytes: settledBytes(folderFor(bench, 'main')) / runs,
    serverCpuShare: spent.server.cpuMs / spent.wallMs,
  };
};

/** Long runs: does a turn cost more the longer the run is, and do bytes grow in line with it? Short ones are repeated. */
const growth: Workload = async (bench) => {
  const script: RunScript = { turns: bench.turns };
  const runs = Math.max(1, Math.floor(200 / bench.turns));
  await warmUp(bench, 1);

  const base = await bench.open(folderFor(bench, 'base'), [ONE]);
  await attempt(bench, () => base.run(nextId(), ONE));
  await base.close();
  const emptyBytes = settledBytes(folderFor(bench, 'base'));

  const system = await bench.open(folderFor(bench, 'main'), [ONE, script]);
  await attempt(bench, () => system.run(nextId(), ONE));
  const writtenBefore = writtenBytes();
  const spent = await section(bench, async () => {
    for (let index = 0; index < runs; index += 1) await attempt(bench, () => system.run(nextId(), script));
    return runs * bench.turns;
  });
  const peak = peakRssMb();
  await system.close();
  const writtenAfter = writtenBytes();
  return {
    msPerTurn: spent.wallMs / bench.turns / runs,
    cpuMsPerTurn: spent.cpuMs / bench.turns / runs,
    peakRssMb: peak,
    diskBytes: (settledBytes(folderFor(bench, 'main')) - emptyBytes) / runs,
    ...(writtenBefore === undefined || writtenAfter === undefined ? {} : { writtenBytes: (writtenAfter - writtenBefore) / runs }),
  };
};

/** A supervisor and eight parallel sub-agents of three turns: 26 model calls. */
const fanOut: Workload = async (bench) => {
  const script: FanOutScript = { width: 8, subTurns: 3 };
  const delayed: FanOutScript = { ...script, delay: 100 };
  const requests = 2 + script.width * script.subTurns;
  const system = await bench.open(folderFor(bench, 'main'), []);
  const once = (which: FanOutScript) =>
    attempt(bench, () => system.fanOut?.(nextId(), which) ?? Promise.reject(new Error('cannot fan out')));

  await forAtLeast(bench.warmMs, 5, () => once(script));
  const walls: number[] = [];
  const spent = await section(bench, async () => {
    const runs = await forAtLeast(bench.measureMs, 10, async () => walls.push(await timed(() => once(script))));
    return runs * requests;
  });
  const delayedWalls: number[] = [];
  const waited = await section(bench, async () => {
    const runs = await forAtLeast(0, bench.delayedRuns, async () => delayedWalls.push(await timed(() => once(delayed))));
    return runs * requests;
  });
  await system.close();
  return {
    wallMs: quantile(walls, 0.5),
    p95WallMs: quantile(walls, 0.95),
    cpuMs: spent.cpuMs / walls.length,
    delayedWallMs: quantile(delayedWalls, 0.5),
    peakInFlight: waited.server.peakInFlight,
  };
};

/** A thousand runs at once that mostly wait. */
const crowd: Workload = async (bench) => {
  const sessions = 1_000;
  const script: RunScript = { turns: 3, delay: 100 };
  await warmUp(bench, 10);
  const system = await bench.open(folderFor(bench, 'main'), [ONE, script]);
  await attempt(bench, () => system.run(nextId(), ONE));
  globalThis.gc?.();
  const rssBefore = process.memoryUsage.rss() / 1_048_576;
  const spent = await section(bench, async () => {
    await Promise.all(Array.from({ length: sessions }, () => attempt(bench, () => system.run(nextId(), script))));
    return sessions * script.turns;
  });
  const peak = peakRssMb();
  await system.close();
  return {
    wallMs: spent.wallMs,
    cpuMs: spent.cpuMs,
    peakRssMb: peak,
    kbPerSession: ((peak - rssBefore) * 1_024) / sessions,
    peakInFlight: spent.server.peakInFlight,
  };
};

/** Is killed from outside while the server withholds the seventh answer. */
const crash: Workload = async (bench) => {
  const system = await bench.open(folderFor(bench, 'main'), [CRASHING]);
  await system.run(CRASHED_RUN, CRASHING);
  bench.errors.push('the run ended although it was to be killed');
  return {};
};

/** Goes on where `crash` was killed: four model calls and three tool calls are left, anything more is a repetition. */
const resume: Workload = async (bench) => {
  const system = await bench.open(folderFor(bench, 'main'), [CRASHING]);
  counters.lookups = 0;
  await attempt(bench, () => system.resume(CRASHED_RUN, CRASHING));
  const { requests } = await bench.control.stats();
  await system.close();
  return { repeatedModelCalls: requests - 4, repeatedToolCalls: counters.lookups - 3 };
};

export const workloads: { readonly [name: string]: Workload } = {
  w1: oneAgent,
  w2: throughput,
  w3: growth,
  w4: fanOut,
  w6: crowd,
  crash,
  resume,
};

async function warmUp(bench: Bench, atOnce: number): Promise<void> {
  const system = await bench.open(folderFor(bench, 'warm'), [TEN]);
  const lanes = Array.from({ length: atOnce });
  await forAtLeast(bench.warmMs, 5, () => Promise.all(lanes.map(() => attempt(bench, () => system.run(nextId(), TEN)))));
  await system.close();
}

interface Spent {
  readonly wallMs: number;
  readonly cpuMs: number;
  readonly server: ServerStats;
}

/** Measures `work`, which resolves to the number of model requests it must have caused. */
async function section(bench: Bench, work: () => Promise<number>): Promise<Spent> {
  await bench.control.ask('/reset');
  const cpuBefore = cpuMs();
  const startedAt = performance.now();
  const expected = await work();
  const wallMs = performance.now() - startedAt;
  const spentCpuMs = cpuMs() - cpuBefore;
  const server = await bench.control.stats();
  if (server.requests !== expected) bench.errors.push(`the server saw ${server.requests} model requests, not ${expected}`);
  if (server.outsideScript > 0) bench.errors.push(`the server saw ${server.outsideScript} requests outside the script`);
  return { wallMs, cpuMs: spentCpuMs, server };
}

async function attempt(bench: Bench, run: () => Promise<string>): Promise<void> {
  const wrong = await run().then(
    (answer) => (answer.includes(FINAL_MARK) ? undefined : `wrong answer: ${answer.slice(0, 200)}`),
    (error: unknown) => (error instanceof Error ? (error.stack ?? error.message) : String(error)).slice(0, 600),
  );
  if (wrong !== undefined && bench.errors.length < KEPT_ERRORS) bench.errors.push(wrong);
}

async function timed(work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

/** Repeats `work` until both the time and the number of times are reached; resolves to the number of times. */
async function forAtLeast(milliseconds: number, times: number, work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  let done = 0;
  while (done < times || performance.now() - startedAt < milliseconds) {
    await work();
    done += 1;
  }
  return done;
}

function folderFor(bench: Bench, name: 'main' | 'warm' | 'base'): string {
  const folder = join(bench.folder, name);
  mkdirSync(folder, { recursive: true });
  return folder;
}

let lastId = 0;
function nextId(): string {
  lastId += 1;
  return `run-${lastId}`;
}
