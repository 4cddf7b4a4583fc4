/** A run in the middle of a tree, put in its place below those that asked for it, without any of them being driven. */
import { TroupeError } from '../../base/errors.ts';
import type { RunId } from '../../base/ids.ts';
import type { EventOf, LedgerEvent } from '../../events/envelope.ts';
import { parentRun } from '../../events/run-origin.ts';
import type { DrivenRun } from '../record/driven-run.ts';
import type { DrivenTree } from './tree.ts';

/** As it was started last: one that came to nothing may have been started anew. */
export function startedOf(events: readonly LedgerEvent[], run: string): EventOf<'run.started'> | undefined {
  const found = events.findLast((event) => event.event_type === 'run.started' && event.run_id === run);
  return found?.event_type === 'run.started' ? found : undefined;
}

/** The run at the top of the tree that a run belongs to. */
export function topOf(events: readonly LedgerEvent[], run: string): string {
  const started = startedOf(events, run)?.payload;
  const parent = started && parentRun(started);
  return parent === undefined ? run : topOf(events, parent);
}

/** The run below those that asked for it: their budgets hold for it, and what ends them ends it. */
export function placeInTree(tree: Pick<DrivenTree, 'root' | 'below'>, events: readonly LedgerEvent[], run: RunId): DrivenRun {
  const started = startedOf(events, run)?.payload;
  if (started === undefined) throw new TroupeError('bug', `There is no start of ${run} in its session.`);
  const parent = parentRun(started);
  if (parent === undefined) return tree.root(run, started);
  return tree.below(placeInTree(tree, events, parent as RunId), run, started);
}
