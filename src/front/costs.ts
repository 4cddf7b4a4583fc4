/** What was spent: in the whole ledger, in a session, or by a run and everything below it. */
import type { SessionId } from '../base/ids.ts';
import { limits } from '../base/limits.ts';
import type { LedgerEvent } from '../events/envelope.ts';
import { foldSession } from '../ledger/pages.ts';
import type { Ledger, RunRow } from '../ledger/port.ts';
import { type Costs, costLines, foldCosts, initialCosts } from '../projections/costs.ts';
import { belongsTo } from './standing.ts';

/** Of one run, or one session; of everything without either. */
export interface CostExtent {
  readonly run?: Pick<RunRow, 'run' | 'session'>;
  readonly session?: SessionId;
}

export interface ReadCosts {
  readonly sessions: number;
  readonly costs: Costs;
}

export async function readCosts(ledger: Pick<Ledger, 'runs' | 'read'>, { run, session }: CostExtent): Promise<ReadCosts> {
  const one = run?.session ?? session;
  const rows = one === undefined ? await ledger.runs({ roots: true, limit: limits.runLookup }) : [];
  const sessions = one === undefined ? [...new Set(rows.map((row) => row.session))] : [one];
  const counts = run === undefined ? (): boolean => true : belongsTo(run.run);
  const fold = (sum: Costs, event: LedgerEvent): Costs => (counts(event) ? foldCosts(sum, event) : sum);
  let costs = initialCosts();
  for (const each of sessions) costs = await foldSession(ledger, each, costs, fold);
  return { sessions: sessions.length, costs };
}

/** The same for programs. */
export function costsValue({ sessions, costs }: ReadCosts) {
  const { total, inDoubt } = costs;
  return { sessions, lines: costLines(costs), total, inDoubt };
}
