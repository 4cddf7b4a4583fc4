/**
 * The program of a real Redis: redis-server or valkey-server on the PATH, or, as root on Debian, taken from its packages into a
 * folder, without installing anything. Where there is none, tests that need it do not run and say so; in CI that is a failure.
 */
import { execFileSync } from 'node:child_process';
import { accessSync, constants, existsSync, mkdirSync, mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { delimiter, join } from 'node:path';
import { describe } from 'vitest';

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

/** The packages with all that they need, each unpacked into one folder. */
function fromPackages(): Found {
  if (userInfo().uid !== 0) return { why: 'neither redis-server nor valkey-server is on the PATH, and this is not root' };
  if (onPath(['apt-get']) === undefined || onPath(['dpkg']) === undefined)
    return { why: 'neither redis-server nor valkey-server is on the PATH, and there is no apt-get to get one with' };
  const folder = mkdtempSync(join(tmpdir(), 'troupe-redis-packages-'));
  const archives = join(folder, 'archives');
  const root = join(folder, 'root');
  mkdirSync(join(archives, 'partial'), { recursive: true });
  const download = (): void => {
    const options = ['-y', '--no-install-recommends', '--download-only', '-o', `Dir::Cache::archives=${archives}`];
    execFileSync('apt-get', ['install', ...options, 'redis-server'], { stdio: 'pipe' });
  };
  try {
    try {
      download();
    } catch {
      execFileSync('apt-get', ['update'], { stdio: 'pipe' });
      download();
    }
    for (const name of readdirSync(archives).filter((file) => file.endsWith('.deb')))
      execFileSync('dpkg', ['-x', join(archives, name), root], { stdio: 'pipe' });
  } catch (error) {
    return { why: `redis-server could not be had from Debian's packages: ${error instanceof Error ? error.message : error}` };
  }
  const path = join(root, 'usr/bin/redis-server');
  if (!existsSync(path)) return { why: "Debian's packages brought no redis-server" };
  const libraries = join(root, 'usr/lib');
  const places = existsSync(libraries) ? readdirSync(libraries).map((name) => join(libraries, name)) : [];
  return { program: { path, env: { LD_LIBRARY_PATH: [libraries, ...places].join(delimiter) } } };
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
