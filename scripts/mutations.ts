/**
 * Breaks the code on purpose, one way after the other, in a copy of this checkout, and has the test run that must see it. Ends
 * with an error when a test does not see its mutation, or sees one where there is none. With everything caught it writes the
 * table in docs/testing.md.
 *
 *     npm run mutations                 # all of them; some minutes
 *     npm run mutations -- exit-code    # those whose file, invariant or change holds this text
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Mutation, mutations, pageWithMutations } from './mutation-list.ts';
import { root } from './steps.ts';

const COPIED = [
  'src',
  'console/store',
  'test',
  'scripts',
  'docs',
  'examples',
  'templates',
  'deploy',
  'bin',
  'package.json',
  'tsconfig.json',
  'vitest.config.ts',
];
const LINKED = ['node_modules', 'tools'];

interface Ran {
  readonly passed: readonly string[];
  readonly failed: readonly string[];
}

function copyOfCheckout(): string {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-mutations-'));
  for (const name of COPIED) cpSync(join(root, name), join(folder, name), { recursive: true });
  for (const name of LINKED) symlinkSync(join(root, name), join(folder, name));
  return folder;
}

/** The names of the tests that ran. Of a file that cannot even be loaded there are none. */
function runTests(folder: string, { file, test }: Mutation['caughtBy']): Ran {
  const report = join(folder, 'report.json');
  rmSync(report, { force: true });
  const pattern = test.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const vitest = join(folder, 'node_modules', 'vitest', 'vitest.mjs');
  const parameters = [vitest, 'run', file, '-t', pattern, '--bail=1', '--reporter=json', `--outputFile=${report}`];
  spawnSync(process.execPath, parameters, { cwd: folder, stdio: 'ignore', timeout: 15 * 60_000 });
  return namesIn(JSON.parse(readFileSync(report, 'utf8')));
}

function namesIn(report: { testResults: { assertionResults: { status: string; fullName: string }[] }[] }): Ran {
  const all = report.testResults.flatMap(({ assertionResults }) => assertionResults);
  const named = (status: string): string[] => all.filter((one) => one.status === status).map(({ fullName }) => fullName);
  return { passed: named('passed'), failed: named('failed') };
}

/** What is wrong with the proof; `undefined` when the test has seen the mutation. */
function whyNotSeen(folder: string, { file, find, replace, caughtBy }: Mutation): string | undefined {
  const path = join(folder, file);
  const source = readFileSync(path, 'utf8');
  if (source.split(find).length !== 2) return `its text occurs ${source.split(find).length - 1} times in ${file}`;
  writeFileSync(
    path,
    source.replace(find, () => replace),
  );
  try {
    const { passed, failed } = runTests(folder, caughtBy);
    if (failed.length > 0) return undefined;
    return passed.length === 0
      ? 'no test ran: the mutation cannot be loaded, or the name is wrong'
      : 'the test passes all the same';
  } finally {
    writeFileSync(path, source);
  }
}

/** Tests that fail anyway would prove nothing. */
function whyUnsound(folder: string, caughtBy: Mutation['caughtBy']): string | undefined {
  const { passed, failed } = runTests(folder, caughtBy);
  if (failed.length > 0) return `fails without any mutation: ${failed.join(', ')}`;
  return passed.length === 0 ? 'there is no such test' : undefined;
}

function main(): number {
  const [wanted = ''] = process.argv.slice(2);
  const chosen = mutations.filter(({ file, invariant, change }) => `${file} ${invariant} ${change}`.includes(wanted));
  const folder = copyOfCheckout();
  const say = (text: string): void => void process.stdout.write(`${text}\n`);
  let wrong = 0;
  try {
    const tests = new Map(chosen.map(({ caughtBy }) => [`${caughtBy.file}: ${caughtBy.test}`, caughtBy]));
    for (const [name, test] of tests) {
      const why = whyUnsound(folder, test);
      if (why !== undefined) say(`UNSOUND  ${name}: ${why}`);
      if (why !== undefined) wrong += 1;
    }
    for (const mutation of chosen) {
      const why = whyNotSeen(folder, mutation);
      say(
        `${why === undefined ? 'caught ' : 'MISSED '}  ${mutation.invariant}: ${mutation.change}${why === undefined ? '' : ` (${why})`}`,
      );
      if (why !== undefined) wrong += 1;
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  say(`\n${chosen.length} mutations, ${wrong} problems`);
  if (wrong > 0 || chosen.length === 0) return 1;
  if (chosen.length < mutations.length) return 0;
  const path = join(root, 'docs', 'testing.md');
  const page = pageWithMutations(readFileSync(path, 'utf8'));
  if (page === undefined) throw new Error('docs/testing.md has lost the markers around its table of mutations.');
  writeFileSync(path, page);
  return 0;
}

process.exitCode = main();
