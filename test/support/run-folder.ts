/**
 * Prepares each run of the tests, once, before the first of them: where their files go, where Node
 * keeps what it compiled, and where the programs that they start are built.
 *
 * Files go to memory where there is enough of it, since no test pulls a plug: what a killed process has written stays there,
 * on a disk and in memory alike, and nobody waits for a disk. What a loss of power leaves is another test's subject
 * (test/sim/power-loss.test.ts). Set TMPDIR for another place.
 */
import { chmodSync, mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { codeOf } from '../../src/base/errors.ts';
import { PROGRAMS_VARIABLE } from './programs/programs.ts';

const MEMORY = '/dev/shm';
const ENOUGH_BYTES = 2 ** 31;
/** With the machine: containers may share their memory, but not their processes. */
const PREFIX = `troupe-${hostname()}-`;

export function setup(project: TestProject): () => void {
  // Hundreds of processes are started from the same sources: types are stripped and code is compiled once.
  process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, '..', '..', 'node_modules', '.cache', 'compiled');
  const folders = [...putFilesInMemory(), ...placePrograms(project)];
  return () => {
    for (const folder of folders.toReversed()) rmSync(folder, { recursive: true, force: true });
  };
}

function putFilesInMemory(): string[] {
  if (process.env['TMPDIR'] !== undefined || !hasRoom(MEMORY)) return [];
  removeLeftovers();
  process.env['TMPDIR'] = openFolder(join(MEMORY, `${PREFIX}${process.pid}-`));
  return [process.env['TMPDIR']];
}

/** Where they are built when a test asks for one: once for all projects, and again when somebody changes a file and watches. */
function placePrograms(project: TestProject): string[] {
  if (process.env[PROGRAMS_VARIABLE] !== undefined) return [];
  const folder = openFolder(join(tmpdir(), 'troupe-programs-'));
  const built = join(folder, 'built');
  process.env[PROGRAMS_VARIABLE] = built;
  project.onTestsRerun(() => rmSync(built, { recursive: true, force: true }));
  return [folder];
}

/** Open to all, as every folder for temporary files: some of what the tests start runs as another user. */
function openFolder(prefix: string): string {
  const folder = mkdtempSync(prefix);
  chmodSync(folder, 0o1777);
  return folder;
}

function hasRoom(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize > ENOUGH_BYTES;
  } catch {
    return false;
  }
}

/** Of runs that were killed: memory is dearer than a disk. */
function removeLeftovers(): void {
  for (const name of readdirSync(MEMORY)) {
    const [pid = ''] = name.startsWith(PREFIX) ? name.slice(PREFIX.length).split('-') : [];
    if (pid !== '' && !isAlive(Number(pid))) rmSync(join(MEMORY, name), { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) !== 'ESRCH';
  }
}
