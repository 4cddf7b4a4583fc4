import type { RunId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import type { Ledger, RunRow } from '../../ledger/port.ts';

/** The run at the top of the tree that a run belongs to. Runs are driven from there: a child’s answer lets all of it go on. */
export async function rootOf(ledger: Pick<Ledger, 'runs'>, row: RunRow): Promise<RunRow> {
  let root = row;
  for (let depth = 0; root.parent !== null && depth <= limits.runDepth; depth += 1)
    root = (await ledger.runs({ run: root.parent }))[0] ?? { ...root, parent: null };
  return root;
}

/** Whether a run is this one, or somewhere below it. */
export async function isWithin(ledger: Pick<Ledger, 'runs'>, run: RunId, top: RunId): Promise<boolean> {
  let at: RunId | null = run;
  for (let depth = 0; at !== null && at !== top && depth <= limits.runDepth; depth += 1)
    at = (await ledger.runs({ run: at }))[0]?.parent ?? null;
  return at === top;
}
