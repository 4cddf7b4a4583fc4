/** A ledger that loses power at a chosen append: that one and everything after it never happens. */
import type { Append, Ledger } from '../../src/ledger/port.ts';

export interface CrashingLedger {
  readonly ledger: Ledger;
  /** How many appends were let through. */
  appends(): number;
}

export function crashAt(inner: Ledger, lastAppend: number): CrashingLedger {
  let count = 0;
  return {
    appends: () => count,
    ledger: {
      ...inner,
      append: async (request: Append) => {
        if (count >= lastAppend) throw new Error('the power is gone');
        count += 1;
        return await inner.append(request);
      },
    },
  };
}
