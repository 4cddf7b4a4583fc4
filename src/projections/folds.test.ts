/** What every projection promises, checked on random sessions: live equals cold, and no event is ever needed twice. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyEvents } from '../../test/support/event-list.ts';
import type { LedgerEvent } from '../events/envelope.ts';
import { foldBudget, initialBudget } from './budget.ts';
import { costLines, foldCosts, initialCosts } from './costs.ts';
import { foldRunTree, initialRunTree, subtree, subtreeSpending } from './run-tree.ts';
import { foldTasks, initialTasks } from './tasks/tasks.ts';
import { foldTimeline, initialTimeline } from './timeline.ts';
import { foldWaits, initialWaits } from './waits.ts';
import { foldCauses, initialCauses, whyOf } from './why.ts';

type Fold = (events: readonly LedgerEvent[]) => unknown;

function foldOf<State>(initial: () => State, fold: (state: State, event: LedgerEvent) => State): Fold {
  return (events) => events.reduce(fold, initial());
}

const folds: readonly (readonly [name: string, fold: Fold])[] = [
  ['run tree', foldOf(initialRunTree, foldRunTree)],
  ['costs', foldOf(initialCosts, foldCosts)],
  ['budget', foldOf(initialBudget, foldBudget)],
  ['timeline', foldOf(initialTimeline, foldTimeline)],
  ['tasks', foldOf(initialTasks, foldTasks)],
  ['waits', foldOf(initialWaits, foldWaits)],
  ['why', foldOf(initialCauses, foldCauses)],
];

describe.each(folds)('%s', (_name, fold) => {
  it('says the same of a prefix, however many events come later', () => {
    fc.assert(
      fc.property(anyEvents, fc.nat(60), (events, length) => {
        const before = fold(events.slice(0, length));
        const copy = structuredClone(before);
        fold(events);
        expect(before).toEqual(copy);
        expect(fold(events.slice(0, length))).toEqual(copy);
      }),
    );
  });

  it('leaves the events as they are', () => {
    fc.assert(
      fc.property(anyEvents, (events) => {
        const copy = structuredClone(events);
        fold(events);
        expect(events).toEqual(copy);
      }),
    );
  });
});

describe('across projections', () => {
  it('total cost is the sum over model responses, over lines, and over the run tree', () => {
    fc.assert(
      fc.property(anyEvents, (events) => {
        const costs = events.reduce(foldCosts, initialCosts());
        const responses = events.flatMap((event) => (event.event_type === 'model.response' ? [event.payload] : []));
        const known = responses.reduce((sum, { cost }) => sum + (cost?.nanoUsd ?? 0), 0);
        expect(costs.total.nanoUsd).toBe(known);
        expect(costs.total.calls).toBe(responses.length);
        expect(costs.total.unknownCalls).toBe(responses.filter(({ cost }) => cost === undefined).length);
        expect(costLines(costs).reduce((sum, line) => sum + line.nanoUsd, 0)).toBe(known);
      }),
    );
  });

  it('every started run is in exactly one place of the tree', () => {
    fc.assert(
      fc.property(anyEvents, (events) => {
        const tree = events.reduce(foldRunTree, initialRunTree());
        const placed = tree.roots.flatMap((root) => subtree(tree, root).map((node) => node.run));
        expect(placed.toSorted()).toEqual([...tree.runs.keys()].toSorted());
        const total = tree.roots.reduce((sum, root) => sum + subtreeSpending(tree, root).calls, 0);
        expect(total).toBe([...tree.runs.values()].reduce((sum, node) => sum + node.spent.calls, 0));
      }),
    );
  });

  it('a wait is open in the tree exactly when it is open among the waits', () => {
    fc.assert(
      fc.property(anyEvents, (events) => {
        const known = new Set<string>();
        const started = events.filter((event) => {
          if (event.event_type === 'run.started') known.add(event.run_id);
          return known.has(event.run_id);
        });
        const tree = started.reduce(foldRunTree, initialRunTree());
        const live = [...started.reduce(foldWaits, initialWaits()).values()].filter(
          ({ run }) => tree.runs.get(run)?.endedAt === null,
        );
        const open = [...tree.runs.values()].flatMap((node) => node.waits.map((wait) => `${node.run} ${wait}`));
        expect(live.map(({ run, wait }) => `${run} ${wait}`).toSorted()).toEqual(open.toSorted());
      }),
    );
  });

  it('settling what was reserved leaves nothing reserved', () => {
    fc.assert(
      fc.property(anyEvents, (events) => {
        const uses = events.reduce(foldBudget, initialBudget());
        const sum = (type: 'budget.reserved' | 'budget.settled'): number =>
          events.reduce((total, event) => {
            if (event.event_type !== type) return total;
            const amounts = event.event_type === 'budget.reserved' ? event.payload.amounts : event.payload.reserved;
            return total + amounts.tokens;
          }, 0);
        expect(uses.get('project')?.reserved.tokens ?? 0).toBe(sum('budget.reserved') - sum('budget.settled'));
      }),
    );
  });

  it('why always ends, and never names an event twice', () => {
    fc.assert(
      fc.property(anyEvents, (events) => {
        const causes = events.reduce(foldCauses, initialCauses());
        for (const { event_id } of events) {
          const chain = whyOf(causes, event_id);
          expect(new Set(chain.map((cause) => cause.event)).size).toBe(chain.length);
          expect(chain.at(-1)?.parent ?? null).toBeNull();
        }
      }),
      { numRuns: 30 },
    );
  });
});
