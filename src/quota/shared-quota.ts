/**
 * One rate limit per account over many processes. Each process claims a share of what may go at once, renews it while it is
 * used, and lets its own callers in without asking anybody. A refusal stops this process at once and all others as soon as they
 * hear of it; nobody begins a call before they have claimed anew.
 *
 * What holds: calls under way on an account are never more than what is allowed, except those that had begun before it became
 * less, those of a process that was cut off for longer than its share lasts, and those that begin elsewhere in the moment before
 * the news of a refusal arrives. A process that cannot renew its share begins nothing when it has run out.
 */
import type { Clock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import type { Random } from '../base/random.ts';
import type { QuotaClaim, QuotaRefusal, QuotaShare, QuotaStore } from './port.ts';
import type { Quota, Slot } from './quota.ts';

export interface SharedQuotaOptions {
  readonly store: QuotaStore;
  readonly clock: Clock;
  readonly random: Random;
}

export interface SharedQuota extends Quota {
  /** Gives everything back. */
  close(): Promise<void>;
}

interface Account {
  readonly name: string;
  readonly queue: Set<() => void>;
  active: number;
  mostActive: number;
  mostNeeded: number;
  succeeded: number;
  /** When it was, when the refused call began, and for how long. */
  refusal: { readonly at: number; readonly begunAt: number; readonly forMs: number } | undefined;
  granted: number;
  /** How often everybody had to stop: an answer to what was asked before that no longer counts. */
  holds: number;
  /** When what was granted has run out. */
  validUntil: number;
  /** When the pause ends for all, and when it ends here. */
  pausedUntil: number;
  resumeAt: number;
  spreadMs: number;
  /** What was under way when the claim that is under way was sent. */
  claimedWith: number | undefined;
  /** Resolves when the latest claim has been answered. */
  underWay: Promise<void>;
  /** When the last claim was sent, and whether it got everything that was needed. */
  claimedAt: number;
  enough: boolean;
  failures: number;
  claimAt: number;
  cancelClaim: (() => void) | undefined;
  cancelPause: (() => void) | undefined;
}

/** After a pause callers start within this part of it, not all in the same millisecond. */
const SPREAD = 0.1;

export function createSharedQuota(options: SharedQuotaOptions): SharedQuota {
  const { store, clock } = options;
  const accounts = new Map<string, Account>();
  const forget = (account: Account): void => void accounts.delete(account.name);
  const here: Here = { ...options, forget, closed: false };
  store.onRefusal((name) => {
    for (const account of accounts.values()) if (name === undefined || name === account.name) hold(account, here);
  });
  return {
    accounts: () =>
      [...accounts].map(([account, { active: underWay, queue, granted: allowed, pausedUntil }]) => ({
        ...{ account, underWay, queued: queue.size, allowed },
        pausedForMs: Math.max(0, pausedUntil - clock.elapsed()),
      })),
    acquire: (name, signal) => {
      const account = accounts.get(name) ?? createAccount(name, clock);
      accounts.set(name, account);
      return enter(account, signal, here);
    },
    async close() {
      here.closed = true;
      const all = [...accounts.values()];
      accounts.clear();
      for (const account of all) {
        account.cancelClaim?.();
        account.cancelPause?.();
      }
      const nothing = { needed: 0, used: 0, inFlight: 0, succeeded: 0 };
      const giveBack = async ({ name, underWay }: Account): Promise<void> => {
        // A claim that is answered after this one would take again what was given back.
        await underWay;
        // What cannot be given back returns by itself.
        await store.claim({ account: name, ...nothing }).catch(() => undefined);
      };
      await Promise.all(all.map(giveBack));
      await store.close();
    },
  };
}

interface Here extends SharedQuotaOptions {
  forget(account: Account): void;
  closed: boolean;
}

function createAccount(name: string, clock: Clock): Account {
  const counts = { active: 0, mostActive: 0, mostNeeded: 0, succeeded: 0, granted: 0, holds: 0, failures: 0 };
  const times = { validUntil: 0, pausedUntil: 0, resumeAt: 0, spreadMs: 0, claimedAt: clock.elapsed() - limits.quotaRetryMs };
  const none = { refusal: undefined, claimedWith: undefined, cancelClaim: undefined, cancelPause: undefined };
  const settled = { enough: true, underWay: Promise.resolve() };
  return { name, queue: new Set(), ...counts, ...times, ...none, ...settled, claimAt: Number.POSITIVE_INFINITY };
}

function enter(account: Account, signal: AbortSignal, here: Here): Promise<Slot | undefined> {
  if (signal.aborted) return Promise.resolve(undefined);
  const { promise, resolve } = Promise.withResolvers<Slot | undefined>();
  const start = (): void => {
    signal.removeEventListener('abort', leave);
    account.queue.delete(start);
    account.active += 1;
    account.mostActive = Math.max(account.mostActive, account.active);
    resolve(createSlot(account, here));
  };
  const leave = (): void => {
    account.queue.delete(start);
    resolve(undefined);
  };
  signal.addEventListener('abort', leave, { once: true });
  account.queue.add(start);
  account.mostNeeded = Math.max(account.mostNeeded, account.active + account.queue.size);
  admit(account, here);
  if (account.queue.size > 0) claimForMore(account, here);
  return promise;
}

function createSlot(account: Account, here: Here): Slot {
  const begunAt = here.clock.elapsed();
  let held = true;
  return {
    release: (outcome) => {
      if (!held) return;
      held = false;
      account.active -= 1;
      if (outcome === 'done') account.succeeded += 1;
      else if (outcome !== 'failed') refused(account, begunAt, outcome.rateLimitedForMs, here);
      // More are under way than this process may have: the others wait for what has just become free.
      if (account.active >= account.granted) claimWithin(account, limits.quotaGapMs, here);
      admit(account, here);
    },
  };
}

/** Of several refusals between two claims the latest call and the longest pause count. */
function refused(account: Account, begunAt: number, forMs: number, here: Here): void {
  const at = here.clock.elapsed();
  const last = account.refusal;
  const leftMs = last === undefined ? 0 : last.at + last.forMs - at;
  account.refusal = { at, begunAt: Math.max(begunAt, last?.begunAt ?? begunAt), forMs: Math.max(forMs, leftMs) };
  pause(account, Math.min(forMs, limits.retryMaxMs), here);
  hold(account, here);
}

/** Nobody begins anything before the next claim has been answered. */
function hold(account: Account, here: Here): void {
  account.holds += 1;
  account.granted = 0;
  if (account.active + account.queue.size > 0 || account.refusal !== undefined) claimWithin(account, 0, here);
}

function pause(account: Account, forMs: number, { clock, random }: Here): void {
  const now = clock.elapsed();
  if (forMs <= 0 || now + forMs <= account.pausedUntil) return;
  // A pause that becomes longer stays one pause.
  if (now >= account.resumeAt) account.spreadMs = forMs * SPREAD * random.fraction();
  account.pausedUntil = now + forMs;
  account.resumeAt = account.pausedUntil + account.spreadMs;
}

function admit(account: Account, here: Here): void {
  const now = here.clock.elapsed();
  account.cancelPause?.();
  account.cancelPause = undefined;
  if (account.queue.size === 0) return;
  if (account.resumeAt > now) {
    account.cancelPause = here.clock.after(account.resumeAt - now, () => resume(account, here), 'hold');
    return;
  }
  if (now >= account.validUntil) return;
  // What a claim on its way has said to be under way must stay true until it is answered.
  const most = Math.min(account.granted, account.claimedWith ?? account.granted);
  for (const start of account.queue) {
    if (account.active >= most) return;
    start();
  }
}

function resume(account: Account, here: Here): void {
  admit(account, here);
  if (account.queue.size > 0) claimForMore(account, here);
}

/** Soon when the last claim got everything it asked for, else only now and then: others wait too. */
function claimForMore(account: Account, here: Here): void {
  const gapMs = account.enough ? limits.quotaGapMs : limits.quotaRetryMs;
  claimWithin(account, Math.max(0, account.claimedAt + gapMs - here.clock.elapsed()), here);
}

function claimWithin(account: Account, delayMs: number, here: Here): void {
  const at = here.clock.elapsed() + delayMs;
  if (account.claimAt <= at) return;
  account.claimAt = at;
  if (account.claimedWith === undefined) schedule(account, here);
}

function schedule(account: Account, here: Here): void {
  account.cancelClaim?.();
  if (here.closed) return;
  const delayMs = account.claimAt - here.clock.elapsed();
  account.cancelClaim = here.clock.after(
    Math.max(0, delayMs),
    () => {
      account.underWay = claim(account, here);
    },
    isBusy(account) ? 'hold' : undefined,
  );
}

const isBusy = ({ active, queue }: Account): boolean => active > 0 || queue.size > 0;

async function claim(account: Account, here: Here): Promise<void> {
  const sentAt = here.clock.elapsed();
  const sent = report(account, sentAt);
  const { refusal, holds } = account;
  account.claimAt = Number.POSITIVE_INFINITY;
  account.claimedAt = sentAt;
  account.claimedWith = sent.inFlight;
  account.refusal = undefined;
  account.succeeded = 0;
  account.mostActive = account.active;
  account.mostNeeded = account.active + account.queue.size;
  try {
    const share = await here.store.claim(sent);
    receive(account, share, sent, sentAt, here);
    if (account.holds !== holds) account.granted = 0;
    account.failures = 0;
  } catch {
    // Until the store answers again, what was granted runs out; what was to be said is said with the next claim.
    account.failures += 1;
    account.succeeded += sent.succeeded;
    account.refusal ??= refusal;
  }
  account.claimedWith = undefined;
  admit(account, here);
  next(account, sent, here);
}

function report(account: Account, now: number): QuotaClaim {
  const { name, mostNeeded: needed, mostActive: used, active: inFlight, succeeded } = account;
  return { account: name, needed, used, inFlight, succeeded, refusal: refusalOf(account, now) };
}

function refusalOf({ refusal }: Account, now: number): QuotaRefusal | undefined {
  if (refusal === undefined) return undefined;
  return { forMs: Math.max(1, refusal.at + refusal.forMs - now), begunAgoMs: now - refusal.begunAt };
}

/** Counted from when it was asked for, so that it runs out here before it does in the store. */
function receive(account: Account, share: QuotaShare, sent: QuotaClaim, sentAt: number, here: Here): void {
  pause(account, share.pausedForMs, here);
  account.enough = share.granted >= sent.needed;
  account.granted = share.granted;
  account.validUntil = sentAt + share.forMs;
}

/** Renews while anybody needs it. A share that nobody needed since the last claim has just been given back. */
function next(account: Account, sent: QuotaClaim, here: Here): void {
  if (account.failures > 0) {
    claimWithin(account, Math.min(limits.quotaRetryMs * 2 ** (account.failures - 1), limits.quotaLeaseMs), here);
  } else if (account.queue.size > 0 && account.resumeAt <= here.clock.elapsed()) {
    claimForMore(account, here);
  } else if (sent.needed > 0 || isBusy(account)) {
    claimWithin(account, limits.quotaRenewMs, here);
  } else if (account.claimAt === Number.POSITIVE_INFINITY) {
    account.granted = 0;
    here.forget(account);
  }
  if (account.claimAt !== Number.POSITIVE_INFINITY) schedule(account, here);
}
