/**
 * How many hosted loops work at once. Whoever waits for somebody else gives its slot back first and takes one again
 * before it goes on, so parents and the children they wait for can never hold each other up.
 */
import type { RunId } from '../../base/ids.ts';

export interface Slots {
  /** Resolves when there is room, or as soon as `signal` aborts: then there is nothing to leave. */
  enter(run: RunId, signal: AbortSignal): Promise<void>;
  leave(run: RunId): void;
  /** Does something that waits for others, without a slot; a run that has none just does it. */
  released<Value>(run: RunId, signal: AbortSignal, wait: () => Promise<Value>): Promise<Value>;
}

export function createSlots(active: number): Slots {
  const holders = new Set<RunId>();
  let queue: { readonly run: RunId; readonly admit: () => void }[] = [];
  /** Several calls of one turn may wait at the same time: the slot is taken back with the first that is over. */
  const waits = new Map<RunId, number>();

  const admit = (): void => {
    queue = queue.filter((entry) => {
      // Two calls of one run may come back at the same time: they share its slot.
      if (!holders.has(entry.run) && holders.size >= active) return true;
      holders.add(entry.run);
      entry.admit();
      return false;
    });
  };
  const leave = (run: RunId): void => {
    if (holders.delete(run)) admit();
  };
  const enter = async (run: RunId, signal: AbortSignal): Promise<void> => {
    if (signal.aborted || holders.has(run)) return;
    await new Promise<void>((resolve) => {
      const entry = { run, admit: () => done() };
      const done = (): void => {
        signal.removeEventListener('abort', giveUp);
        resolve();
      };
      const giveUp = (): void => {
        queue = queue.filter((other) => other !== entry);
        done();
      };
      signal.addEventListener('abort', giveUp, { once: true });
      queue.push(entry);
      admit();
    });
  };
  return {
    enter,
    leave,
    async released(run, signal, wait) {
      const waiting = waits.get(run) ?? 0;
      if (waiting === 0 && !holders.has(run)) return await wait();
      waits.set(run, waiting + 1);
      leave(run);
      try {
        return await wait();
      } finally {
        const left = (waits.get(run) ?? 1) - 1;
        if (left === 0) waits.delete(run);
        else waits.set(run, left);
        await enter(run, signal);
      }
    },
  };
}
