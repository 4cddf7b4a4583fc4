/**
 * Budgets by reserve and settle. Before a model call its worst case is reserved against the budget of the run, of every
 * run above it and of the project; after it the difference is given back. A reservation that does not fit is refused in
 * the same transaction that would have recorded it, so no number of processes can overspend.
 */

import { type RunId, shortId } from '../../base/ids.ts';
import { present } from '../../base/present.ts';
import { counted } from '../../base/wording.ts';
import type { Amounts, Budget } from '../../events/catalogue.ts';
import type { RunOrigin } from '../../events/run-origin.ts';
import type { CounterChange } from '../../ledger/port.ts';
import type { StartOptions } from '../../patterns/steps.ts';
import { readableMoney } from '../../projections/readable.ts';
import type { BudgetScope } from '../record/driven-run.ts';
import type { OverLimit } from '../record/writer.ts';
import type { Exhausted } from './spending.ts';

/** Everybody who works on this ledger shares this scope. */
export const PROJECT_SCOPE = 'project';

const NANO = 1_000_000_000;

const COUNTED = ['calls', 'tokens', 'nanoUsd'] as const;
type Counted = (typeof COUNTED)[number];

export function counterName(scope: string, unit: Counted): string {
  return `budget/${scope}/${unit}`;
}

function limitOf(budget: Budget, unit: Counted): number | undefined {
  if (unit === 'nanoUsd') return budget.usd === undefined ? undefined : Math.floor(budget.usd * NANO);
  return budget[unit];
}

/** What everybody shares, when the project has a budget. */
function projectScope(budget: (Budget & { readonly allowUnknownPrices?: boolean | undefined }) | undefined): BudgetScope[] {
  if (budget === undefined) return [];
  const { allowUnknownPrices: _allowed, ...limit } = budget;
  return [{ scope: PROJECT_SCOPE, limit }];
}

/** What a root run shares with others of its caller, beside what everybody shares. */
export function rootScopes(
  budget: (Budget & { readonly allowUnknownPrices?: boolean | undefined }) | undefined,
  origin: RunOrigin,
): BudgetScope[] {
  const account = origin.kind === 'client' ? origin.account : undefined;
  return [...projectScope(budget), ...(account === undefined ? [] : [{ scope: account.name, limit: account.limit }])];
}

/** A run's own budget counts beside all those above it. */
export function scopesOf(run: RunId, budget: Budget | undefined, above: readonly BudgetScope[]): BudgetScope[] {
  return budget === undefined ? [...above] : [...above, { scope: run, limit: budget }];
}

/** Only scopes that limit what is counted take part; a run without a budget costs nothing to account for. */
export function limitingScopes(scopes: readonly BudgetScope[]): BudgetScope[] {
  return scopes.filter(({ limit }) => COUNTED.some((unit) => limitOf(limit, unit) !== undefined));
}

export function reservation(scopes: readonly BudgetScope[], amounts: Amounts): CounterChange[] {
  return changes(scopes, (unit, max) => ({ add: amounts[unit] ?? 0, ...present({ max }) }));
}

export function settlement(scopes: readonly BudgetScope[], reserved: Amounts, spent: Amounts): CounterChange[] {
  return changes(scopes, (unit) => ({ add: (spent[unit] ?? 0) - (reserved[unit] ?? 0) }));
}

function changes(
  scopes: readonly BudgetScope[],
  change: (unit: Counted, max: number | undefined) => { readonly add: number; readonly max?: number },
): CounterChange[] {
  return scopes.flatMap(({ scope, limit }) =>
    COUNTED.map((unit) => ({ name: counterName(scope, unit), ...change(unit, limitOf(limit, unit)) })).filter(
      (item) => item.add !== 0 || item.max !== undefined,
    ),
  );
}

/** Why a call was refused: whose budget, and for people what is left and what the call could have cost. */
export function refusal(over: OverLimit): Exhausted {
  const [, scope = '', unit = ''] = over.counter.split('/');
  const whose = whoseBudget(scope);
  const left = Math.max(0, over.max - over.value);
  const message =
    `The budget of ${whose} has ${amountText(unit, left)} of ${amountText(unit, over.max)} left, and the next model call could ` +
    `need ${amountText(unit, over.add)}. It was not made. ${wayOn(scope, unit, over)}`;
  return { scope, message, unit };
}

function whoseBudget(scope: string): string {
  if (scope === PROJECT_SCOPE) return 'the project (budget in troupe.yaml)';
  return scope.startsWith('run_') ? `run ${scope}` : `the account ${scope}`;
}

/** Dollars are named to four places. */
const NAMED_NANO = NANO / 10_000;

/** What has it go on: enough for the call that was refused, and not little more than it had. */
function wayOn(scope: string, unit: string, { max, value, add }: OverLimit): string {
  const name = unit === 'nanoUsd' ? 'usd' : unit;
  if (!scope.startsWith('run_') && scope !== PROJECT_SCOPE) return 'Raise it where it is set, then go on with troupe resume.';
  if (scope === PROJECT_SCOPE) return `Raise budget.${name} in troupe.yaml, then go on with troupe resume.`;
  const needed = Math.max(2 * max, value + add);
  const more = unit === 'nanoUsd' ? Math.ceil(needed / NAMED_NANO) / 10_000 : needed;
  return `To go on with more: troupe resume ${shortId(scope)} --budget-${name} ${more}`;
}

function amountText(unit: string, amount: number): string {
  return unit === 'nanoUsd' ? readableMoney(amount) : counted(amount, unit.replace(/s$/, ''));
}

/** How long whoever asks for a run waits for it, and the name under which a person set that. */
export type TimeLimit = NonNullable<StartOptions['timeLimit']>;

/** What a run may take in all. The setting is named when it is shorter than the run's own time. */
export function withTimeLimit(
  own: Budget | undefined,
  limit: TimeLimit | undefined,
): { readonly budget?: Budget; readonly timeLimit?: string } {
  if (limit === undefined) return present({ budget: own });
  const shorter = limit.milliseconds < (own?.wallMs ?? Number.POSITIVE_INFINITY);
  const budget = tighter(own, { wallMs: limit.milliseconds });
  return present({ budget, timeLimit: shorter ? limit.setting : undefined });
}

/** The tighter of two budgets, limit by limit. */
export function tighter(left: Budget | undefined, right: Budget | undefined): Budget | undefined {
  if (left === undefined || right === undefined) return left ?? right;
  const keys = ['usd', 'tokens', 'calls', 'depth', 'wallMs'] as const;
  const entries = keys.flatMap((key) => {
    const values = [left[key], right[key]].filter((value) => value !== undefined);
    return values.length === 0 ? [] : [[key, Math.min(...values)] as const];
  });
  return Object.fromEntries(entries);
}
