import { limits } from '../../base/limits.ts';
import type { Ledger, RunRow } from '../../ledger/port.ts';

/** The run at the top of the tree that a run belongs to. Runs are driven from there: a child’s answer lets all of it go on. */
export async function rootOf(ledger: Pick<Ledger, 'runs'>, row: RunRow): Promise<RunRow> {
  let root = row;
  for (let depth = 0; root.parent !== null && depth <= limits.runDepth; depth += 1)
    root = (await ledger.runs({ run: root.parent }))[0] ?? { ...root, parent: null };
  return root;
}
