/**
 * The benchmark: `node bench/run.ts [--quick] [--only floor,troupe] [--workloads w1,w3] [--repetitions 3] [--write]`.
 * Every measurement is a fresh process; within a repetition the systems take turns, and who begins changes from one to the
 * next. Prints the tables, keeps them in bench/results/latest.{md,json}, and with --write puts them into docs/benchmark.md.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build, builtFolder, resultsFolder } from './build.ts';
import {
  growthTurns,
  type Outcome,
  type Pace,
  paces,
  type Results,
  type Row,
  type WorkerReport,
  type WorkloadName,
  workloadNames,
} from './measurement.ts';
import { probeColdStart, probeCrash } from './probes.ts';
import { type FakeServer, runWorker, startServer, withFolder } from './processes.ts';
import { createGate, type Gate, QUIET_PERCENT } from './quiet.ts';
import { render } from './render.ts';
import { BASELINE, type SystemEntry, systems } from './systems/list.ts';

const PAGE = fileURLToPath(new URL('../docs/benchmark.md', import.meta.url));
const RESULTS_START = '<!-- results: written by `npm run bench -- --write` -->';
const RESULTS_END = '<!-- end of results -->';

interface Plan {
  readonly pace: Pace;
  readonly mode: 'quick' | 'full';
  readonly systems: readonly SystemEntry[];
  readonly workloads: readonly WorkloadName[];
  readonly write: boolean;
}
interface Task {
  readonly workload: WorkloadName;
  readonly turns?: number;
}
/** What a repetition works with. */
interface Measuring {
  readonly server: FakeServer;
  readonly gate: Gate;
  readonly plan: Plan;
  readonly leftMs: () => number;
}

function readPlan(): Plan {
  const { values } = parseArgs({
    options: {
      quick: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
      only: { type: 'string' },
      workloads: { type: 'string' },
      repetitions: { type: 'string' },
    },
  });
  const mode = values.quick ? 'quick' : 'full';
  const only = values.only?.split(',');
  const wanted = values.workloads?.split(',');
  const repetitions = Number(values.repetitions ?? paces[mode].repetitions);
  if (!Number.isInteger(repetitions) || repetitions < 1) throw new Error('--repetitions takes a whole number from 1');
  refuseUnknown(
    '--only',
    only ?? [],
    systems.map((entry) => entry.name),
  );
  refuseUnknown('--workloads', wanted ?? [], workloadNames);
  return {
    mode,
    pace: { ...paces[mode], repetitions },
    systems: systems.filter((entry) => entry.name === BASELINE || (only?.includes(entry.name) ?? true)),
    workloads: workloadNames.filter((name) => wanted?.includes(name) ?? true),
    write: values.write,
  };
}

function refuseUnknown(option: string, given: readonly string[], known: readonly string[]): void {
  const unknown = given.filter((name) => !known.includes(name));
  if (unknown.length > 0) throw new Error(`${option} does not know ${unknown.join(', ')}; it knows ${known.join(', ')}`);
}

function tasksOf(plan: Plan): readonly Task[] {
  return plan.workloads.flatMap((workload): readonly Task[] =>
    workload === 'w3' ? growthTurns.map((turns) => ({ workload, turns })) : [{ workload }],
  );
}

async function measure(measuring: Measuring, entry: SystemEntry, task: Task): Promise<Outcome> {
  const why = entry.missing[task.workload];
  if (why !== undefined) return { kind: 'missing', why };
  if (measuring.leftMs() <= 0) return { kind: 'missing', why: 'no time was left' };
  const { server, plan } = measuring;
  const { pace } = plan;
  if (task.workload === 'crash') return countedOnly(await probeCrash(server, pace, entry.name));
  return measuring.gate.measure(() => {
    if (task.workload === 'w5') return probeColdStart(server, pace, entry.name);
    return withFolder((folder) => runWorker(server.origin, pace, { ...task, system: entry.name, folder, timeoutMs: pace.jobMs }));
  });
}

/** What is counted and not timed needs no quiet machine. */
function countedOnly({ errors, figures }: WorkerReport): Outcome {
  return errors.length > 0 ? { kind: 'failed', errors } : { kind: 'measured', figures, attempts: 1 };
}

async function repeat(measuring: Measuring, repetition: number, record: (row: Row) => void): Promise<void> {
  const all = measuring.plan.systems;
  const first = (repetition - 1) % all.length;
  const order = [...all.slice(first), ...all.slice(0, first)];
  for (const task of tasksOf(measuring.plan)) {
    for (const entry of order) {
      record({ repetition, ...task, system: entry.name, outcome: await measure(measuring, entry, task) });
    }
  }
}

function report(row: Row): void {
  const size = row.turns === undefined ? '' : ` ${row.turns} turns`;
  console.error(`[${row.repetition}] ${row.workload}${size} ${row.system}: ${describe(row.outcome)}`);
}

function describe(outcome: Outcome): string {
  if (outcome.kind === 'missing') return outcome.why;
  if (outcome.kind === 'failed') return `FAILED ${outcome.errors[0] ?? ''}`;
  const figures = Object.entries(outcome.figures).map(([name, value]) => `${name} ${Number(value.toPrecision(4))}`);
  const others = outcome.foreignPercent === undefined ? '' : ` (others ${outcome.foreignPercent.toFixed(0)} %)`;
  return figures.join(', ') + others;
}

async function runPlan(plan: Plan): Promise<Results> {
  const startedAt = new Date();
  const start = performance.now();
  const leftMs = () => plan.pace.totalMs - (performance.now() - start);
  const server = await startServer();
  const rows: Row[] = [];
  let repetitions = 0;
  try {
    const gate = createGate(server.control, plan.pace, () => leftMs() < plan.pace.totalMs / 4);
    let longest = 0;
    while (repetitions < plan.pace.repetitions && (repetitions === 0 || leftMs() > longest)) {
      repetitions += 1;
      const begun = performance.now();
      await repeat({ server, gate, plan, leftMs }, repetitions, (row) => {
        rows.push(row);
        report(row);
      });
      longest = Math.max(longest, performance.now() - begun);
    }
  } finally {
    server.stop();
  }
  return {
    machine: {
      cpu: cpus()[0]?.model ?? 'unknown',
      cores: cpus().length,
      memoryGib: Math.round(totalmem() / 2 ** 30),
      platform: process.platform,
      node: process.version,
      sqlite: process.versions['sqlite'] ?? 'unknown',
    },
    startedAt: startedAt.toISOString(),
    seconds: Math.round((performance.now() - start) / 1_000),
    mode: plan.mode,
    repetitions,
    quietPercent: QUIET_PERCENT,
    systems: plan.systems.map(({ name, keeps }) => ({ name, keeps })),
    rows,
  };
}

function writePage(tables: string): void {
  const page = readFileSync(PAGE, 'utf8');
  const start = page.indexOf(RESULTS_START);
  const end = page.indexOf(RESULTS_END);
  if (start === -1 || end < start) throw new Error('docs/benchmark.md has lost the marks around its results');
  writeFileSync(PAGE, `${page.slice(0, start)}${RESULTS_START}\n\n${tables}\n${page.slice(end)}`);
}

const plan = readPlan();
mkdirSync(resultsFolder, { recursive: true });
build();
const results = await runPlan(plan);
rmSync(builtFolder, { recursive: true, force: true });
const tables = render(results);
writeFileSync(`${resultsFolder}/latest.json`, `${JSON.stringify(results, null, 1)}\n`);
writeFileSync(`${resultsFolder}/latest.md`, tables);
if (plan.write) writePage(tables);
process.stdout.write(tables);
