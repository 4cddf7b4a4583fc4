/** How the budget of a run went: what was left, and what of it was held for calls under way, after each reservation. */
import type { RunId } from '../../../src/base/ids.ts';
import type { Budget } from '../../../src/events/catalogue.ts';
import type { LedgerEvent } from '../../../src/events/envelope.ts';
import { type BudgetUse, foldBudget, initialBudget, type Totals } from '../../../src/projections/budget.ts';
import { readableCount, readableMoney } from '../../../src/projections/readable.ts';
import type { ChartLine } from '../../parts/chart.tsx';

/** One thing that a budget bounds: its name, how much there is of it, and how that is said. */
export interface Bound {
  readonly name: 'usd' | 'tokens' | 'calls';
  readonly title: string;
  readonly cap: number;
  readonly used: (totals: Totals) => number;
  readonly text: (amount: number) => string;
}

const NANO_PER_USD = 1_000_000_000;

export function boundsOf(budget: Budget | null): readonly Bound[] {
  if (budget === null) return [];
  const bound = (name: Bound['name'], title: string, cap: number | undefined, used: Bound['used'], text: Bound['text']) =>
    cap === undefined ? [] : [{ name, title, cap, used, text }];
  const money = budget.usd === undefined ? undefined : budget.usd * NANO_PER_USD;
  return [
    ...bound('usd', 'Money', money, ({ nanoUsd }) => nanoUsd, readableMoney),
    ...bound('tokens', 'Tokens', budget.tokens, ({ tokens }) => tokens, readableCount),
    ...bound('calls', 'Calls', budget.calls, ({ calls }) => calls, readableCount),
  ];
}

/** What of it is settled and what is held for calls under way, in words. */
export function usedWords({ cap, used, text }: Bound, use: BudgetUse | undefined): string {
  const [settled, reserved] = use === undefined ? [0, 0] : [used(use.spent), used(use.reserved)];
  return `${text(settled)} settled, ${text(reserved)} reserved, of ${text(cap)}`;
}

export interface BurnDown {
  /** In seconds. */
  readonly times: readonly number[];
  readonly lines: readonly ChartLine[];
}

/** Beyond this many points every second, fourth, … is drawn. */
const POINTS = 2_000;

/** `undefined` with nothing to draw. */
export function burnDown(events: readonly LedgerEvent[], run: RunId, { cap, used }: Bound): BurnDown | undefined {
  const uses = initialBudget();
  const points: { readonly time: number; readonly left: number; readonly free: number }[] = [];
  for (const event of events) {
    if (event.event_type !== 'budget.reserved' && event.event_type !== 'budget.settled') continue;
    if (!event.payload.scopes.includes(run)) continue;
    const use = foldBudget(uses, event).get(run);
    if (use === undefined) continue;
    const left = Math.max(0, cap - used(use.spent));
    points.push({ time: Date.parse(event.timestamp) / 1_000, left, free: Math.max(0, left - used(use.reserved)) });
  }
  if (points.length < 2) return undefined;
  const each = Math.ceil(points.length / POINTS);
  const drawn = points.filter((_, index) => index % each === 0 || index === points.length - 1);
  return {
    times: drawn.map(({ time }) => time),
    lines: [
      { name: 'left', colour: '--runs', values: drawn.map(({ left }) => left), isFilled: true },
      { name: 'left, less what is reserved', colour: '--waits', values: drawn.map(({ free }) => free), isDashed: true },
      { name: 'budget', colour: '--quiet', values: drawn.map(() => cap) },
    ],
  };
}
