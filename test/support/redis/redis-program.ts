/**
 * The program of a real Redis: redis-server or valkey-server on the PATH, or, as root on Debian, taken from its packages into a
 * folder, without installing anything. Where there is none, tests that need it do not run and say so; in CI that is a failure.
 */
import { execFileSync } from 'node:child_process';
import { accessSync, constants, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { userInfo } from 'node:os';
import { delimiter, join } from 'node:path';
import { describe } from 'vitest';
import { messageOf } from '../../../src/base/errors.ts';

export interface RedisProgram {
  readonly path: string;
  readonly env: Readonly<Record<string, string>>;
}

type Found = { readonly program: RedisProgram } | { readonly why: string };

function onPath(names: readonly string[]): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.flatMap((folder) => names.map((name) => join(folder, name))).find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Kept for the next run, beside what else is: a folder for temporary files may not let programs run. */
const CACHE = join(import.meta.dirname, '../../../node_modules/.cache');
const KEPT = join(CACHE, 'redis-packages');

/** The packages with all that they need, unpacked into one folder. */
function fromPackages(): Found {
  const none = 'neither redis-server nor valkey-server is on the PATH';
  if (!existsSync(KEPT)) {
    if (userInfo().uid !== 0) return { why: `${none}, and this is not root` };
    if (onPath(['apt-get']) === undefined || onPath(['dpkg']) === undefined)
      return { why: `${none}, and there is no apt-get to get one with` };
    const problem = unpack();
    if (problem !== undefined) return { why: `${none}, and it could not be had from Debian's packages: ${problem}` };
  }
  const path = join(KEPT, 'usr/bin/redis-server');
  if (!isProgram(path)) return { why: `${none}, and Debian's packages brought none` };
  const libraries = join(KEPT, 'usr/lib');
  const places = existsSync(libraries) ? readdirSync(libraries).map((name) => join(libraries, name)) : [];
  return { program: { path, env: { LD_LIBRARY_PATH: [libraries, ...places].join(delimiter) } } };
}

/** Whoever is ready first wins: what several unpack at the same time is the same. Says what went wrong. */
function unpack(): string | undefined {
  mkdirSync(CACHE, { recursive: true });
  const folder = mkdtempSync(`${KEPT}-`);
  const archives = join(folder, 'archives');
  mkdirSync(join(archives, 'partial'), { recursive: true });
  const download = (): void => {
    const options = ['-y', '--no-install-recommends', '--reinstall', '--download-only', '-o', `Dir::Cache::archives=${archives}`];
    execFileSync('apt-get', ['install', ...options, 'redis-server', 'redis-tools'], { stdio: 'pipe' });
  };
  try {
    try {
      download();
    } catch {
      execFileSync('apt-get', ['update'], { stdio: 'pipe' });
      download();
    }
    const root = join(folder, 'root');
    for (const name of readdirSync(archives).filter((file) => file.endsWith('.deb')))
      execFileSync('dpkg', ['-x', join(archives, name), root], { stdio: 'pipe' });
    if (!existsSync(KEPT)) renameSync(root, KEPT);
    return undefined;
  } catch (error) {
    return existsSync(KEPT) ? undefined : messageOf(error);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function find(): Found {
  const path = onPath(['redis-server', 'valkey-server']);
  return path === undefined ? fromPackages() : { program: { path, env: {} } };
}

const found = find();

export function redisProgram(): RedisProgram {
  if ('why' in found) throw new Error(found.why);
  return found.program;
}

/** Tests that need a Redis. */
export function describeWithRedis(name: string, tests: () => void): void {
  if ('why' in found) {
    if (process.env['CI']) throw new Error(`In CI nothing is left out: ${found.why}`);
    process.stderr.write(`\nThe tests of "${name}" do not run: ${found.why}.\n`);
  }
  describe.skipIf('why' in found)(name, tests);
}
