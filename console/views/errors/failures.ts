/** The runs of a session that failed, and those among them that nothing below them explains: the first causes. */
import { type RunNode, type RunTree, subtree } from '../../../src/projections/run-tree.ts';

export const failedRuns = (tree: RunTree): readonly RunNode[] =>
  [...tree.runs.values()].filter(({ state }) => state === 'failed' || state === 'budget_exhausted');

/** In the order in which they ended: what came first may have led to the rest. */
export function firstCauses(tree: RunTree, failed: readonly RunNode[]): readonly RunNode[] {
  const names = new Set<string>(failed.map(({ run }) => run));
  return failed
    .filter(({ run }) => !subtree(tree, run).some((below) => below.run !== run && names.has(below.run)))
    .toSorted((left, right) => (left.endedAt ?? 0) - (right.endedAt ?? 0));
}
