/** Ledgers that end at a chosen append: that one and everything after it never happens. */
import type { Append, Ledger } from '../../../src/ledger/port.ts';

export interface CrashingLedger {
  readonly ledger: Ledger;
  /** How many appends were let through. */
  appends(): number;
}

export interface CountingCrash extends CrashingLedger {
  /** What was in each of them: the kinds of its events, of the first run or of one below it. */
  readonly kinds: readonly string[];
}

export function crashAt(inner: Ledger, lastAppend: number): CountingCrash {
  const kinds: string[] = [];
  let root: string | undefined;
  return {
    kinds,
    appends: () => kinds.length,
    ledger: {
      ...inner,
      append: async (request: Append) => {
        if (kinds.length >= lastAppend) throw new Error('the power is gone');
        root ??= request.events[0]?.run;
        kinds.push(request.events.map(({ type, run }) => (run === root ? type : `${type} below`)).join(', '));
        return await inner.append(request);
      },
    },
  };
}

/**
 * The same, but nobody is told: the append is under way for ever, as it is for a process that dies before it hears of it.
 * Whatever is done from then on was done without waiting for it.
 */
export function stallAt(inner: Ledger, lastAppend: number): CrashingLedger & { readonly stalled: Promise<void> } {
  const stalled = Promise.withResolvers<void>();
  let count = 0;
  return {
    appends: () => count,
    stalled: stalled.promise,
    ledger: {
      ...inner,
      append: async (request: Append) => {
        if (count < lastAppend) {
          count += 1;
          return await inner.append(request);
        }
        stalled.resolve();
        return await new Promise<never>(() => undefined);
      },
    },
  };
}

/** Many turns of the event loop: whoever has anything to do that waits for nothing outside has done it by then. */
export async function everythingElse(): Promise<void> {
  for (let turn = 0; turn < 200; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
