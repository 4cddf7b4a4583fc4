/** What stands below a run in the tree, in the order in which it began: tool calls, child runs, and cycles of runs that talk. */
import { unreachable } from '../../base/errors.ts';
import type { RunId } from '../../base/ids.ts';
import type { RunNode, RunTree } from '../../projections/run-tree.ts';
import type { ToolUse } from '../../projections/tool-uses.ts';

export interface RunItem {
  readonly kind: 'run';
  readonly node: RunNode;
  readonly position: number;
}

export interface CallItem {
  readonly kind: 'call';
  readonly use: ToolUse;
  readonly position: number;
}

/** All runs that talk to each other in one cycle. */
export interface CycleItem {
  readonly kind: 'cycle';
  readonly cycle: number;
  readonly runs: readonly RunNode[];
  readonly over: boolean;
  readonly position: number;
}

export type TreeItem = RunItem | CallItem | CycleItem;

/** `calls` is how many of a run's tool calls are shown, the newest. A call that became a run is that run. */
export function itemsBelow(tree: RunTree, item: TreeItem, calls: number): readonly TreeItem[] {
  switch (item.kind) {
    case 'call':
      return [];
    case 'cycle':
      return item.runs.map(runItem);
    case 'run': {
      const children = item.node.children.flatMap((run) => tree.runs.get(run) ?? []);
      const talking = children.filter((child) => talksBelow(child, item.node.run));
      const others = children.filter((child) => !talksBelow(child, item.node.run)).map(runItem);
      const items = [...callItems(item.node, calls), ...others, ...cycles(talking)];
      return items.sort((left, right) => left.position - right.position);
    }
    default:
      return unreachable(item);
  }
}

const runItem = (node: RunNode): RunItem => ({ kind: 'run', node, position: node.position });

const talksBelow = (node: RunNode, run: RunId): boolean => node.place?.channel === run;

function callItems(node: RunNode, calls: number): readonly CallItem[] {
  const plain = node.recent.filter((use) => use.child === null);
  return (calls === 0 ? [] : plain.slice(-calls)).map((use) => ({ kind: 'call', use, position: use.position }));
}

function cycles(talking: readonly RunNode[]): readonly CycleItem[] {
  const byCycle = Map.groupBy(talking, (node) => node.place?.cycle ?? 0);
  return [...byCycle].map(([cycle, runs]) => ({
    kind: 'cycle',
    cycle,
    runs,
    over: runs.every((run) => run.endedAt !== null) && (byCycle.has(cycle + 1) || runs.some(leads)),
    position: Math.min(...runs.map((run) => run.position)),
  }));
}

const leads = (node: RunNode): boolean => node.place?.leads === true;
