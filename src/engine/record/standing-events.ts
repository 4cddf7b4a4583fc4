/**
 * What a run that was reopened goes on from: everything that it did, but for what made it end. That stays in the ledger, for
 * whoever looks, and the run is built as if it had been cut off just before.
 */
import type { RunId } from '../../base/ids.ts';
import { present } from '../../base/present.ts';
import type { Budget, Payloads } from '../../events/catalogue.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import type { LeftOutPart, TreeTerms } from '../../events/going-on.ts';
import { parentRun } from '../../events/run-origin.ts';
import type { DrivenRun } from './driven-run.ts';

/** The events that were not undone, in their order. */
export function standing(events: readonly LedgerEvent[]): readonly LedgerEvent[] {
  const undone = new Set(events.flatMap((event) => (event.event_type === 'run.reopened' ? event.payload.undone : [])));
  return undone.size === 0 ? events : events.filter(({ position }) => !undone.has(position));
}

/**
 * Without what runs did before they were started anew, and those below them. `events` have every `run.started` among them; of
 * other types any.
 */
export function sinceStartedAnew(events: readonly LedgerEvent[]): readonly LedgerEvent[] {
  const starts = events.filter((event) => event.event_type === 'run.started');
  const last = new Map(starts.map(({ run_id, position }) => [run_id, position]));
  if (last.size === starts.length) return events;
  const above = new Map(starts.map(({ run_id, payload }) => [run_id, parentRun(payload) as RunId | undefined]));
  const isOver = ({ run_id, position }: LedgerEvent): boolean => {
    for (let run: RunId | undefined = run_id; run !== undefined; run = above.get(run))
      if (position < (last.get(run) ?? 0)) return true;
    return false;
  };
  return events.filter((event) => !isOver(event));
}

/** How the run was started, with the limits that it was given since. */
export function startedUnder(
  started: Payloads['run.started'],
  past: readonly LedgerEvent[] | undefined,
): Payloads['run.started'] {
  let budget: Budget | undefined = started.budget;
  for (const event of past ?? [])
    if (event.event_type === 'run.reopened' && event.payload.budget !== undefined)
      budget = { ...budget, ...present(event.payload.budget) };
  return budget === started.budget ? started : { ...started, ...present({ budget }) };
}

/** What holds for every agent of the tree: what its root was started with, and went on under since; the last word counts. */
export function treeTerms(node: DrivenRun): TreeTerms {
  let root = node;
  while (root.parent !== undefined) root = root.parent;
  return { ...root.started.tree, ...termsIn(root.journal.past) };
}

export function termsIn(past: readonly LedgerEvent[]): Pick<Payloads['run.reopened'], 'model' | 'maxTurns'> {
  const given = past.flatMap((event) => (event.event_type === 'run.reopened' ? [event.payload] : []));
  const model = given.findLast((terms) => terms.model !== undefined)?.model;
  const maxTurns = given.findLast((terms) => terms.maxTurns !== undefined)?.maxTurns;
  return present({ model, maxTurns });
}

export const timesReopened = (past: readonly LedgerEvent[]): number =>
  past.filter(({ event_type }) => event_type === 'run.reopened').length;

/** Whether whoever has this budget was reopened after the event: what was out then need not be out now. */
export function reopenedSince(node: DrivenRun, scope: string, position: number): boolean {
  for (let up: DrivenRun | undefined = node; up !== undefined; up = up.parent)
    if (up.run === scope || up.parent === undefined)
      return up.journal.past.some((event) => event.event_type === 'run.reopened' && event.position > position);
  return false;
}

/** What a model of this run is not shown any more. */
export function leftOutOf(past: readonly LedgerEvent[]): readonly LeftOutPart[] {
  return past.flatMap((event) => (event.event_type === 'run.reopened' ? (event.payload.without ?? []) : []));
}
