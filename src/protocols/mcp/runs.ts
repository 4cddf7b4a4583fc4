/**
 * Runs as a client may read them: summarised as data, and as lines of a log. Everything a model wrote is a value in JSON or one
 * line of plain text, so it cannot pass for something that we say.
 */

import type { RunId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { parentRun } from '../../events/run-origin.ts';
import { readEvents } from '../../ledger/pages.ts';
import type { Ledger, RunRow } from '../../ledger/port.ts';
import { foldRunTree, initialRunTree, type RunNode, subtree, subtreeSpending } from '../../projections/run-tree.ts';
import { timelineLine } from '../../projections/timeline.ts';

type Reading = Pick<Ledger, 'runs' | 'read'>;

/** State, agent, answer and cost of a run, with the tree of runs below it. */
export async function runSummary(ledger: Reading, row: RunRow): Promise<Readonly<Record<string, unknown>> | undefined> {
  let tree = initialRunTree();
  for await (const event of readEvents(ledger, { session: row.session })) tree = foldRunTree(tree, event);
  const node = tree.runs.get(row.run);
  if (node === undefined) return undefined;
  const below = subtree(tree, row.run);
  const { report } = node;
  return {
    run: row.run,
    session: row.session,
    agent: node.agent,
    state: row.state === 'running' && row.owner === null && row.parent === null ? 'interrupted' : node.state,
    started_at: node.startedAt,
    ended_at: node.endedAt,
    verification: node.verification,
    answer: report === null ? null : report.body.slice(0, limits.resourceBytes / 2),
    error: node.error,
    open_questions: node.waits,
    cost: subtreeSpending(tree, row.run),
    runs: below.slice(0, limits.resourceLines).map(outline),
    more_runs: Math.max(0, below.length - limits.resourceLines),
  };
}

function outline(node: RunNode): Readonly<Record<string, unknown>> {
  const { run, parent, agent, role, state, turn, toolCalls, spent, verification } = node;
  const checked = verification?.state ?? null;
  return { run, parent, agent, role, state, verification: checked, turns: turn, tool_calls: toolCalls, cost: spent };
}

/** The last lines of what happened in a run and below it. */
export async function runLog(ledger: Reading, row: RunRow): Promise<string> {
  const agents = new Map<RunId, string>();
  const runs = new Set<string>([row.run]);
  let lines: string[] = [];
  let dropped = 0;
  for await (const event of readEvents(ledger, { session: row.session })) {
    const line = timelineLine(agents, event);
    const parent = event.event_type === 'run.started' ? parentRun(event.payload) : undefined;
    if (parent !== undefined && runs.has(parent)) runs.add(event.run_id);
    if (!runs.has(event.run_id) || line.level === 'detail') continue;
    lines.push(oneLine(`${line.time} ${line.agent}: ${line.text}`));
    // Cut now and then instead of every time: shifting an array for each line would cost its length.
    if (lines.length < 2 * limits.resourceLines) continue;
    dropped += lines.length - limits.resourceLines;
    lines = lines.slice(-limits.resourceLines);
  }
  dropped += Math.max(0, lines.length - limits.resourceLines);
  const head = dropped === 0 ? [] : [`(${dropped} earlier lines are left out)`];
  return [...head, ...lines.slice(-limits.resourceLines)].join('\n');
}

/** Controls and marks that forge lines or hide text. The joiners stay: scripts and emoji need them. */
const UNSAFE = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\u2028\u2029]+/gu;

function oneLine(text: string): string {
  return text.replace(UNSAFE, ' ').trim();
}
