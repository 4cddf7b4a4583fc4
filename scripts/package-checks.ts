/**
 * Whether the packed tarball is in order (publint), and whether programs find its types, whichever way they look for modules
 * (attw). The package is ES modules only. Usage: package-checks.ts contents|types
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { PACKED_VARIABLE, run } from './steps.ts';

const checks: Readonly<Record<string, readonly string[]>> = {
  contents: ['node_modules/publint/src/cli.js', 'run', '--strict'],
  types: ['node_modules/@arethetypeswrong/cli/dist/index.js', '--profile', 'esm-only', '--no-definitely-typed', '--no-emoji'],
};

const folder = process.env[PACKED_VARIABLE] ?? '';
const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz'));
const check = checks[process.argv[2] ?? ''];
process.exitCode = tarball === undefined || check === undefined ? 1 : run([...check, join(folder, tarball)]);
