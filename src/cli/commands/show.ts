/** `troupe show`: one run as it stands: the tree, threads with their messages, the summary, the open questions and the result. */

import { importedFrom } from '../../engine/imported-sessions.ts';
import type { OpenWait } from '../../engine/port.ts';
import { programNames } from '../../events/going-on.ts';
import type { ShownAnswer } from '../../front/answered-requests.ts';
import { readShownRun, requestsIn, shownValue } from '../../front/shown-run.ts';
import { findRun } from '../drive/find-run.ts';
import { isOnlyError, printReport } from '../drive/finish-run.ts';
import { type CommandContext, callOf, type JsonOption, printJson, usageError, withProject } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { safeLine, safeText } from '../terminal/safe-text.ts';
import { iterationLines } from '../view/iterations.ts';
import { permissionLines, summaryLines, waitLines } from '../view/run-summary.ts';
import { saidLines, threadLines } from '../view/thread-lines.ts';
import { treeLines } from '../view/tree-lines.ts';

export interface ShowOptions extends JsonOption {
  /** Only what is and was asked for a permission of, all of it. */
  readonly request?: boolean | undefined;
}

/** A still picture may be taller than a moving one. */
const CALLS_SHOWN = 60;

export async function showCommand(context: CommandContext, text: string, options: ShowOptions): Promise<ExitCode> {
  return withProject(context, { readOnly: true }, async ({ ledger, engine, config }) => {
    const row = await findRun(ledger, text);
    const now = context.clock.now();
    const shown = await readShownRun({ ledger, engine, config }, row, now);
    if (shown === undefined) throw usageError(`The events of ${row.run} are gone`, 'look at the ledger: troupe ledger verify');
    const { tree, node, waits, answered, summary, threads, said, standing, bundle } = shown;
    if (options.request === true) {
      printRequests(context, waits, answered(), options);
      return exitCodes.completed;
    }
    if (options.json) {
      printJson(context, 'show', shownValue(shown, now));
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
    const imported = await importedFrom(ledger, row.session);
    const from = imported === undefined ? (bundle === undefined ? undefined : 'bundle') : 'transcript';
    const look = { paint: out.paint, width: out.isTty ? width : undefined, call: callOf(context), here: 'show', from } as const;
    for (const line of [...summaryLines(summary, look), ...waitLines(waits, callOf(context))]) out.line(line);
    if (imported !== undefined)
      out.line(safeLine(`from    ${programNames[imported.program]}, ${imported.id}: it can be read, and does not go on here`));
    if (bundle !== undefined) out.line(safeLine(`from    ${bundle.file}, a bundle: it can be read, and does not go on here`));
    if (node.report !== null && !isOnlyError(node.report, summary.error)) {
      out.line();
      await printReport(context, node.report);
    }
    return exitCodes.completed;
  });
}

function printRequests(
  context: CommandContext,
  waits: readonly OpenWait[],
  answered: readonly ShownAnswer[],
  { json }: JsonOption,
): void {
  const asked = waits.filter((wait) => wait.kind === 'permission');
  if (json) {
    printJson(context, 'show', { requests: requestsIn(waits), answered });
    return;
  }
  const { out } = context.terminal;
  for (const { run, wait, at, text, request, changed } of answered) {
    out.line(`${run} ${wait} ${at.slice(0, 19).replace('T', ' ')}: ${safeLine(text)}`);
    out.line(safeText(request));
    if (changed !== undefined) out.line(`made with:\n${safeText(changed)}`);
  }
  if (asked.length === 0) out.line('no permission is asked for');
  for (const wait of asked) {
    out.line(`${wait.run} ${wait.wait}`);
    out.line(safeText(wait.request));
    for (const line of permissionLines(wait, callOf(context), ` --wait ${wait.wait}`)) out.line(line);
  }
}
