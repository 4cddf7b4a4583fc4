/** What was recorded of one run and of all below it. */
import type { EventType } from '../../events/catalogue.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import { parentRun } from '../../events/run-origin.ts';
import type { LedgerAccess } from '../options.ts';
import type { DrivenRun } from '../record/driven-run.ts';
import { readAll } from '../record/read-all.ts';
import { sinceStartedAnew } from '../record/standing-events.ts';
import type { Writes } from '../record/writes.ts';

/** What says something about work and about who waits. */
const TYPES: readonly EventType[] = [
  ...(['run.started', 'run.ended', 'file.diff', 'test.report', 'cli.run', 'cli.stdout', 'cli.stderr'] as const),
  ...(['tool.call', 'tool.result', 'executor.call', 'executor.result'] as const),
  ...(['evidence.checked', 'artifact.manifest', 'task.captured', 'task.clarify', 'approval.asked', 'approval.answered'] as const),
];

export async function eventsBelow(tree: LedgerAccess & Writes, node: DrivenRun, run: string): Promise<LedgerEvent[]> {
  await tree.writer.flushed();
  const below = new Set([run]);
  const found: LedgerEvent[] = [];
  const events = await readAll(tree.ledger, tree.session, { root: topOf(node).run, types: TYPES });
  for (const event of sinceStartedAnew(events)) {
    if (event.event_type === 'run.started' && below.has(parentRun(event.payload) ?? '')) below.add(event.run_id);
    if (below.has(event.run_id)) found.push(event);
  }
  return found;
}

const topOf = (node: DrivenRun): DrivenRun => (node.parent === undefined ? node : topOf(node.parent));
