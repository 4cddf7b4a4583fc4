/**
 * Work that was to change something and changed nothing. What passes at its end would pass without it, so it says nothing about
 * the work, whatever whoever worked says of it.
 */
import type { AgentDefinition } from '../../agents/definition/definition.ts';
import type { EventOf, LedgerEvent } from '../../events/envelope.ts';
import { taskTermsOf } from '../../events/run-origin.ts';
import type { WorkspaceState } from '../../tools/watch/workspace-watch.ts';
import type { LedgerAccess } from '../options.ts';
import type { DrivenRun } from '../record/driven-run.ts';
import type { Writes } from '../record/writes.ts';

export const UNTOUCHED = 'nothing was changed, so what passes would pass without it';

interface SeenThere {
  /** Changes of all work in the folder. */
  readonly events: readonly LedgerEvent[];
  readonly now: WorkspaceState;
}

/** Tasks, and runs that an executor works for; unless they were only to look. */
export async function isUntouched(
  tree: LedgerAccess & Writes,
  node: DrivenRun,
  { executor }: Pick<AgentDefinition, 'executor'>,
  { events, now }: SeenThere,
): Promise<boolean> {
  const terms = taskTermsOf(node.started);
  if (terms?.onlyVerify === true || executor?.mode === 'read-only') return false;
  if (terms === undefined && executor === undefined) return false;
  const own = await tree.ledger.read({ session: tree.session, run: node.run, types: ['run.started', 'task.captured'] });
  const captured = own.findLast((event): event is EventOf<'task.captured'> => event.event_type === 'task.captured')?.payload;
  if (captured !== undefined) return captured.failed === undefined && captured.files.length === 0;
  // Where nobody can say what was changed, nobody can say that nothing was.
  if (now.kind === 'unknown') return false;
  return !hasChanged(events.filter(({ position }) => position > (own[0]?.position ?? 0)));
}

/** A file that is as it was before is not changed. */
function hasChanged(events: readonly LedgerEvent[]): boolean {
  const first = new Map<string, string | null>();
  const last = new Map<string, string | null>();
  for (const event of events) {
    if (event.event_type !== 'file.diff' || event.payload.by === 'outside') continue;
    const { path, before, after } = event.payload;
    if (!first.has(path)) first.set(path, before);
    last.set(path, after);
  }
  return [...last].some(([path, after]) => first.get(path) !== after);
}
