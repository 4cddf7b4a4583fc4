/**
 * Everything that is shown of a session, folded by the engine's own projections. They update what they are given, and replace
 * what is inside: so a copy of the maps is a snapshot, and costs as much as there are runs, not as much as there are events.
 */
import type { LedgerEvent } from '../../src/events/envelope.ts';
import { type BudgetUses, foldBudget, initialBudget } from '../../src/projections/budget.ts';
import { type Costs, foldCosts, initialCosts } from '../../src/projections/costs.ts';
import { foldQueue, initialQueue, type PromptQueue } from '../../src/projections/prompt-queue.ts';
import { foldRunTree, initialRunTree, type RunTree } from '../../src/projections/run-tree.ts';
import { foldWaits, initialWaits, type Waits } from '../../src/projections/waits.ts';
import { type ChangedFiles, foldFiles, initialFiles } from './changed-files.ts';

export interface SessionFold {
  readonly tree: RunTree;
  readonly waits: Waits;
  readonly costs: Costs;
  readonly budget: BudgetUses;
  readonly files: ChangedFiles;
  /** Prompts that wait their turn. */
  readonly queue: PromptQueue;
}

export const initialFold = (): SessionFold => ({
  tree: initialRunTree(),
  waits: initialWaits(),
  costs: initialCosts(),
  budget: initialBudget(),
  files: initialFiles(),
  queue: initialQueue(),
});

export function foldEvent(fold: SessionFold, event: LedgerEvent): void {
  foldRunTree(fold.tree, event);
  foldWaits(fold.waits, event);
  foldCosts(fold.costs, event);
  foldBudget(fold.budget, event);
  foldFiles(fold.files, event);
  foldQueue(fold.queue, event);
}

export function copyFold({ tree, waits, costs, budget, files, queue }: SessionFold): SessionFold {
  const { groups, agents, workers } = tree.progress;
  return {
    tree: {
      ...tree,
      runs: new Map(tree.runs),
      roots: [...tree.roots],
      progress: { groups: new Map(groups), agents: new Map(agents), workers: new Map(workers) },
    },
    waits: new Map(waits),
    costs: { ...costs, agents: new Map(costs.agents), asked: new Map(costs.asked), lines: new Map(costs.lines) },
    budget: new Map(budget),
    files: new Map(files),
    queue: new Map(queue),
  };
}
