/** What was spent: in the whole ledger, in a session, or by a run and everything below it. */
import { codeOf } from '../base/errors.ts';
import type { SessionId } from '../base/ids.ts';
import { limits } from '../base/limits.ts';
import { present } from '../base/present.ts';
import type { LedgerEvent } from '../events/envelope.ts';
import { foldSession } from '../ledger/pages.ts';
import type { Ledger, RunRow } from '../ledger/port.ts';
import {
  addSpending,
  type CallCosts,
  type CostDays,
  type Costs,
  costLines,
  foldCostDays,
  foldCosts,
  initialCosts,
  noSpending,
  spendingIn,
} from '../projections/costs.ts';
import { type OtherPrices, repriced } from './repricing.ts';
import { belongsTo } from './standing.ts';

/** Of one run, or one session; of everything without either. */
export interface CostExtent {
  readonly run?: Pick<RunRow, 'run' | 'session'>;
  readonly session?: SessionId;
}

export interface ReadCosts {
  readonly sessions: number;
  /** Of these nothing is known any more: what they held was collected or forgotten. */
  readonly gone: number;
  readonly costs: Costs;
  readonly days: CostDays;
  /** Where they are at other prices: which, and what was recorded. */
  readonly repriced?: { readonly prices: string; readonly recorded: CallCosts };
}

export async function readCosts(
  ledger: Pick<Ledger, 'runs' | 'read'>,
  { run, session }: CostExtent,
  other?: OtherPrices,
): Promise<ReadCosts> {
  const one = run?.session ?? session;
  const rows = one === undefined ? await ledger.runs({ roots: true, limit: limits.runLookup }) : [];
  const sessions = one === undefined ? [...new Set(rows.map((row) => row.session))] : [one];
  const counts = run === undefined ? (): boolean => true : belongsTo(run.run);
  const days: CostDays = new Map();
  let recorded = noSpending();
  const fold = (sum: Costs, given: LedgerEvent): Costs => {
    if (!counts(given)) return sum;
    recorded = addSpending(recorded, spendingIn(given) ?? noSpending());
    const event = other === undefined ? given : repriced(given, other.prices);
    foldCostDays(days, event);
    return foldCosts(sum, event);
  };
  let costs = initialCosts();
  let gone = 0;
  for (const each of sessions)
    try {
      costs = await foldSession(ledger, each, costs, fold);
    } catch (error) {
      if (one !== undefined || codeOf(error) !== 'ledger_collected') throw error;
      gone += 1;
    }
  return {
    ...{ sessions: sessions.length - gone, gone },
    costs,
    days,
    ...(other === undefined ? {} : { repriced: { prices: other.name, recorded } }),
  };
}

/** The same for programs. */
export function costsValue({ sessions, gone, costs, days, repriced: at }: ReadCosts) {
  const { total, inDoubt } = costs;
  const byDay = [...days].map(([day, spent]) => ({ day, ...spent })).sort((left, right) => (left.day < right.day ? -1 : 1));
  return { sessions, gone, lines: costLines(costs), total, inDoubt, days: byDay, ...present({ repriced: at }) };
}
