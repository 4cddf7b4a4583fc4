/** Whose own time was over, and by when that shows: no event says that it was, only what was stopped by it. */
import type { RunId } from '../base/ids.ts';
import { startedUnder } from '../engine/record/standing-events.ts';
import { wallTimeText } from '../engine/run/drive-run.ts';
import type { LedgerEvent } from '../events/envelope.ts';
import { parentRun } from '../events/run-origin.ts';

/** Runs whose own time was over, with where that shows first: what was stopped by it says so in the same words. */
export function lateIn(standing: readonly LedgerEvent[]): ReadonlyMap<RunId, number> {
  const words = new Map<RunId, string>();
  const ofRun = Map.groupBy(standing, ({ run_id: run }) => run);
  for (const event of standing) {
    if (event.event_type !== 'run.started') continue;
    // With the time that it was given since.
    const { budget, timeLimit } = startedUnder(event.payload, ofRun.get(event.run_id));
    if (budget?.wallMs !== undefined) words.set(event.run_id, wallTimeText(budget.wallMs, timeLimit).replace(/\.$/, ''));
  }
  const late = new Map<RunId, number>();
  const errors = standing.filter((event) => errorIn(event) !== undefined);
  const children = childrenIn(standing);
  for (const [run, said] of words) {
    const isSaid = (event: LedgerEvent): boolean => errorIn(event)?.startsWith(said) === true;
    if (!errors.some((event) => event.event_type === 'run.ended' && event.run_id === run && isSaid(event))) continue;
    const within = treeOf(run, children);
    const shown = errors.find((event) => within.has(event.run_id) && isSaid(event))?.position ?? 0;
    // It was over just before that.
    late.set(run, shown - 0.5);
  }
  return late;
}

function errorIn(event: LedgerEvent): string | undefined {
  return event.event_type === 'run.ended' || event.event_type === 'model.failed' ? event.payload.error?.message : undefined;
}

function childrenIn(standing: readonly LedgerEvent[]): ReadonlyMap<string, readonly RunId[]> {
  const children = new Map<string, RunId[]>();
  for (const event of standing) {
    const parent = event.event_type === 'run.started' ? parentRun(event.payload) : undefined;
    if (parent === undefined) continue;
    const known = children.get(parent);
    if (known === undefined) children.set(parent, [event.run_id]);
    else known.push(event.run_id);
  }
  return children;
}

function treeOf(run: RunId, children: ReadonlyMap<string, readonly RunId[]>): ReadonlySet<RunId> {
  const tree = new Set([run]);
  for (const one of tree) for (const child of children.get(one) ?? []) tree.add(child);
  return tree;
}
