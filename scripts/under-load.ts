/**
 * Runs test files again and again on one core, with busy loops on the same core, and says how often each passed. All of them
 * once, then all of them again, so that what was found by then is known at every moment:
 *
 *     node scripts/under-load.ts                        every test that starts or kills processes, 20 times, 8 busy loops
 *     node scripts/under-load.ts --times 5 --loops 4 --core 1 test/sim/kill.test.ts
 *     node scripts/under-load.ts --times 1 --loops 4 --whole     the whole suite, in one run
 *     node scripts/under-load.ts --loops 0 --beside 9            nine files at a time, so that each has eight others as its load
 *
 * Which tests start or kill processes is found in the sources: a file that does, or that imports one that does, of the tests or
 * of the product (the shell, MCP servers, runners, the servers of a cluster). Linux only.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { z } from 'zod';

const root = join(import.meta.dirname, '..');
const VITEST = 'node_modules/vitest/vitest.mjs';
const TESTS = ['src/**/*.test.ts', 'test/**/*.test.ts', 'bench/**/*.test.ts'];
/** They build in the checkout itself: two of them at a time would break each other. */
const BUILDS: ReadonlySet<string> = new Set(['test/package.test.ts', 'test/bootstrap.test.ts']);
const STARTS = /from 'node:child_process'/;
const STARTS_OR_KILLS = /from 'node:child_process'|\.kill\(/;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    times: { type: 'string', default: '20' },
    loops: { type: 'string', default: '8' },
    core: { type: 'string', default: '0' },
    whole: { type: 'boolean', default: false },
    beside: { type: 'string' },
  },
});

/** Of the project's own files, those that a file loads. A type loads nothing. */
function importsOf(path: string, text: string): readonly string[] {
  const named = text.matchAll(/^(?:import|export) (?!type )[^;]*?from '(\.[^']+)'|import\(\s*'(\.[^']+)'/gm);
  return [...named].map(([, always, later]) => join(dirname(path), always ?? later ?? ''));
}

/** Tests that start or kill processes, and those that load something that starts them. */
function testsWithProcesses(): readonly string[] {
  const starts = (path: string, seen: Set<string>): boolean => {
    // Texts in tests name files that there are not.
    if (seen.has(path) || !existsSync(path)) return false;
    seen.add(path);
    const text = readFileSync(path, 'utf8');
    // The product also asks with a signal whether somebody lives: that starts nothing.
    const found = (path.endsWith('.test.ts') || relative(root, path).startsWith('test/') ? STARTS_OR_KILLS : STARTS).test(text);
    return found || importsOf(path, text).some((one) => starts(one, seen));
  };
  return TESTS.flatMap((pattern) => globSync(pattern, { cwd: root, exclude: ['**/node_modules/**'] }))
    .filter((path) => starts(join(root, path), new Set()))
    .toSorted();
}

const onCore = (command: string, parameters: readonly string[]): [string, string[]] => [
  'taskset',
  ['-c', values.core, command, ...parameters],
];

function run(
  parameters: readonly string[],
  heard: (text: string) => void = () => undefined,
): Promise<{ readonly passed: boolean; readonly said: string }> {
  const child = spawn(...onCore(process.execPath, [VITEST, 'run', ...parameters]), {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      heard(chunk.toString());
    });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ passed: code === 0, said }));
  });
}

interface Count {
  passed: number;
  failed: number;
  seconds: number;
}

const counts = new Map<string, Count>();

function note(name: string, passed: boolean, seconds: number, said: string): void {
  const count = counts.get(name) ?? { passed: 0, failed: 0, seconds: 0 };
  counts.set(name, count);
  count.seconds += seconds;
  if (passed) count.passed += 1;
  else count.failed += 1;
  process.stdout.write(passed ? `passed  ${name}\n` : `FAILED  ${name}\n${said}\n`);
}

/** What takes long says which files have ended, and how, as it comes. */
const telling =
  (when: string) =>
  (text: string): void => {
    for (const line of text.matchAll(/^.*[✓❯].*\.test\.ts.*$/gm)) process.stdout.write(`${when}: ${line[0].trim()}\n`);
  };

async function once(name: string, parameters: readonly string[]): Promise<void> {
  const begun = performance.now();
  const { passed, said } = await run(parameters, parameters.length === 0 ? telling('whole') : undefined);
  note(name, passed, (performance.now() - begun) / 1_000, said);
}

/** What Vitest says of each file when it has run several. */
const Results = z.object({
  testResults: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      startTime: z.number(),
      endTime: z.number(),
      message: z.string().default(''),
    }),
  ),
});

/** All files after each other, in an order of their own, in one run. A file that Vitest says nothing of has failed. */
async function inTurn(files: readonly string[], round: number): Promise<void> {
  const output = join(mkdtempSync(join(tmpdir(), 'under-load-')), 'results.json');
  const order = ['--maxWorkers=1', '--sequence.shuffle.files', `--sequence.seed=${round}`];
  const reports = ['--reporter=default', '--reporter=json', `--outputFile=${output}`];
  const { said } = await run([...files, ...order, ...reports], telling(`round ${round}`));
  const { testResults } = existsSync(output) ? Results.parse(JSON.parse(readFileSync(output, 'utf8'))) : { testResults: [] };
  for (const file of files) {
    const result = testResults.find(({ name }) => relative(root, name) === file);
    note(file, result?.status === 'passed', result === undefined ? 0 : (result.endTime - result.startTime) / 1_000, '');
  }
  if (testResults.some(({ status }) => status !== 'passed') || testResults.length < files.length) process.stdout.write(said);
}

/** So many rounds beside each other, each in another order, until there were so many: they are each other's load. */
async function inLanes(all: readonly string[], lanes: number, times: number): Promise<void> {
  const files = all.filter((file) => !BUILDS.has(file));
  let begun = 0;
  let ended = 0;
  const lane = async (): Promise<void> => {
    while (begun < times) {
      begun += 1;
      await inTurn(files, begun);
      ended += 1;
      report(ended);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  for (const file of all.filter((one) => BUILDS.has(one)))
    for (let round = 1; round <= times; round += 1) await once(file, [file]);
}

function report(rounds: number): void {
  const rows = [...counts].map(([name, { passed, failed, seconds }]) => {
    const times = passed + failed;
    return `| ${name} | ${passed} of ${times} | ${Math.round(seconds / times)} s |`;
  });
  process.stdout.write(
    `\nafter ${rounds} of ${values.times} rounds\n\n| test | passed | each |\n|---|---|---|\n${rows.join('\n')}\n\n`,
  );
}

const files = positionals.length > 0 ? positionals : testsWithProcesses();
if (files.length === 0) throw new Error('no test was found that starts or kills processes');
const loops: ChildProcess[] = Array.from({ length: Number(values.loops) }, () =>
  spawn(...onCore(process.execPath, ['-e', 'for (;;);']), { stdio: 'ignore' }),
);
process.once('exit', () => {
  for (const loop of loops) loop.kill('SIGKILL');
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

process.stdout.write(`${loops.length} busy loops on core ${values.core}\n\n`);
const rounds = Number(values.times);
if (values.beside !== undefined) await inLanes(files, Number(values.beside), rounds);
else
  for (let round = 1; round <= rounds; round += 1) {
    if (values.whole) await once('the whole suite', []);
    else for (const file of files) await once(file, [file]);
    report(round);
  }
const failures = [...counts.values()].reduce((sum, { failed }) => sum + failed, 0);
process.stdout.write(failures === 0 ? 'all passed\n' : `${failures} failed\n`);
process.exit(failures === 0 ? 0 : 1);
