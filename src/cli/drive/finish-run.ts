/** The end of every command that drove a run: the result on stdout, the summary on stderr, the exit code. */
import { type RunId, type SessionId, shortId } from '../../base/ids.ts';
import type { RunEnd } from '../../engine/port.ts';
import type { Project } from '../../project/project.ts';
import type { RunTree } from '../../projections/run-tree.ts';
import { type CommandContext, callOf, printJson } from '../terminal/command.ts';
import { type ExitCode, exitCodeOfEnd, isTooLittle } from '../terminal/exit-codes.ts';
import { safeText } from '../terminal/safe-text.ts';
import { createLiveTree } from '../view/live-tree.ts';
import { createJsonLines, createPlainLines } from '../view/plain-lines.ts';
import { summarise, summaryLines, waitLines } from '../view/run-summary.ts';
import { bothViews, type RunView, silentView } from '../view/run-view.ts';

export interface OutputOptions {
  readonly json?: boolean | undefined;
  readonly jsonl?: boolean | undefined;
  readonly quiet?: boolean | undefined;
}

export function chooseView(context: CommandContext, run: RunId, options: OutputOptions): RunView {
  const { terminal, clock } = context;
  const progress = options.quiet
    ? silentView
    : terminal.animated
      ? createLiveTree({ screen: terminal.progress, clock, root: run })
      : createPlainLines(terminal.progress, 'info');
  return options.jsonl ? bothViews(progress, createJsonLines(terminal.out)) : progress;
}

const TOO_LITTLE = 'exit code 3: nothing was claimed and nothing demanded, and a verified result is required (require)';

export interface Finished {
  readonly session: SessionId;
  readonly run: RunId;
  readonly tree: RunTree;
  readonly end: RunEnd;
}

export function finishRun(context: CommandContext, project: Project, finished: Finished, options: OutputOptions): ExitCode {
  const { terminal, clock } = context;
  const { tree, end, session } = finished;
  const node = tree.runs.get(finished.run);
  const least = project.config.require;
  const code = exitCodeOfEnd(end, least);
  if (node === undefined) {
    terminal.progress.line(
      `run ${finished.run} left no trace in the ledger${end.kind === 'interrupted' ? `: ${end.reason}` : ''}`,
    );
    return code;
  }
  const summary = summarise(tree, node, { session, ledger: project.config.ledger, now: clock.now(), end });
  if (!options.quiet) terminal.progress.line();
  if (options.json) printJson(context, summary);
  else if (!options.jsonl && node.report !== null) printReport(context, node.report.body);
  if (!options.quiet) {
    terminal.progress.line();
    for (const line of summaryLines(summary, terminal.progress.paint, callOf(context))) terminal.progress.line(line);
    if (isTooLittle(end, least)) terminal.progress.line(TOO_LITTLE);
  }
  if (end.kind === 'paused' || (end.kind === 'interrupted' && end.error === undefined))
    terminal.progress.line(`${end.kind}: ${safeText(end.reason)}`);
  if (end.kind === 'interrupted' && project.config.cluster !== undefined) sayHowToFollow(context, finished.run);
  for (const line of waitLines(summary.waits, callOf(context))) terminal.progress.line(line);
  return code;
}

function sayHowToFollow(context: CommandContext, run: RunId): void {
  const call = callOf(context);
  const short = shortId(run);
  context.terminal.progress.line(`stay with it again: ${call} resume ${short}; only watch it: ${call} logs -f ${short}`);
}

/** A person's terminal is protected from what the text holds; a pipe gets it as it is. */
export function printReport(context: CommandContext, body: string): void {
  const { out } = context.terminal;
  out.line((out.isTty ? safeText(body) : body).trimEnd());
}
