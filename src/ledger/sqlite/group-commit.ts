/**
 * The one door for writes. Everything asked for in one turn of the event loop shares one transaction, in the order it
 * was asked: ten appends cost one commit. Each job has its own outcome; a job may refuse (throw a `badAppend`) before it
 * has written anything, and the others go on. When the commit itself fails, the whole batch fails and nothing of it
 * is written; the next batch starts afresh.
 *
 * A batch runs without a pause between BEGIN and COMMIT, so nothing else in this process sees it half done. While another
 * process holds the lock the batch waits outside the transaction and the event loop goes on.
 */
import type { DatabaseSync } from 'node:sqlite';
import { type Clock, sleep } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import { isRefusal } from '../rules/prepared-event.ts';
import { createWriteQueue, type Queued } from '../write-queue.ts';
import { isBusy, ledgerError } from './errors.ts';

interface Job<Outcome> {
  /** How many events it writes; counts against the queue's limit. */
  readonly weight: number;
  /** Must survive loss of power. */
  readonly power: boolean;
  /** What has to be done before the transaction, such as writing files it will refer to. */
  readonly before?: (() => Promise<void>) | undefined;
  /** Inside the transaction. Must not write before it can no longer refuse. */
  apply(): Outcome;
  /** After the commit, before the promise resolves. Must not throw. */
  after?(outcome: Outcome): void;
}

export interface GroupCommit {
  submit<Outcome>(job: Job<Outcome>): Promise<Outcome>;
  /** Resolves when everything submitted so far is written or refused. */
  idle(): Promise<void>;
  /** Refuses what is submitted from now on. */
  stop(): void;
}

interface GroupCommitOptions {
  readonly database: DatabaseSync;
  readonly path: string;
  readonly writable: boolean;
  readonly durability: 'effects' | 'full';
  readonly clock: Clock;
  /** Called before what must survive loss of power: throws when the file that would hold it is gone. */
  readonly checkFile: () => void;
  /** Called first in every transaction: what is remembered from the last one may be out of date. */
  readonly onBegin: () => void;
  /** Called last in every transaction, to write what the jobs left in memory. */
  readonly onCommit: () => void;
  readonly onCommitted: () => void;
  readonly onRollback: () => void;
}

/** A job with its promise, so that jobs of different outcomes fit in one queue. */
interface Entry extends Queued {
  readonly power: boolean;
  readonly before: (() => Promise<void>) | undefined;
  /** Applies the job and returns what settles its promise once the transaction is committed. */
  apply(): () => void;
}

const RETRY_MAX_MS = 20;

export function createGroupCommit(options: GroupCommitOptions): GroupCommit {
  const commit = createTransactions(options);
  const queue = createWriteQueue<Entry>({ name: options.path, writable: options.writable, commit });
  return {
    submit: (job) => new Promise((resolve, reject) => queue.add(entryOf(job, resolve, reject))),
    idle: queue.idle,
    stop: queue.stop,
  };
}

function entryOf<Outcome>(job: Job<Outcome>, resolve: (outcome: Outcome) => void, reject: (error: unknown) => void): Entry {
  return {
    weight: job.weight,
    power: job.power,
    before: job.before,
    reject,
    apply: () => {
      const outcome = job.apply();
      return () => {
        job.after?.(outcome);
        resolve(outcome);
      };
    },
  };
}

/** Returns what writes one batch in one transaction. It never throws: every entry's promise is settled. */
function createTransactions(options: GroupCommitOptions): (batch: readonly Entry[]) => Promise<void> {
  const { database, path, clock } = options;
  const begin = database.prepare('BEGIN IMMEDIATE');
  const end = database.prepare('COMMIT');
  let synchronous = '';

  const setSynchronous = (level: 'NORMAL' | 'FULL'): void => {
    if (synchronous === level) return;
    database.exec(`PRAGMA synchronous = ${level}`);
    synchronous = level;
  };

  /** Between BEGIN and COMMIT. Returns what settles the promises. */
  const applyAll = (batch: readonly Entry[]): (() => void)[] => {
    options.onBegin();
    const settle = batch.map((entry) => {
      try {
        return entry.apply();
      } catch (error) {
        if (!isRefusal(error)) throw error;
        return () => entry.reject(error);
      }
    });
    options.onCommit();
    end.run();
    options.onCommitted();
    return settle;
  };

  const rollBack = (): void => {
    try {
      if (database.isTransaction) database.exec('ROLLBACK');
    } catch {
      // What failed before is what gets reported; SQLite undoes an unfinished transaction by itself.
    }
    options.onRollback();
  };

  const attempt = (batch: readonly Entry[]): Result<(() => void)[], unknown> => {
    try {
      const power = options.durability === 'full' || batch.some((entry) => entry.power);
      if (power) options.checkFile();
      setSynchronous(power ? 'FULL' : 'NORMAL');
      begin.run();
      return ok(applyAll(batch));
    } catch (error) {
      rollBack();
      return fail(error);
    }
  };

  return async (batch) => {
    const ready = await prepared(batch);
    if (ready.length === 0) return;
    const deadline = clock.elapsed() + limits.busyWaitMs;
    for (let pause = 1; ; pause = Math.min(pause * 2, RETRY_MAX_MS)) {
      const done = attempt(ready);
      if (done.ok) {
        for (const settle of done.value) settle();
        return;
      }
      if (!isBusy(done.error) || clock.elapsed() >= deadline) {
        for (const entry of ready) entry.reject(ledgerError(done.error, path));
        return;
      }
      await sleep(clock, pause);
    }
  };
}

/** Does what must come before the transaction. An entry that fails there is settled and left out. */
async function prepared(batch: readonly Entry[]): Promise<readonly Entry[]> {
  if (batch.every((entry) => entry.before === undefined)) return batch;
  const ready: Entry[] = [];
  for (const entry of batch) {
    try {
      await entry.before?.();
      ready.push(entry);
    } catch (error) {
      entry.reject(error);
    }
  }
  return ready;
}
