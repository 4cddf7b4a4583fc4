/** Why the work of an executor does not count as verified although all that was demanded holds: what decides about it changed. */
import type { LedgerAccess } from '../options.ts';
import type { DrivenRun } from '../record/driven-run.ts';
import { readAll } from '../record/read-all.ts';
import type { Writes } from '../record/writes.ts';

/** Of a `task.error` that tells of it. */
export const PROTECTED_CATEGORY = 'protected';

export async function protectedChanges(tree: LedgerAccess & Writes, node: DrivenRun): Promise<readonly string[]> {
  if (node.journal.latest('task.error') === undefined) return [];
  await tree.writer.flushed();
  const events = await readAll(tree.ledger, tree.session, { run: node.run, types: ['task.error'] });
  return events.flatMap(({ event_type, payload }) =>
    event_type === 'task.error' && payload.category === PROTECTED_CATEGORY ? [payload.message] : [],
  );
}
