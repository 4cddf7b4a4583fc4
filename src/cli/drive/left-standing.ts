/** How the runs of a tree stand that nobody works on any more: what they were doing they do no more. */
import type { RunId } from '../../base/ids.ts';
import { standingBelow } from '../../front/standing.ts';
import { type RunTree, subtree, withAskersBelow } from '../../projections/run-tree.ts';
import type { TreeLook } from '../view/tree-lines.ts';

export function leftStanding(tree: RunTree, root: RunId): NonNullable<TreeLook['standing']> {
  const top = tree.runs.get(root);
  const asking = withAskersBelow(subtree(tree, root));
  return (node) => standingBelow({ ...(top ?? node), parent: null, owner: null }, node, asking.has(node.run));
}
