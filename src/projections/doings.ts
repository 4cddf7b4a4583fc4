/**
 * What the runs of each tree have done so far, as sums: what a display needs of a past that it does not read. Folded as events
 * come, so that whoever writes them down somewhere knows them at no cost. The tree of runs comes to the same figures.
 */

import type { Doings, TreeDoings } from '../events/doings.ts';
import type { EventOf, LedgerEvent } from '../events/envelope.ts';
import { parentRun } from '../events/run-origin.ts';
import { addSpending, type CallCosts, noSpending, spendingIn } from './costs.ts';

export type DoingsBelow = TreeDoings['below'] & { readonly spent: CallCosts };

export interface TreesDoings {
  apply(event: LedgerEvent): void;
  /** What was done up to where the events begin that come now; `undefined` when nobody wrote it down, and then it stays so. */
  restore(root: string, done: TreeDoings | undefined): void;
  /** `undefined` for a run that is not a root, or of which too little is known. */
  of(root: string): TreeDoings | undefined;
}

export const noDoings = (): Doings & { readonly spent: CallCosts } => ({ turns: 0, toolCalls: 0, spent: noSpending() });
export const nothingBelow = (): DoingsBelow => ({ ...noDoings(), runs: 0 });

export function createTreesDoings(): TreesDoings {
  const trees = new Map<string, TreeDoings | undefined>();
  const roots = new Map<string, string>();
  /** The turn that each run is in: they are numbered from one. */
  const turns = new Map<string, number>();
  const ended = new Map<string, readonly EndedCall[]>();
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
      const add = <Sums extends Doings>(sums: Sums): Sums => {
        const calls = { ended: ended.get(event.run_id) ?? [], toolCalls: sums.toolCalls, gone: sums.gone ?? 0 };
        const { ended: now, toolCalls, gone } = countCalls(calls, event);
        ended.set(event.run_id, now);
        return { ...withEvent(sums, event, before), toolCalls, ...(gone === calls.gone ? {} : { gone }) };
      };
      if (event.run_id === root) trees.set(root, { ...tree, own: add(tree.own) });
      else trees.set(root, { ...tree, below: add(tree.below) });
    },
  };
}

/** A call that has ended since the run was answered last. */
export interface EndedCall {
  readonly position: number;
  /** It was not made, because its exact arguments are gone. */
  readonly gone: boolean;
}

export interface CountedCalls {
  /** Only these may be undone when the run goes on: they end anew then, and each is one call all the same. */
  readonly ended: readonly EndedCall[];
  readonly toolCalls: number;
  readonly gone: number;
}

/** The calls of one run after an event of it. */
export function countCalls({ ended, toolCalls, gone }: CountedCalls, event: LedgerEvent): CountedCalls {
  switch (event.event_type) {
    case 'model.response':
      return { ended: [], toolCalls, gone };
    case 'tool.result': {
      const isGone = event.payload.gone === true;
      const now = [...ended, { position: event.position, gone: isGone }];
      return { ended: now, toolCalls: toolCalls + 1, gone: gone + (isGone ? 1 : 0) };
    }
    case 'run.reopened': {
      const { undone } = event.payload;
      const back = ended.filter(({ position }) => undone.includes(position));
      const left = ended.filter((call) => !back.includes(call));
      return { ended: left, toolCalls: toolCalls - back.length, gone: gone - back.filter((call) => call.gone).length };
    }
    default:
      return { ended, toolCalls, gone };
  }
}

/** Nothing where there are none: most sums never have any. */
export const goneCalls = (gone: number): Pick<Doings, 'gone'> => (gone === 0 ? {} : { gone });

function withEvent<Sums extends Doings>(sums: Sums, event: LedgerEvent, turnBefore: number): Sums {
  switch (event.event_type) {
    case 'model.request':
      return { ...sums, turns: sums.turns + event.payload.turn - turnBefore };
    default: {
      const spent = spendingIn(event);
      return spent === undefined ? sums : { ...sums, spent: addSpending(sums.spent, spent) };
    }
  }
}
