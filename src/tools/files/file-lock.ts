/**
 * One change of a workspace's files at a time, in all processes of a machine: between looking at a file and replacing it nobody
 * else does the same. The lock is one that the operating system keeps on a file, so it ends with the process that holds it,
 * however that ends. It is SQLite's, because Node itself has none.
 *
 * It lies in `.troupe` of the workspace. Workspaces may lie in each other: whoever changes a file holds the lock of every folder
 * above it that has one, outermost first, so two that can reach the same file always have one in common.
 */
import { mkdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Clock, sleep } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import { limits } from '../../base/limits.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import { DatabaseSync } from '../../base/sqlite.ts';
import { STATE_FOLDER } from '../protected-names.ts';
import type { InsidePath } from './workspace.ts';

const LOCK_FILE = 'files.lock';
const BUSY = 5;
const FIRST_PAUSE_MS = 2;
const LONGEST_PAUSE_MS = 50;

/** Those of this process that hold or wait for a lock, by its path: only the first of them asks the system. */
const queues = new Map<string, Promise<unknown>>();

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
  return await inTurn(place, async () => {
    const lock = await acquire(place, options);
    // That of a folder above may belong to somebody else altogether; the workspace's own must be had.
    const own = place === join(path.root, STATE_FOLDER, LOCK_FILE);
    if (typeof lock === 'string' && (own || lock !== UNUSABLE)) return fail(`${path.relative}: ${lock}`);
    try {
      const [next, ...rest] = inner;
      return next === undefined ? ok(await change()) : await holding(next, rest, path, options, change);
    } finally {
      if (typeof lock !== 'string') lock.close();
    }
  });
}

function inTurn<Outcome>(place: string, act: () => Promise<Outcome>): Promise<Outcome> {
  const turn = (queues.get(place) ?? Promise.resolve()).then(act);
  const settled = turn.then(
    () => undefined,
    () => undefined,
  );
  queues.set(place, settled);
  void settled.then(() => {
    if (queues.get(place) === settled) queues.delete(place);
  });
  return turn;
}

const HELD = 'held by another process';
const UNUSABLE = `${join(STATE_FOLDER, LOCK_FILE)} in the workspace cannot be locked; nothing was changed.`;

/** Closing the database gives the lock back. */
async function acquire(place: string, { clock, signal }: LockOptions): Promise<DatabaseSync | string> {
  const started = clock.elapsed();
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    const held = attempt(place);
    if (held !== HELD) return held;
    if (signal.aborted) return 'cancelled; nothing was changed.';
    if (clock.elapsed() - started >= limits.fileLockMs)
      return `another process has held ${place} for ${limits.fileLockMs / 1_000} s (fileLockMs); nothing was changed. Try again.`;
    await sleep(clock, pauseMs, signal);
  }
}

function attempt(place: string): DatabaseSync | string {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(place, { timeout: 0 });
    // Nothing is ever written into it.
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN IMMEDIATE');
    return database;
  } catch (error) {
    database?.close();
    const code = typeof error === 'object' && error !== null && 'errcode' in error ? error.errcode : undefined;
    return typeof code === 'number' && (code & 0xff) === BUSY ? HELD : UNUSABLE;
  }
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
