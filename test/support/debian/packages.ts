/**
 * Programs of Debian's packages for tests: on the PATH, or, as root on Debian, unpacked into a folder that is kept for the next
 * run, without installing anything. Where they cannot be had, it is said why.
 */
import { execFileSync } from 'node:child_process';
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { userInfo } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { messageOf } from '../../../src/base/errors.ts';

/** `programs`: the folder with the programs, each of which starts in any environment. */
export type Debian = { readonly programs: string } | { readonly why: string };

/** Beside what else is kept: a folder for temporary files may not let programs run. */
const CACHE = join(import.meta.dirname, '../../../node_modules/.cache');

export function onPath(names: readonly string[]): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.flatMap((folder) => names.map((name) => join(folder, name))).find(isProgram);
}

export function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The packages with all that they need, unpacked into one folder of this name. */
export function fromDebian(name: string, packages: readonly string[]): Debian {
  const kept = join(CACHE, 'debian', name);
  if (!existsSync(kept)) {
    if (userInfo().uid !== 0) return { why: 'this is not root' };
    if (onPath(['apt-get']) === undefined || onPath(['dpkg']) === undefined)
      return { why: 'there is no apt-get to get them with' };
    const problem = unpack(kept, packages);
    if (problem !== undefined) return { why: `they could not be had from Debian's packages: ${problem}` };
  }
  return { programs: join(kept, 'bin') };
}

/**
 * Programs find their libraries here, whoever starts them and with whatever environment: inside a sandbox there is little of
 * ours. Named as they are, since some ask for the name that they were started by.
 */
function makeStartable(root: string): void {
  // Shells lie beside /usr in their packages.
  if (existsSync(join(root, 'bin'))) {
    mkdirSync(join(root, 'usr/bin'), { recursive: true });
    for (const name of readdirSync(join(root, 'bin'))) renameSync(join(root, 'bin', name), join(root, 'usr/bin', name));
    rmSync(join(root, 'bin'), { recursive: true });
  }
  mkdirSync(join(root, 'bin'));
  const libraries = readdirSync(join(root, 'usr/lib')).map((one) => `"$top/usr/lib/${one}"`);
  const folders = ['usr/bin', 'usr/sbin'].filter((folder) => existsSync(join(root, folder)));
  for (const [folder, name] of folders.flatMap((one) => readdirSync(join(root, one)).map((name) => [one, name] as const))) {
    const lines = [
      '#!/bin/sh',
      'top=$(dirname "$0")/..',
      `export LD_LIBRARY_PATH=${['"$top/usr/lib"', ...libraries].join(delimiter)}`,
      `exec "$top/${folder}/${name}" "$@"`,
    ];
    writeFileSync(join(root, 'bin', name), `${lines.join('\n')}\n`, { mode: 0o755 });
  }
}

const LOCK_SECONDS = 120;

/** One after the other, and behind what somebody else installs on this machine: two at a time are one too many for dpkg. */
function inTurn(args: readonly string[]): void {
  const patient = ['-o', `DPkg::Lock::Timeout=${LOCK_SECONDS}`];
  execFileSync('flock', [join(CACHE, 'debian', 'in-turn'), 'apt-get', ...patient, ...args], { stdio: 'pipe' });
}

/** Whoever is ready first wins: what several unpack at the same time is the same. Says what went wrong. */
function unpack(kept: string, packages: readonly string[]): string | undefined {
  mkdirSync(dirname(kept), { recursive: true });
  const folder = mkdtempSync(`${kept}-`);
  const archives = join(folder, 'archives');
  mkdirSync(join(archives, 'partial'), { recursive: true });
  const download = (): void => {
    const options = ['-y', '--no-install-recommends', '--reinstall', '--download-only', '-o', `Dir::Cache::archives=${archives}`];
    inTurn(['install', ...options, ...packages]);
  };
  try {
    try {
      download();
    } catch {
      inTurn(['update']);
      download();
    }
    const root = join(folder, 'root');
    for (const file of readdirSync(archives).filter((one) => one.endsWith('.deb')))
      execFileSync('dpkg', ['-x', join(archives, file), root], { stdio: 'pipe' });
    makeStartable(root);
    if (!existsSync(kept)) renameSync(root, kept);
    return undefined;
  } catch (error) {
    return existsSync(kept) ? undefined : messageOf(error);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
