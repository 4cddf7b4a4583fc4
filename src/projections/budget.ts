/**
 * Reserved and spent, per scope, at any prefix of the ledger. A call reserves its worst case before it starts and settles
 * after: at every prefix `reserved + spent` is what the cap is held against.
 */
import type { Amounts } from '../events/catalogue.ts';
import type { LedgerEvent } from '../events/envelope.ts';

/** Sums, where money that is not known is counted apart instead of being absent. */
export interface Totals {
  readonly calls: number;
  readonly tokens: number;
  readonly nanoUsd: number;
}

export interface BudgetUse {
  readonly reserved: Totals;
  readonly spent: Totals;
  /** Settled amounts without a known price; `spent.nanoUsd` holds nothing for them. */
  readonly unknownPrices: number;
}

/** By scope: a run's id, or the name of something larger such as the project. */
export type BudgetUses = Map<string, BudgetUse>;

const zero: Totals = { calls: 0, tokens: 0, nanoUsd: 0 };
const unused: BudgetUse = { reserved: zero, spent: zero, unknownPrices: 0 };

export const initialBudget = (): BudgetUses => new Map();

/** Updates and returns the accumulator it was given; the figures inside are replaced, never changed. */
export function foldBudget(uses: BudgetUses, event: LedgerEvent): BudgetUses {
  if (event.event_type === 'budget.reserved') {
    const { scopes, amounts } = event.payload;
    for (const scope of scopes) {
      const use = uses.get(scope) ?? unused;
      uses.set(scope, { ...use, reserved: add(use.reserved, amounts, 1) });
    }
  } else if (event.event_type === 'budget.settled') {
    const { scopes, reserved, spent } = event.payload;
    for (const scope of scopes) {
      const use = uses.get(scope) ?? unused;
      uses.set(scope, {
        reserved: add(use.reserved, reserved, -1),
        spent: add(use.spent, spent, 1),
        unknownPrices: use.unknownPrices + (spent.nanoUsd === undefined ? 1 : 0),
      });
    }
  }
  return uses;
}

function add(left: Totals, right: Amounts, sign: 1 | -1): Totals {
  return {
    calls: left.calls + sign * right.calls,
    tokens: left.tokens + sign * right.tokens,
    nanoUsd: left.nanoUsd + sign * (right.nanoUsd ?? 0),
  };
}
