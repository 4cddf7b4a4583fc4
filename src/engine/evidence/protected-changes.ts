/**
 * Why the work of an executor does not count as verified although all that was demanded holds: what decides about it changed,
 * or a part of it is in no patch.
 */
import type { LedgerAccess } from '../options.ts';
import type { DrivenRun } from '../record/driven-run.ts';
import { readAll } from '../record/read-all.ts';
import type { Writes } from '../record/writes.ts';

/** Of a `task.error` that tells of it. */
export const PROTECTED_CATEGORY = 'protected';

export async function protectedChanges(tree: LedgerAccess & Writes, node: DrivenRun): Promise<readonly string[]> {
  if (node.journal.latest('task.error') === undefined && node.journal.latest('task.captured') === undefined) return [];
  await tree.writer.flushed();
  const events = await readAll(tree.ledger, tree.session, { run: node.run, types: ['task.error', 'task.captured'] });
  return events.flatMap(({ event_type, payload }) => {
    if (event_type === 'task.error') return payload.category === PROTECTED_CATEGORY ? [payload.message] : [];
    // What was proved was proved with it, and whoever applies the patch has it not.
    return event_type === 'task.captured' ? (payload.missing ?? []).map((why) => `work of it is in no patch: ${why}`) : [];
  });
}
