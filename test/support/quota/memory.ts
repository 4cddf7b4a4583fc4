/** A shared quota in memory: the real rules, a clock of its own, and answers that take a while. */
import type { Clock } from '../../../src/base/clock.ts';
import { limits } from '../../../src/base/limits.ts';
import type { QuotaStore } from '../../../src/quota/port.ts';
import { type AccountState, type Holder, settleClaim } from '../../../src/quota/rules.ts';

export interface QuotaMemory {
  /** The store as one worker sees it. */
  as(worker: string): QuotaStore;
  account(name: string): AccountState;
  claims: number;
  /** Set to have every claim fail. */
  broken: boolean;
}

export function createQuotaMemory(clock: Clock, most: number, latencyMs = 2): QuotaMemory {
  const accounts = new Map<string, AccountState>();
  const parts = new Map<string, Map<string, Holder & { readonly until: number }>>();
  const listeners = new Map<string, (account: string | undefined) => void>();
  const account = (name: string): AccountState => accounts.get(name) ?? { allowed: most, pausedUntil: 0 };
  const pass = (): Promise<void> => new Promise((resolve) => clock.after(latencyMs, resolve));
  const memory: QuotaMemory = {
    claims: 0,
    broken: false,
    account,
    as: (worker) => ({
      async claim(claim) {
        memory.claims += 1;
        await pass();
        if (memory.broken) throw new Error('nobody answers');
        const now = clock.now();
        const known = parts.get(claim.account) ?? new Map<string, Holder & { readonly until: number }>();
        parts.set(claim.account, known);
        for (const [name, { until }] of known) if (until <= now) known.delete(name);
        const others = [...known.values()].filter((holder) => holder.worker !== worker);
        const settled = settleClaim(account(claim.account), others, worker, claim, now, most);
        accounts.set(claim.account, settled.account);
        if (claim.needed === 0 && settled.holder.held === 0) known.delete(worker);
        else known.set(worker, { ...settled.holder, until: now + limits.quotaLeaseMs });
        if (settled.isNews)
          for (const [name, tell] of listeners) if (name !== worker) clock.after(latencyMs, () => tell(claim.account));
        await pass();
        return settled.share;
      },
      onRefusal: (callback) => void listeners.set(worker, callback),
      close: async () => void listeners.delete(worker),
    }),
  };
  return memory;
}
