/**
 * What the runs of each tree have done so far, as sums: what a display needs of a past that it does not read. Folded as events
 * come, so that whoever writes them down somewhere knows them at no cost. The tree of runs comes to the same figures.
 */

import type { Doings, TreeDoings } from '../events/doings.ts';
import type { EventOf, LedgerEvent } from '../events/envelope.ts';
import { parentRun } from '../events/run-origin.ts';
import { addSpending, noSpending, spendingIn } from './costs.ts';

export type DoingsBelow = TreeDoings['below'];

export interface TreesDoings {
  apply(event: LedgerEvent): void;
  /** What was done up to where the events begin that come now; `undefined` when nobody wrote it down, and then it stays so. */
  restore(root: string, done: TreeDoings | undefined): void;
  /** `undefined` for a run that is not a root, or of which too little is known. */
  of(root: string): TreeDoings | undefined;
}

export const noDoings = (): Doings => ({ turns: 0, toolCalls: 0, spent: noSpending() });
export const nothingBelow = (): DoingsBelow => ({ ...noDoings(), runs: 0 });

export function createTreesDoings(): TreesDoings {
  const trees = new Map<string, TreeDoings | undefined>();
  const roots = new Map<string, string>();
  /** The turn that each run is in: they are numbered from one. */
  const turns = new Map<string, number>();
  const start = ({ run_id: run, payload }: EventOf<'run.started'>): void => {
    const parent = parentRun(payload);
    if (parent === undefined && !trees.has(run)) trees.set(run, { own: noDoings(), below: nothingBelow() });
    const root = parent === undefined ? run : roots.get(parent);
    // One that came to nothing may be started anew: it is the same run.
    if (root === undefined || roots.has(run)) return;
    roots.set(run, root);
    const tree = trees.get(root);
    if (tree === undefined || root === run) return;
    trees.set(root, { ...tree, below: { ...tree.below, runs: tree.below.runs + 1 } });
  };
  return {
    of: (root) => trees.get(root),
    restore(root, done) {
      trees.set(root, done);
      roots.set(root, root);
      turns.set(root, done?.own.turns ?? 0);
    },
    apply(event) {
      if (event.event_type === 'run.started') return start(event);
      const root = roots.get(event.run_id);
      const tree = root === undefined ? undefined : trees.get(root);
      if (root === undefined || tree === undefined) return;
      const before = turns.get(event.run_id) ?? 0;
      if (event.event_type === 'model.request') turns.set(event.run_id, event.payload.turn);
      if (event.run_id === root) trees.set(root, { ...tree, own: withEvent(tree.own, event, before) });
      else trees.set(root, { ...tree, below: withEvent(tree.below, event, before) });
    },
  };
}

/** Nothing where there are none: most sums never have any. */
export const goneCalls = (gone: number): Pick<Doings, 'gone'> => (gone === 0 ? {} : { gone });

function withEvent<Sums extends Doings>(sums: Sums, event: LedgerEvent, turnBefore: number): Sums {
  switch (event.event_type) {
    case 'model.request':
      return { ...sums, turns: sums.turns + event.payload.turn - turnBefore };
    case 'tool.result':
      return { ...sums, toolCalls: sums.toolCalls + 1, ...goneCalls((sums.gone ?? 0) + (event.payload.gone === true ? 1 : 0)) };
    default: {
      const spent = spendingIn(event);
      return spent === undefined ? sums : { ...sums, spent: addSpending(sums.spent, spent) };
    }
  }
}
