/**
 * How many hosted loops work at once. Whoever waits for somebody else gives its slot back first and takes one again
 * before it goes on, so parents and the children they wait for can never hold each other up.
 */
import type { RunId } from '../../base/ids.ts';

export interface Slots {
  /**
   * Resolves when there is room, or as soon as `signal` aborts: then there is nothing to leave. `caller`: in whose name it works;
   * of those who wait, the caller who has the fewest at work comes first.
   */
  enter(run: RunId, signal: AbortSignal, caller?: string): Promise<void>;
  leave(run: RunId): void;
  /** Does something that waits for others, without a slot; a run that has none just does it. */
  released<Value>(run: RunId, signal: AbortSignal, wait: () => Promise<Value>): Promise<Value>;
}

interface Waiting {
  readonly run: RunId;
  readonly caller: string;
  readonly admit: () => void;
}

export function createSlots(active: number): Slots {
  /** With the caller of each. */
  const holders = new Map<RunId, string>();
  let queue: readonly Waiting[] = [];
  /** Several calls of one turn may wait at the same time: the slot is taken back with the first that is over. */
  const waits = new Map<RunId, { readonly count: number; readonly caller: string }>();

  const admit = (): void => {
    for (let next = firstOf(queue, holders, active); next !== undefined; next = firstOf(queue, holders, active)) {
      const { run, caller } = next;
      queue = queue.filter((other) => other !== next);
      holders.set(run, caller);
      next.admit();
    }
  };
  const leave = (run: RunId): void => {
    if (holders.delete(run)) admit();
  };
  const enter = async (run: RunId, signal: AbortSignal, caller = ''): Promise<void> => {
    if (signal.aborted || holders.has(run)) return;
    await new Promise<void>((resolve) => {
      const entry = { run, caller, admit: () => done() };
      const done = (): void => {
        signal.removeEventListener('abort', giveUp);
        resolve();
      };
      const giveUp = (): void => {
        queue = queue.filter((other) => other !== entry);
        done();
      };
      signal.addEventListener('abort', giveUp, { once: true });
      queue = [...queue, entry];
      admit();
    });
  };
  return {
    enter,
    leave,
    async released(run, signal, wait) {
      const before = waits.get(run);
      const caller = before?.caller ?? holders.get(run);
      if (caller === undefined) return await wait();
      waits.set(run, { count: (before?.count ?? 0) + 1, caller });
      leave(run);
      try {
        return await wait();
      } finally {
        const left = (waits.get(run)?.count ?? 1) - 1;
        if (left === 0) waits.delete(run);
        else waits.set(run, { count: left, caller });
        await enter(run, signal, caller);
      }
    },
  };
}

/** Who is let in next, if there is room: nobody's many keep another's one waiting. */
function firstOf(queue: readonly Waiting[], holders: ReadonlyMap<RunId, string>, active: number): Waiting | undefined {
  // Two calls of one run may come back at the same time: they share its slot.
  const back = queue.find(({ run }) => holders.has(run));
  if (back !== undefined || holders.size >= active) return back;
  const atWork = new Map<string, number>();
  for (const caller of holders.values()) atWork.set(caller, (atWork.get(caller) ?? 0) + 1);
  const busy = ({ caller }: Waiting): number => atWork.get(caller) ?? 0;
  return queue.reduce<Waiting | undefined>(
    (first, one) => (first === undefined || busy(one) < busy(first) ? one : first),
    undefined,
  );
}
