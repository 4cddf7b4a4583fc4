/**
 * One rate limit per account, shared by everybody who uses it. Callers queue for a slot, first come first served. When the
 * provider says 429, everybody on that account waits for as long as it asked, and fewer go at once afterwards; each success
 * gives a little of that back. So a fan-out slows down instead of failing.
 */
import type { Clock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import type { Random } from '../base/random.ts';

export interface Slot {
  /** Gives the slot back and says how it went. Only the first call counts. */
  release(outcome: 'done' | 'failed' | { readonly rateLimitedForMs: number }): void;
}

/** How an account stands in this process. */
export interface AccountUse {
  readonly account: string;
  readonly underWay: number;
  readonly queued: number;
  /** How many may be under way at once. */
  readonly allowed: number;
  /** How long nobody begins a call, because the provider has refused one. */
  readonly pausedForMs: number;
}

export interface Quota {
  /** Those that were asked for since this process began. */
  accounts(): readonly AccountUse[];
  /** Waits for a slot. `undefined` when `signal` aborted first. */
  acquire(account: string, signal: AbortSignal): Promise<Slot | undefined>;
}

export interface QuotaOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly concurrency?: number;
}

interface Account {
  /** How many may go at once; a fraction counts towards the next whole one. */
  allowed: number;
  active: number;
  pausedUntil: number;
  readonly queue: Set<() => void>;
  cancelTimer: (() => void) | undefined;
}

/** After a pause callers start within this part of it, not all in the same millisecond. */
const SPREAD = 0.1;

export function createQuota(options: QuotaOptions): Quota {
  const most = options.concurrency ?? limits.accountConcurrency;
  const accounts = new Map<string, Account>();
  return {
    accounts: () =>
      [...accounts].map(([account, { active: underWay, queue, allowed, pausedUntil }]) => ({
        ...{ account, underWay, queued: queue.size, allowed: Math.floor(allowed) },
        pausedForMs: Math.max(0, pausedUntil - options.clock.elapsed()),
      })),
    acquire: (name, signal) => {
      const account = accounts.get(name) ?? {
        allowed: most,
        active: 0,
        pausedUntil: 0,
        queue: new Set(),
        cancelTimer: undefined,
      };
      accounts.set(name, account);
      return enter(account, signal, most, options);
    },
  };
}

function enter(account: Account, signal: AbortSignal, most: number, options: QuotaOptions): Promise<Slot | undefined> {
  if (signal.aborted) return Promise.resolve(undefined);
  const { promise, resolve } = Promise.withResolvers<Slot | undefined>();
  const start = (): void => {
    signal.removeEventListener('abort', leave);
    account.queue.delete(start);
    account.active += 1;
    resolve(createSlot(account, most, options));
  };
  const leave = (): void => {
    account.queue.delete(start);
    resolve(undefined);
  };
  signal.addEventListener('abort', leave, { once: true });
  account.queue.add(start);
  admit(account, options);
  return promise;
}

function createSlot(account: Account, most: number, options: QuotaOptions): Slot {
  let held = true;
  return {
    release: (outcome) => {
      if (!held) return;
      held = false;
      account.active -= 1;
      if (outcome === 'done') account.allowed = Math.min(most, account.allowed + 1 / account.allowed);
      else if (outcome !== 'failed') slowDown(account, outcome.rateLimitedForMs, options);
      admit(account, options);
    },
  };
}

/** Several refusals at once are one message: only the first halves what is allowed. */
function slowDown(account: Account, forMs: number, options: QuotaOptions): void {
  const now = options.clock.elapsed();
  if (now >= account.pausedUntil) account.allowed = Math.max(1, account.allowed / 2);
  const spreadMs = forMs * SPREAD * options.random.fraction();
  account.pausedUntil = Math.max(account.pausedUntil, now + Math.min(forMs, limits.retryMaxMs) + spreadMs);
}

function admit(account: Account, options: QuotaOptions): void {
  account.cancelTimer?.();
  account.cancelTimer = undefined;
  const waitMs = account.pausedUntil - options.clock.elapsed();
  if (waitMs > 0) {
    if (account.queue.size > 0) account.cancelTimer = options.clock.after(waitMs, () => admit(account, options), 'hold');
    return;
  }
  for (const start of account.queue) {
    if (account.active >= Math.floor(account.allowed)) return;
    start();
  }
}
