/**
 * What waits to be written. Everything asked for in one turn of the event loop, or while a batch is under way, goes into
 * the next batch, in the order it was asked. One batch at a time; a batch and the whole queue are bounded.
 */
import { TroupeError } from '../base/errors.ts';
import { limits } from '../base/limits.ts';

export interface Queued {
  /** How many events it writes; counts against the queue's limit. */
  readonly weight: number;
  reject(error: unknown): void;
}

interface WriteQueue<Entry extends Queued> {
  /** Takes the entry, or rejects it at once. */
  add(entry: Entry): void;
  /** Resolves when everything added so far is written or refused. */
  idle(): Promise<void>;
  /** Refuses what is added from now on. */
  stop(): void;
}

interface WriteQueueOptions<Entry extends Queued> {
  /** How errors call the ledger. */
  readonly name: string;
  readonly writable: boolean;
  /** Settles every entry of the batch; never throws. */
  readonly commit: (batch: readonly Entry[]) => Promise<void>;
}

export function createWriteQueue<Entry extends Queued>(options: WriteQueueOptions<Entry>): WriteQueue<Entry> {
  let queue: Entry[] = [];
  let queued = 0;
  let running: Promise<void> | undefined;
  let stopped = false;

  const refusal = (weight: number): TroupeError | undefined => {
    if (stopped) return new TroupeError('ledger_closed', `The ledger is closed: ${options.name}`);
    if (!options.writable) return readOnlyError(options.name);
    if (queued + weight <= limits.appendQueueEvents) return undefined;
    return new TroupeError('ledger_queue_full', `More than ${limits.appendQueueEvents} events wait to be written`, {
      fix: 'Await each append before the next. The limit (`appendQueueEvents`) is fixed.',
    });
  };

  const takeBatch = (): readonly Entry[] => {
    let weight = 0;
    let count = 0;
    while (count < queue.length && weight < limits.appendBatchEvents) weight += queue[count++]?.weight ?? 0;
    const batch = queue.slice(0, count);
    queue = queue.slice(count);
    queued -= weight;
    return batch;
  };

  const drain = async (): Promise<void> => {
    while (queue.length > 0) {
      await nextTurn();
      await options.commit(takeBatch());
    }
    running = undefined;
  };

  return {
    add: (entry) => {
      const refused = refusal(entry.weight);
      if (refused !== undefined) return entry.reject(refused);
      queue.push(entry);
      queued += entry.weight;
      running ??= drain();
    },
    idle: async () => {
      while (running !== undefined) await running;
    },
    stop: () => {
      stopped = true;
    },
  };
}

/** What is asked for until then belongs to the same batch. */
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export function readOnlyError(name: string, cause?: unknown): TroupeError {
  return new TroupeError('ledger_readonly', `The ledger is read-only: ${name}`, {
    fix: 'Give yourself the right to write there, or name another ledger.',
    cause,
  });
}
