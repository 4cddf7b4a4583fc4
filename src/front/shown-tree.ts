/** The tree of a run for programs: what `show` draws, as rows with their parents. */
import type { RunId } from '../base/ids.ts';
import { activityOf, type RunNode, type RunTree, subtree, subtreeDoings } from '../projections/run-tree.ts';
import type { ToolUse } from '../projections/tool-uses.ts';
import type { TreeRun } from './shapes/given.ts';
import { shownTokens } from './summary.ts';

/** The run and every run below it, parents first. */
export function treeRuns(
  tree: RunTree,
  root: RunId,
  now: number,
  standing: (node: RunNode) => TreeRun['status'],
): readonly TreeRun[] {
  const depths = new Map<RunId, number>();
  return subtree(tree, root).map((node) => {
    const above = node.parent === null ? undefined : depths.get(node.parent);
    const depth = above === undefined ? 0 : above + 1;
    depths.set(node.run, depth);
    const { turns, toolCalls, spent } = subtreeDoings(tree, node.run);
    const status = standing(node);
    const activity = activityOf(node, now);
    return {
      run: node.run,
      parent: node.parent,
      depth,
      agent: node.agent,
      role: node.role,
      status,
      verification: node.verification?.state ?? null,
      error: node.error,
      turns,
      toolCalls,
      calls: node.recent.filter(({ child }) => child === null).map(callOf),
      tokens: shownTokens(spent),
      cost: { nanoUsd: spent.nanoUsd, unknownCalls: spent.unknownCalls },
      startedAt: node.startedAt,
      endedAt: node.endedAt,
      nextAttemptAt: status === 'running' && activity.kind === 'outage' ? now + activity.inMs : null,
    };
  });
}

function callOf({ name, subject, durationMs, failed }: ToolUse): TreeRun['calls'][number] {
  return { name, subject, state: durationMs === null ? 'running' : failed ? 'failed' : 'done', durationMs };
}
