/**
 * Who may have how many calls under way on one account. What is allowed is one number for all workers: a refusal halves it,
 * each success gives a little back. The shares handed out never exceed it together, except for calls that were under way before.
 */
import { limits } from '../base/limits.ts';
import type { QuotaClaim, QuotaShare } from './port.ts';

export interface AccountState {
  /** A fraction counts towards the next whole one. */
  readonly allowed: number;
  /** Milliseconds on the clock of the store. */
  readonly pausedUntil: number;
}

/** A worker's share, as it was last claimed. */
export interface Holder {
  readonly worker: string;
  readonly needed: number;
  readonly used: number;
  readonly held: number;
}

interface Settled {
  readonly account: AccountState;
  readonly holder: Holder;
  readonly share: QuotaShare;
  /** The others have to stop. */
  readonly isNews: boolean;
}

/** A pause that becomes longer by less is not worth waking everybody: they see it with their next claim. */
const SAME_PAUSE_MS = 50;
/** What a worker that needs little gets beyond that, if there is plenty: its next calls need not ask. */
const SPARE = 8;

/** `others` are those whose shares have not run out. */
export function settleClaim(
  before: AccountState,
  others: readonly Holder[],
  worker: string,
  claim: QuotaClaim,
  now: number,
  most: number,
): Settled {
  const used = others.reduce((sum, holder) => sum + holder.used, claim.used);
  const grown = Math.min(most, Math.sqrt(before.allowed ** 2 + 2 * claim.succeeded));
  const account = afterRefusal({ ...before, allowed: grown }, claim, used, now);
  const allowed = Math.floor(account.allowed);
  const { needed, inFlight } = claim;
  const target = dealOut(allowed, [...others, { worker, needed }], Math.floor(now / limits.quotaTurnMs)).get(worker) ?? 0;
  const taken = others.reduce((sum, holder) => sum + holder.held, 0);
  const granted = Math.max(0, Math.min(target, allowed - taken));
  return {
    account,
    holder: { worker, needed, used: claim.used, held: Math.max(granted, inFlight) },
    share: { granted, forMs: limits.quotaLeaseMs, pausedForMs: Math.max(0, account.pausedUntil - now) },
    isNews: account.pausedUntil > before.pausedUntil + SAME_PAUSE_MS,
  };
}

/** Several refusals at once are one message: only a call that began after the last pause halves what is allowed. */
function afterRefusal(before: AccountState, { refusal }: QuotaClaim, used: number, now: number): AccountState {
  if (refusal === undefined) return before;
  const isNew = now - refusal.begunAgoMs >= before.pausedUntil;
  const pausedUntil = Math.ceil(Math.max(before.pausedUntil, now + Math.min(refusal.forMs, limits.retryMaxMs)));
  return { allowed: isNew ? Math.max(1, Math.min(before.allowed, used) / 2) : before.allowed, pausedUntil };
}

/**
 * Everybody gets what they need while there is enough, and some of the rest, so that whoever comes next finds something too.
 * When there is not enough, nobody gets more than an even share while another has less than they need; what cannot be divided
 * goes to each in turn.
 */
export function dealOut(
  allowed: number,
  holders: readonly Pick<Holder, 'worker' | 'needed'>[],
  turn: number,
): ReadonlyMap<string, number> {
  const taken = (level: number): number => holders.reduce((sum, { needed }) => sum + Math.min(needed, level), 0);
  const total = taken(Number.POSITIVE_INFINITY);
  if (total <= allowed) {
    const spare = Math.floor((allowed - total) / (holders.length + 1));
    return new Map(
      holders.map(({ worker, needed }) => [worker, needed === 0 ? 0 : needed + Math.min(spare, Math.max(SPARE, needed))]),
    );
  }
  let [level, over] = [0, allowed + 1];
  while (over - level > 1) {
    const middle = Math.floor((level + over) / 2);
    if (taken(middle) <= allowed) level = middle;
    else over = middle;
  }
  const inOrder = holders.toSorted((left, right) => (left.worker < right.worker ? -1 : 1));
  const first = turn % inOrder.length;
  const rest = [...inOrder.slice(first), ...inOrder.slice(0, first)].filter(({ needed }) => needed > level);
  const lucky = new Set(rest.slice(0, allowed - taken(level)).map(({ worker }) => worker));
  return new Map(holders.map(({ worker, needed }) => [worker, Math.min(needed, level) + (lucky.has(worker) ? 1 : 0)]));
}
