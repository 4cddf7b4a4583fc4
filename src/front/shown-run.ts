/** One run as it stands: its summary, the tree below it, its groups, its threads, and what was said to it. */
import type { RunId, SessionId } from '../base/ids.ts';
import { present } from '../base/present.ts';
import type { OpenWait } from '../engine/port.ts';
import { rootOf } from '../engine/record/root-of.ts';
import { foldSession } from '../ledger/pages.ts';
import type { Ledger, RunRow } from '../ledger/port.ts';
import type { Project } from '../project/project.ts';
import type { GroupProgress } from '../projections/patterns/group-progress.ts';
import { createProcesses } from '../projections/processes.ts';
import { foldRunTree, initialRunTree, type RunNode, type RunTree, subtree, withAskersBelow } from '../projections/run-tree.ts';
import { createSessionThreads } from '../projections/threads.ts';
import { type AnsweredRequests, answeredRequests, foldAnsweredRequests, type ShownAnswer } from './answered-requests.ts';
import { type BundleOrigin, readBundleOrigin } from './bundle-origin.ts';
import { type SaidMessage, type ShownThread, saidTo, type Threads, threadsOf } from './shown-threads.ts';
import { treeRuns } from './shown-tree.ts';
import { standingBelow } from './standing.ts';
import { type RunSummary, summarise } from './summary.ts';

export interface ShownRun {
  readonly tree: RunTree;
  readonly node: RunNode;
  readonly waits: readonly OpenWait[];
  /** What was asked for a permission of, and what was said. */
  answered(): readonly ShownAnswer[];
  readonly summary: RunSummary;
  readonly threads: readonly ShownThread[];
  readonly said: readonly SaidMessage[];
  standing(node: RunNode): ReturnType<typeof standingBelow>;
  readonly bundle: BundleOrigin | undefined;
}

type Reading = Pick<Project, 'ledger' | 'engine'> & { readonly config: Pick<Project['config'], 'ledger'> };

/** `undefined` when its events are gone. */
export async function readShownRun({ ledger, engine, config }: Reading, row: RunRow, now: number): Promise<ShownRun | undefined> {
  const { tree, requests, ...boxes } = await foldAll(ledger, row.session);
  const node = tree.runs.get(row.run);
  if (node === undefined) return undefined;
  const below = subtree(tree, row.run);
  const waits = (await engine.waits(row.run)).filter((wait) => below.some(({ run }) => run === wait.run));
  const root = await rootOf(ledger, row);
  const asking = withAskersBelow(subtree(tree, root.run));
  const standing = (one: RunNode) => standingBelow(root, one.run === row.run ? row : one, asking.has(one.run));
  const summary = {
    ...summarise(tree, node, { session: row.session, ledger: config.ledger, now, waits }),
    status: standing(node),
  };
  const answered = () => answeredRequests(requests, new Set(below.map(({ run }) => run)));
  return {
    tree,
    node,
    waits,
    answered,
    summary,
    standing,
    threads: threadsOf(boxes, below, now),
    said: saidTo(boxes, below, now),
    bundle: await readBundleOrigin(ledger, row.session),
  };
}

/** The same for programs. */
export function shownValue({ tree, summary, threads, said, standing, bundle }: ShownRun, now: number) {
  const run = summary.run as RunId;
  const more = { tree: treeRuns(tree, run, now, standing), groups: groupsBelow(tree, run), threads, said };
  return { ...summary, ...more, ...present({ bundle }) };
}

/** What is asked for a permission of, all of it. */
export const requestsIn = (waits: readonly OpenWait[]) =>
  waits.flatMap((one) => {
    if (one.kind !== 'permission') return [];
    const { run, wait, input, request, shown } = one;
    return [{ run, wait, input, request, shown }];
  });

/** The groups at or below this run, as they began. */
export function groupsBelow(tree: RunTree, root: RunId): readonly GroupProgress[] {
  return subtree(tree, root).flatMap(({ run }) => tree.progress.groups.get(run) ?? []);
}

async function foldAll(
  ledger: Ledger,
  session: SessionId,
): Promise<Threads & { readonly tree: RunTree; readonly requests: AnsweredRequests }> {
  const boxes = { sessionThreads: createSessionThreads(), processes: createProcesses() };
  const folded = { tree: initialRunTree(), requests: new Map() as AnsweredRequests, ...boxes };
  return await foldSession(ledger, session, folded, (all, event) => {
    foldRunTree(all.tree, event);
    foldAnsweredRequests(all.requests, event);
    all.sessionThreads.apply(event);
    all.processes.apply(event);
    return all;
  });
}
