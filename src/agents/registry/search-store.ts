/**
 * One database with the index in it, in the ledger's file or in memory: whole transactions only, and patience with other
 * processes that write to the same file.
 */
import type { DatabaseSync } from 'node:sqlite';
import { type Clock, sleep } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import { createRank, type Rank } from './search-ranking.ts';
import { type Content, createHolds, hasIndex, makeTables, openLedgerFile, openMemory, writeContent } from './search-tables.ts';

export interface Store {
  readonly place: 'file' | 'memory';
  readonly database: DatabaseSync;
  /** Searches, if the index still holds what is expected. */
  search(expected: string, search: (rank: Rank) => readonly string[]): Result<readonly string[], Trouble>;
  /** Makes the index hold this; `afresh` also where it seems to be sound. Waits for others up to `busyWaitMs`. */
  write(content: Content, clock: Clock, afresh?: 'afresh'): Promise<Result<void, Trouble>>;
}

/** `changed`: another process has put something else there. */
export type Trouble = 'changed' | 'busy' | 'broken';

const RETRY_MAX_MS = 20;

export const openStore = (path: string): Store => storeIn(openLedgerFile(path)) ?? memoryStore();

export function memoryStore(): Store {
  return createStore('memory', openMemory());
}

const storeIn = (database: DatabaseSync | undefined): Store | undefined =>
  database === undefined ? undefined : createStore('file', database);

function createStore(place: Store['place'], database: DatabaseSync): Store {
  let statements: { readonly holds: () => string | undefined; readonly rank: Rank } | undefined;
  let written: Content | undefined;

  const prepared = (): NonNullable<typeof statements> => {
    statements ??= { holds: createHolds(database), rank: createRank(database) };
    return statements;
  };
  const writeOnce = (content: Content, afresh: boolean): Result<void, Trouble> => {
    // What has been counted no longer holds.
    statements = undefined;
    const outcome = attempt<void>(database, 'BEGIN IMMEDIATE', () => {
      if (afresh || !hasIndex(database)) makeTables(database);
      const holds = createHolds(database)();
      if (holds !== content.hash) writeContent(database, content, holds === written?.hash ? written : undefined);
      return ok(undefined);
    });
    written = outcome.ok ? content : undefined;
    return outcome;
  };
  return {
    place,
    database,
    search: (expected, search) =>
      attempt(database, 'BEGIN', () => {
        if (statements === undefined && !hasIndex(database)) return fail('changed');
        const { holds, rank } = prepared();
        return holds() === expected ? ok(search(rank)) : fail('changed');
      }),
    write: async (content, clock, afresh) => {
      const deadline = clock.elapsed() + limits.busyWaitMs;
      let again = afresh === 'afresh';
      for (let pause = 1; ; pause = Math.min(pause * 2, RETRY_MAX_MS)) {
        const outcome = writeOnce(content, again);
        if (outcome.ok || (outcome.error === 'broken' && again)) return outcome;
        if (outcome.error === 'busy' && clock.elapsed() >= deadline) return outcome;
        if (outcome.error === 'busy') await sleep(clock, pause);
        else again = true;
      }
    },
  };
}

/** The work as one transaction: done or undone, without a pause in between. */
function attempt<Value>(
  database: DatabaseSync,
  begin: 'BEGIN' | 'BEGIN IMMEDIATE',
  work: () => Result<Value, Trouble>,
): Result<Value, Trouble> {
  try {
    database.exec(begin);
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    try {
      if (database.isTransaction) database.exec('ROLLBACK');
    } catch {
      // The first failure is the one that counts; SQLite undoes an unfinished transaction by itself.
    }
    return fail(isBusy(error) ? 'busy' : 'broken');
  }
}

/** SQLITE_BUSY and SQLITE_LOCKED, also where they come with more detail in the higher bytes. */
function isBusy(error: unknown): boolean {
  if (typeof error !== 'object' || error === null || !('errcode' in error) || typeof error.errcode !== 'number') return false;
  const code = error.errcode & 0xff;
  return code === 5 || code === 6;
}
