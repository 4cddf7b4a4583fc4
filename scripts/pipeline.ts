/**
 * `npm test` and `npm run check`. Nothing here writes into the tree, except the build into dist: a check that repairs what
 * it finds would hide it. Repairs are in fix.ts.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Counts, PACKED_VARIABLE, run, runStages, type Step } from './steps.ts';

const BIOME = 'node_modules/@biomejs/biome/bin/biome';
const TSC = 'node_modules/typescript/bin/tsc';
const VITEST = 'node_modules/vitest/vitest.mjs';

const staticChecks: readonly Step[] = [
  { name: 'format and lint', run: [BIOME, 'ci', '--colors=off', '--error-on-warnings', '.'] },
  { name: 'types', run: [TSC, '-p', '.'] },
  { name: 'types of the console', run: [TSC, '-p', 'console'] },
  { name: 'unused files, exports and dependencies', run: ['node_modules/knip/bin/knip.js', '--no-progress'] },
];

/** With as much beside it as there are cores: threads do some of the work several times. */
const inOneThread = (step: Step): Step => (step.run[0] === TSC ? { ...step, run: [...step.run, '--singleThreaded'] } : step);

const everything: readonly (readonly Step[])[] = [
  [...staticChecks.map(inOneThread), { name: 'build and pack', run: ['scripts/pack.ts'] }],
  [
    { name: 'package contents', run: ['scripts/package-checks.ts', 'contents'] },
    { name: 'package types', run: ['scripts/package-checks.ts', 'types'] },
  ],
  [{ name: 'tests', run: [VITEST, 'run'], counts: true }],
];

async function runEverything(): Promise<Counts> {
  const packed = mkdtempSync(join(tmpdir(), 'troupe-packed-'));
  process.env[PACKED_VARIABLE] = packed;
  try {
    return await runStages(everything);
  } finally {
    rmSync(packed, { recursive: true, force: true });
  }
}

const NODE_MIN = 24;
const EXIT_USAGE = 2;

if (Number(process.versions.node.split('.')[0]) < NODE_MIN) {
  process.stderr.write(`This is Node ${process.versions.node}, the checks need ${NODE_MIN}. Fix: run them with npm test.\n`);
  process.exitCode = EXIT_USAGE;
} else if (process.argv[2] === 'check') {
  process.exitCode = (await runStages([staticChecks])).failed === 0 ? 0 : 1;
} else if (process.argv.length > 3) {
  // `npm test -- src/ledger`: only these tests, none of the other steps.
  process.exitCode = run([VITEST, 'run', ...process.argv.slice(3)]);
} else {
  const { passed, failed, skipped } = await runEverything();
  if (skipped > 0) process.stdout.write(`\n${skipped} skipped`);
  process.stdout.write(`\n${passed} passed, ${failed} failed\n`);
  process.exitCode = failed === 0 ? 0 : 1;
}
