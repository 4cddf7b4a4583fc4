/**
 * One holder at a time in all processes of a machine. The lock is one that the operating system keeps on a file, so it ends with
 * the process that holds it, however that ends: there is none to be found stale. It is SQLite's, because Node itself has none.
 */
import { type Clock, sleep } from '../base/clock.ts';
import { oneAtATime } from '../base/one-at-a-time.ts';
import { fail, ok, type Result } from '../base/result.ts';
import { DatabaseSync } from '../base/sqlite.ts';

/** `busy`: others have held it for all of the time. `unusable`: nothing can be locked there. */
export type LockFailure = 'busy' | 'cancelled' | 'unusable';

export interface SystemLockOptions {
  readonly clock: Clock;
  readonly waitMs: number;
  readonly signal?: AbortSignal | undefined;
}

const BUSY = 5;
const FIRST_PAUSE_MS = 2;
const LONGEST_PAUSE_MS = 50;

/** Those of this process that hold or wait for a lock, by its path: only the first of them asks the system. */
const inTurn = oneAtATime();

/** Does something while nobody else holds the lock at `path`, whose folder must exist. On a failure it was not begun. */
export async function whileLocked<Outcome>(
  path: string,
  options: SystemLockOptions,
  work: () => Promise<Outcome>,
  unusable: 'refuse' | 'go on' = 'refuse',
): Promise<Result<Outcome, LockFailure>> {
  return await inTurn(path, async () => {
    const lock = await acquire(path, options);
    if (typeof lock === 'string' && (lock !== 'unusable' || unusable === 'refuse')) return fail(lock);
    try {
      return ok(await work());
    } finally {
      if (typeof lock !== 'string') lock.close();
    }
  });
}

/** Closing the database gives the lock back. */
async function acquire(path: string, { clock, signal, waitMs }: SystemLockOptions): Promise<DatabaseSync | LockFailure> {
  const started = clock.elapsed();
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    const held = attempt(path);
    if (held !== 'busy') return held;
    if (signal?.aborted === true) return 'cancelled';
    if (clock.elapsed() - started >= waitMs) return 'busy';
    await sleep(clock, pauseMs, signal);
  }
}

function attempt(path: string): DatabaseSync | 'busy' | 'unusable' {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { timeout: 0 });
    // Nothing is ever written into it.
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN IMMEDIATE');
    return database;
  } catch (error) {
    database?.close();
    const code = typeof error === 'object' && error !== null && 'errcode' in error ? error.errcode : undefined;
    return typeof code === 'number' && (code & 0xff) === BUSY ? 'busy' : 'unusable';
  }
}
