/** `troupe show`: one run as it stands: the tree, threads with their messages, the summary, the open questions and the result. */
import type { SessionId } from '../../base/ids.ts';
import type { OpenWait } from '../../engine/port.ts';
import { rootOf } from '../../engine/record/root-of.ts';
import { foldSession } from '../../ledger/pages.ts';
import type { Ledger } from '../../ledger/port.ts';
import { createProcesses } from '../../projections/processes.ts';
import { foldRunTree, initialRunTree, type RunNode, type RunTree, subtree, withAskersBelow } from '../../projections/run-tree.ts';
import { createSessionThreads } from '../../projections/threads.ts';
import { findRun, standingBelow } from '../drive/find-run.ts';
import { isOnlyError, printReport } from '../drive/finish-run.ts';
import { type CommandContext, callOf, type JsonOption, printJson, usageError, withProject } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { safeText } from '../terminal/safe-text.ts';
import { groupsBelow, iterationLines } from '../view/iterations.ts';
import { permissionLines, summarise, summaryLines, waitLines } from '../view/run-summary.ts';
import { treeRuns } from '../view/shown-tree.ts';
import { saidLines, saidTo, type Threads, threadLines, threadsOf } from '../view/thread-lines.ts';
import { treeLines } from '../view/tree-lines.ts';

export interface ShowOptions extends JsonOption {
  /** Only what is asked for a permission of, all of it. */
  readonly request?: boolean | undefined;
}

/** A still picture may be taller than a moving one. */
const CALLS_SHOWN = 60;

export async function showCommand(context: CommandContext, text: string, options: ShowOptions): Promise<ExitCode> {
  return withProject(context, { readOnly: true }, async ({ ledger, engine, config }) => {
    const row = await findRun(ledger, text);
    const { tree, ...boxes } = await foldAll(ledger, row.session);
    const node = tree.runs.get(row.run);
    if (node === undefined) throw usageError(`The events of ${row.run} are gone`, 'look at the ledger: troupe ledger verify');
    const now = context.clock.now();
    const below = subtree(tree, row.run);
    const waits = (await engine.waits(row.run)).filter((wait) => below.some(({ run }) => run === wait.run));
    if (options.request === true) {
      printRequests(context, waits, options);
      return exitCodes.completed;
    }
    const root = await rootOf(ledger, row);
    const asking = withAskersBelow(subtree(tree, root.run));
    const standing = (one: RunNode) => standingBelow(root, one.run === row.run ? row : one, asking.has(one.run));
    const summary = {
      ...summarise(tree, node, { session: row.session, ledger: config.ledger, now, waits }),
      status: standing(node),
    };
    const threads = threadsOf(boxes, below, now);
    const said = saidTo(boxes, below, now);
    if (options.json) {
      const runs = treeRuns(tree, row.run, now, standing);
      printJson(context, 'show', { ...summary, tree: runs, groups: groupsBelow(tree, row.run), threads, said });
      return exitCodes.completed;
    }
    const { out } = context.terminal;
    const width = out.isTty ? out.width() : Number.MAX_SAFE_INTEGER;
    const picture = { now, width, paint: out.paint, calls: CALLS_SHOWN, notes: true, standing };
    for (const line of treeLines(tree, row.run, picture)) out.line(line);
    const iterations = iterationLines(tree, row.run, now);
    if (iterations.length > 0) out.line();
    for (const line of iterations) out.line(line);
    if (threads.length > 0) out.line();
    for (const line of threadLines(threads, out.paint, width)) out.line(line);
    if (said.length > 0) out.line();
    for (const line of saidLines(said, out.paint, width)) out.line(line);
    out.line();
    const look = { paint: out.paint, width: out.isTty ? width : undefined, call: callOf(context), here: 'show' } as const;
    for (const line of [...summaryLines(summary, look), ...waitLines(waits, callOf(context))]) out.line(line);
    if (node.report !== null && !isOnlyError(node.report, summary.error)) {
      out.line();
      await printReport(context, node.report);
    }
    return exitCodes.completed;
  });
}

function printRequests(context: CommandContext, waits: readonly OpenWait[], { json }: JsonOption): void {
  const asked = waits.filter((wait) => wait.kind === 'permission');
  if (json) {
    const requests = asked.map(({ run, wait, input, request, shown }) => ({ run, wait, input, request, shown }));
    printJson(context, 'show', { requests });
    return;
  }
  const { out } = context.terminal;
  if (asked.length === 0) out.line('no permission is asked for');
  for (const wait of asked) {
    out.line(`${wait.run} ${wait.wait}`);
    out.line(safeText(wait.request));
    for (const line of permissionLines(wait, callOf(context), ` --wait ${wait.wait}`)) out.line(line);
  }
}

async function foldAll(ledger: Ledger, session: SessionId): Promise<Threads & { readonly tree: RunTree }> {
  const folded = { tree: initialRunTree(), sessionThreads: createSessionThreads(), processes: createProcesses() };
  return await foldSession(ledger, session, folded, (all, event) => {
    foldRunTree(all.tree, event);
    all.sessionThreads.apply(event);
    all.processes.apply(event);
    return all;
  });
}
