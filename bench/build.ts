/**
 * Compiles the benchmark and the library to JavaScript, as the published package is. Measured from the sources, the cold
 * start would be mostly the time Node takes to load its type stripper.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
/** Ignored by git, and inside the package so that its dependencies are found. */
export const resultsFolder = `${root}bench/results`;
export const builtFolder = `${resultsFolder}/built`;

export function build(): void {
  rmSync(builtFolder, { recursive: true, force: true });
  mkdirSync(builtFolder, { recursive: true });
  copyFileSync(`${root}package.json`, `${builtFolder}/package.json`);
  const compiler = `${root}node_modules/typescript/bin/tsc`;
  const options = ['-p', root, '--noEmit', 'false', '--rootDir', root, '--outDir', builtFolder];
  const { stdout, status } = spawnSync(process.execPath, [compiler, ...options], { encoding: 'utf8' });
  if (!existsSync(`${builtFolder}/bench/worker.js`)) throw new Error(`the compiler wrote nothing:\n${stdout.slice(0, 2_000)}`);
  if (status !== 0) console.error('warning: the sources have type errors; measuring what was compiled all the same');
}
