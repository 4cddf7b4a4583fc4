/**
 * The one door for writes. Everything asked for in one turn of the event loop, or while a batch is under way, shares one
 * transaction, in the order it was asked: two round trips, however many appends. Each job has its own outcome; a job may
 * refuse before it has changed anything, and the others go on.
 *
 * A batch whose connection was lost may or may not have been committed. Its number was written with it, so the next
 * connection sees which; only a batch that is not there is done again. Nothing is lost and nothing doubled.
 */
import type { Clock } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import type { BlobStore } from '../blobs/store.ts';
import { isRefusal } from '../rules/prepared-event.ts';
import { createWriteQueue, type Queued } from '../write-queue.ts';
import { isLarge } from './append.ts';
import { type Database, persevering } from './connection.ts';
import { isWorthAnotherTry } from './errors.ts';
import { beginBatch, locksOf } from './load.ts';
import type { Writer } from './owner.ts';
import type { BatchState, Needs } from './state.ts';
import { commitBatch } from './write.ts';
import { createWriterConnection } from './writer.ts';

interface Job<Outcome> {
  readonly weight: number;
  readonly needs: Needs;
  /** On the rows of the batch; may run again when the batch has to be repeated. Must not change anything before it refuses. */
  apply(state: BatchState): Outcome;
  /** After the commit, before the promise resolves. Must not throw. */
  after?(outcome: Outcome): void;
}

export interface PostgresCommit {
  submit<Outcome>(job: Job<Outcome>): Promise<Outcome>;
  idle(): Promise<void>;
  /** Refuses what is submitted from now on. */
  stop(): void;
  close(): Promise<void>;
}

interface PostgresCommitOptions {
  readonly database: Database;
  readonly schema: string;
  readonly writer: Writer;
  readonly writable: boolean;
  readonly clock: Clock;
  readonly blobs: BlobStore | undefined;
  readonly onCommitted: (state: BatchState) => void;
  readonly onRollback: () => void;
}

interface Entry extends Queued {
  readonly needs: Needs;
  apply(state: BatchState): () => void;
}

/** What a batch did on its last attempt. */
interface Applied {
  readonly state: BatchState;
  readonly settle: readonly (() => void)[];
}

export function createPostgresCommit(options: PostgresCommitOptions): PostgresCommit {
  const { database, clock } = options;
  const connection = createWriterConnection(database, options.writer.id);
  const attempt = createAttempts(options, connection);
  let number = 0;

  const commit = async (batch: readonly Entry[]): Promise<void> => {
    number += 1;
    const work = attempt(batch, number);
    try {
      const { state, settle } = await persevering(clock, database.shown, isWorthAnotherTry, work);
      options.onCommitted(state);
      for (const tell of settle) tell();
    } catch (error) {
      options.onRollback();
      for (const entry of batch) entry.reject(error);
    }
  };

  const queue = createWriteQueue<Entry>({
    name: database.shown,
    writable: options.writable,
    commit: async (batch) => {
      for (const part of split(await withBlobs(options.blobs, batch))) await commit(part);
    },
  });
  return {
    submit: (job) => new Promise((resolve, reject) => queue.add(entryOf(job, resolve, reject))),
    idle: queue.idle,
    stop: queue.stop,
    close: connection.close,
  };
}

function entryOf<Outcome>(job: Job<Outcome>, resolve: (outcome: Outcome) => void, reject: (error: unknown) => void): Entry {
  return {
    weight: job.weight,
    needs: job.needs,
    reject,
    apply: (state) => {
      const outcome = job.apply(state);
      return () => {
        job.after?.(outcome);
        resolve(outcome);
      };
    },
  };
}

function createAttempts(options: PostgresCommitOptions, connection: ReturnType<typeof createWriterConnection>) {
  const { schema, writer, blobs } = options;

  const applyAll = (batch: readonly Entry[], state: BatchState): Applied => {
    const settle = batch.map((entry) => {
      try {
        return entry.apply(state);
      } catch (error) {
        if (!isRefusal(error)) throw error;
        return () => entry.reject(error);
      }
    });
    return { state, settle };
  };

  return (batch: readonly Entry[], number: number): (() => Promise<Applied>) => {
    let earlier: Applied | undefined;
    return async () => {
      const open = await connection.get();
      try {
        const state = await beginBatch(
          open,
          schema,
          writer.id,
          batch.map((entry) => entry.needs),
        );
        if (earlier !== undefined && state.lastBatch === number) {
          await open.query({ text: 'ROLLBACK' });
          return earlier;
        }
        options.onRollback();
        earlier = undefined;
        // A collection may have taken a file away since it was written; while this transaction lasts it cannot.
        await ensureBlobs(blobs, batch);
        const applied = applyAll(batch, state);
        earlier = applied;
        await commitBatch({ connection: open, schema, writer, hasBlobs: blobs !== undefined }, state, number);
        return applied;
      } catch (error) {
        connection.drop();
        throw error;
      }
    };
  };
}

/** Uploads before the transaction what it will refer to. An entry that fails there is settled and left out. */
async function withBlobs(blobs: BlobStore | undefined, batch: readonly Entry[]): Promise<readonly Entry[]> {
  const ready: Entry[] = [];
  for (const entry of batch) {
    try {
      await ensureBlobs(blobs, [entry]);
      ready.push(entry);
    } catch (error) {
      entry.reject(error);
    }
  }
  return ready;
}

async function ensureBlobs(blobs: BlobStore | undefined, batch: readonly Entry[]): Promise<void> {
  if (blobs === undefined) return;
  const large = batch.flatMap(({ needs }) => (needs.bodies ?? []).filter(isLarge));
  for (let start = 0; start < large.length; start += BLOBS_AT_ONCE)
    await Promise.all(large.slice(start, start + BLOBS_AT_ONCE).map((body) => blobs.write(body.ref, body.data)));
}

/** A bucket answers each question in some tens of milliseconds, and the transaction waits. */
const BLOBS_AT_ONCE = 8;

/** The server keeps a bounded number of locks, and a transaction should not carry too many bytes at once. */
function split(batch: readonly Entry[]): readonly (readonly Entry[])[] {
  const parts: Entry[][] = [];
  let locks = 0;
  let bytes = 0;
  for (const entry of batch) {
    const more = { locks: locksOf(entry.needs).length, bytes: sum(entry.needs.bodies ?? []) };
    const last = parts.at(-1);
    const fits = locks + more.locks <= limits.appendBatchLocks && bytes + more.bytes <= limits.appendBatchBytes;
    if (last !== undefined && fits) last.push(entry);
    else parts.push([entry]);
    locks = last !== undefined && fits ? locks + more.locks : more.locks;
    bytes = last !== undefined && fits ? bytes + more.bytes : more.bytes;
  }
  return parts;
}

const sum = (bodies: readonly { readonly bytes: number }[]): number => bodies.reduce((total, { bytes }) => total + bytes, 0);
