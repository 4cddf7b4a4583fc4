/**
 * One change of a workspace's files at a time, in all processes of a machine: between looking at a file and replacing it nobody
 * else does the same.
 *
 * It lies in `.troupe` of the workspace. Workspaces may lie in each other: whoever changes a file holds the lock of every folder
 * above it that has one, outermost first, so two that can reach the same file always have one in common.
 */
import { mkdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import { limits } from '../../base/limits.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import { type LockFailure, whileLocked } from '../../process/system-lock.ts';
import { STATE_FOLDER } from '../protected-names.ts';
import type { InsidePath } from './workspace.ts';

const LOCK_FILE = 'files.lock';

export interface LockOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Makes a change while nobody else does. The failure says why it could not be made; it was not begun then. */
export async function alone<Outcome>(
  path: InsidePath,
  options: LockOptions,
  change: () => Promise<Outcome>,
): Promise<Result<Outcome, string>> {
  try {
    await makePlace(path.root);
  } catch (error) {
    return fail(`${path.relative}: ${join(STATE_FOLDER, LOCK_FILE)} cannot be made in the workspace: ${messageOf(error)}`);
  }
  const [outermost, ...inner] = await placesAbove(path);
  if (outermost === undefined) return fail(`${path.relative}: the workspace folder no longer exists.`);
  return await holding(outermost, inner, path, options, change);
}

async function holding<Outcome>(
  place: string,
  inner: readonly string[],
  path: InsidePath,
  options: LockOptions,
  change: () => Promise<Outcome>,
): Promise<Result<Outcome, string>> {
  // That of a folder above may belong to somebody else altogether; the workspace's own must be had.
  const own = place === join(path.root, STATE_FOLDER, LOCK_FILE);
  const held = await whileLocked(
    place,
    { ...options, waitMs: limits.fileLockMs },
    async () => {
      const [next, ...rest] = inner;
      return next === undefined ? ok(await change()) : await holding(next, rest, path, options, change);
    },
    own ? 'refuse' : 'go on',
  );
  return held.ok ? held.value : fail(`${path.relative}: ${refusal(held.error, place)}`);
}

function refusal(why: LockFailure, place: string): string {
  if (why === 'cancelled') return 'cancelled; nothing was changed.';
  if (why === 'unusable') return `${join(STATE_FOLDER, LOCK_FILE)} in the workspace cannot be locked; nothing was changed.`;
  return `another process has held ${place} for ${limits.fileLockMs / 1_000} s (fileLockMs); nothing was changed. Try again.`;
}

/** What is in the folder is nothing for version control. */
async function makePlace(root: string): Promise<void> {
  const folder = join(root, STATE_FOLDER);
  const made = await mkdir(folder, { recursive: true, mode: 0o700 });
  if (made !== undefined) await writeFile(join(folder, '.gitignore'), '*\n', { flag: 'wx' }).catch(() => undefined);
}

/** Outermost first. */
async function placesAbove({ root, absolute }: InsidePath): Promise<readonly string[]> {
  const places: string[] = [];
  for (let folder = dirname(absolute); ; folder = dirname(folder)) {
    const state = join(folder, STATE_FOLDER);
    const there = folder === root || ((await stat(state).catch(() => undefined))?.isDirectory() ?? false);
    if (there) places.unshift(join(state, LOCK_FILE));
    if (folder === dirname(folder)) return places;
  }
}
