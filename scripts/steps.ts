/**
 * Runs the steps of a pipeline, each in its own process, with its name and time: stage after stage, the steps of a stage side
 * by side; stops after the first stage in which one failed.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const root = join(import.meta.dirname, '..');

/** Names the folder of the tarball that all checks of one run look at. */
export const PACKED_VARIABLE = 'TROUPE_PACKED';

/** Says that somebody checks the types of the same sources meanwhile: what builds them need not do it once more. */
export const CHECKED_VARIABLE = 'TROUPE_TYPES_CHECKED';

export interface Step {
  readonly name: string;
  /** A program of node_modules, as the path of its JavaScript file, and its parameters. */
  readonly run: readonly string[];
  /** vitest: the counts of its tests are added up. Has a stage to itself. */
  readonly counts?: boolean;
}

export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

const SECOND_MS = 1000;
const NOTHING: Counts = { passed: 0, failed: 0, skipped: 0 };
const ONE_FAILURE: Counts = { ...NOTHING, failed: 1 };

/** The sum of all tests. A failed step without tests of its own counts as one failure. */
export async function runStages(stages: readonly (readonly Step[])[]): Promise<Counts> {
  let total: Counts = NOTHING;
  for (const stage of stages) {
    const [only, ...others] = stage;
    const ended =
      only !== undefined && others.length === 0 ? [runHere(only)] : await Promise.all(stage.map((step) => runBeside(step)));
    total = ended.reduce(add, total);
    if (total.failed > 0) return total;
  }
  return total;
}

/** A step that has the terminal to itself: what it says is seen as it says it. */
function runHere(step: Step): Counts {
  process.stdout.write(`\n── ${step.name}\n`);
  const startedAt = performance.now();
  const { exitCode, counts } = step.counts === true ? runVitest(step.run) : { exitCode: run(step.run), counts: undefined };
  process.stdout.write(endOf(step, exitCode, startedAt));
  return exitCode === 0 || (counts?.failed ?? 0) > 0 ? (counts ?? NOTHING) : add(counts ?? NOTHING, ONE_FAILURE);
}

/** A step beside others: what it said is shown when it has ended, in one piece. */
async function runBeside(step: Step): Promise<Counts> {
  const startedAt = performance.now();
  const [script = '', ...parameters] = step.run;
  const child = spawn(process.execPath, [join(root, script), ...parameters], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  const said: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => said.push(chunk));
  const [exitCode] = await once(child, 'close');
  process.stdout.write(`\n── ${step.name}\n${Buffer.concat(said).toString()}${endOf(step, exitCode, startedAt)}`);
  return exitCode === 0 ? NOTHING : ONE_FAILURE;
}

const endOf = (step: Step, exitCode: number | null, startedAt: number): string =>
  `${exitCode === 0 ? 'ok' : 'FAILED'}  ${step.name}  ${((performance.now() - startedAt) / SECOND_MS).toFixed(1)} s\n`;

/** Runs a JavaScript or TypeScript file with this Node; the exit code, 1 when a signal ended it. */
export function run(command: readonly string[]): number {
  const [script, ...parameters] = command;
  if (script === undefined) return 1;
  const done = spawnSync(process.execPath, [join(root, script), ...parameters], { cwd: root, stdio: 'inherit' });
  return done.status ?? 1;
}

/** The same, while this process goes on with what else it has to do. */
export async function runAside([script = '', ...parameters]: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, [join(root, script), ...parameters], { cwd: root, stdio: 'inherit' });
  const [exitCode] = await once(child, 'close');
  return exitCode ?? 1;
}

function runVitest(command: readonly string[]): { readonly exitCode: number; readonly counts: Counts } {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-tests-'));
  try {
    const file = join(folder, 'report.json');
    const color = process.stdout.isTTY ? [] : ['--no-color'];
    const exitCode = run([...command, ...color, '--reporter=default', '--reporter=json', `--outputFile.json=${file}`]);
    return { exitCode, counts: readCounts(file) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A report that is missing or has no tests counts as a failure: a run that saw nothing proves nothing. */
function readCounts(file: string): Counts {
  try {
    const report: unknown = JSON.parse(readFileSync(file, 'utf8'));
    const passed = countIn(report, 'numPassedTests');
    const failed = countIn(report, 'numFailedTests');
    const skipped = countIn(report, 'numPendingTests') + countIn(report, 'numTodoTests');
    return passed + failed === 0 ? { passed, failed: 1, skipped } : { passed, failed, skipped };
  } catch {
    return { passed: 0, failed: 1, skipped: 0 };
  }
}

function countIn(report: unknown, name: string): number {
  const value: unknown = typeof report === 'object' && report !== null ? Reflect.get(report, name) : undefined;
  return typeof value === 'number' ? value : 0;
}

const add = (one: Counts, other: Counts): Counts => ({
  passed: one.passed + other.passed,
  failed: one.failed + other.failed,
  skipped: one.skipped + other.skipped,
});
