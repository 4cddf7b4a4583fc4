/**
 * The programs that tests start as processes, built once in each run of the tests, when the first test asks for one; never kept
 * for another run, so that nobody is shown an old one. Without the runner of the tests, for benchmarks say, they are the sources.
 */
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const BUILD = join(import.meta.dirname, 'build-main.ts');

/** Set by test/support/run-folder.ts. */
export const PROGRAMS_VARIABLE = 'TROUPE_TEST_PROGRAMS';

/**
 * Room for what is young: a process that lives for a moment collects garbage for a sixth of its time otherwise, and so does one
 * that runs a file of tests.
 */
export const ROOM_FOR_THE_YOUNG = ['--min-semi-space-size=64', '--max-semi-space-size=64'] as const;

/** What to start for this file of the sources. */
export async function programOf(source: string): Promise<string> {
  const folder = process.env[PROGRAMS_VARIABLE];
  if (folder === undefined) return source;
  if (!existsSync(folder)) await buildInto(folder);
  const program = join(folder, relative(ROOT, source)).replace(/\.ts$/, '.js');
  if (!existsSync(program)) throw new Error(`${source} is none of the programs in ${BUILD}`);
  return program;
}

/** Whoever is ready first wins: what several build at the same time is the same. */
async function buildInto(folder: string): Promise<void> {
  const own = join(mkdtempSync(`${folder}-`), 'built');
  await promisify(execFile)(process.execPath, [BUILD, own, folder]);
  try {
    renameSync(own, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
  } finally {
    rmSync(dirname(own), { recursive: true, force: true });
  }
}
