/** The end of every command that drove a run: the result on stdout, the summary on stderr, the exit code. */
import { type RunId, type SessionId, shortId } from '../../base/ids.ts';
import { present } from '../../base/present.ts';
import type { RunEnd } from '../../engine/port.ts';
import type { Failure, Report } from '../../events/catalogue.ts';
import type { Budget } from '../../events/going-on.ts';
import { type SummaryFacts, summarise } from '../../front/summary.ts';
import { type HeardPieces, hear } from '../../library/hear.ts';
import type { Project } from '../../project/project.ts';
import type { ShownPackage } from '../../projections/patterns/task-packages.ts';
import { type RunTree, subtree } from '../../projections/run-tree.ts';
import { renderMarkdown } from '../markdown/render-markdown.ts';
import { type CommandContext, callOf, printJson, printJsonError } from '../terminal/command.ts';
import { type ExitCode, exitCodeOfEnd, isTooLittle } from '../terminal/exit-codes.ts';
import type { NotifyBy } from '../terminal/notify.ts';
import { safeText } from '../terminal/safe-text.ts';
import type { Screen } from '../terminal/terminal.ts';
import { wrapToWidth } from '../terminal/text-width.ts';
import { createLiveTree } from '../view/live-tree.ts';
import { createJsonLines, createPlainLines } from '../view/plain-lines.ts';
import { summaryLines, waitLines } from '../view/run-summary.ts';
import { bothViews, createSilentView, type RunView } from '../view/run-view.ts';

export interface OutputOptions {
  readonly json?: boolean | undefined;
  readonly jsonl?: boolean | undefined;
  readonly quiet?: boolean | undefined;
  /** Nothing is handed over: that it stands still then is no news. */
  readonly planOnly?: boolean | undefined;
}

/** What both a new run and one that goes on can be given. */
export interface RunTermsOptions extends OutputOptions {
  readonly model?: string | undefined;
  readonly maxTurns?: number | undefined;
  readonly budgetUsd?: number | undefined;
  readonly budgetTokens?: number | undefined;
  readonly budgetCalls?: number | undefined;
  /** In milliseconds. */
  readonly budgetWall?: number | undefined;
  readonly yes?: boolean | undefined;
  readonly require?: 'verified' | 'unchecked' | undefined;
  readonly notify?: NotifyBy | undefined;
}

/** The limits that were given; none when none was. */
export function budgetIn({ budgetUsd, budgetTokens, budgetCalls, budgetWall }: RunTermsOptions): Budget | undefined {
  const budget = present({ usd: budgetUsd, tokens: budgetTokens, calls: budgetCalls, wallMs: budgetWall });
  return Object.keys(budget).length === 0 ? undefined : budget;
}

/** Pieces of answers for a view that will be chosen so: to be called before the run begins. */
export function hearFor(
  { terminal }: CommandContext,
  { engine }: Pick<Project, 'engine'>,
  { quiet }: OutputOptions,
): HeardPieces {
  return hear(engine, quiet !== true && terminal.animated);
}

export function chooseView(context: CommandContext, run: RunId, options: OutputOptions): RunView {
  const { terminal, clock } = context;
  const progress = options.quiet
    ? createSilentView(terminal.progress)
    : terminal.animated
      ? createLiveTree({ screen: terminal.progress, clock, root: run, call: callOf(context) })
      : createPlainLines(terminal.progress, 'info');
  return options.jsonl ? bothViews(progress, createJsonLines(terminal.out)) : progress;
}

const TOO_LITTLE = 'exit code 3: nothing was claimed and nothing demanded, and a verified result is required (require)';

export interface Finished {
  readonly session: SessionId;
  readonly run: RunId;
  readonly tree: RunTree;
  readonly end: RunEnd;
  /** What it would hand over, where it only had to plan. */
  readonly packages?: readonly ShownPackage[] | undefined;
}

export async function finishRun(
  context: CommandContext,
  project: Project,
  finished: Finished,
  options: OutputOptions,
): Promise<ExitCode> {
  const { terminal, clock } = context;
  const { tree, end, session, packages } = finished;
  const node = tree.runs.get(finished.run);
  const least = project.config.require;
  const code = exitCodeOfEnd(end, least);
  if (node === undefined) {
    const message = `run ${finished.run} left no trace in the ledger${end.kind === 'interrupted' ? `: ${end.reason}` : ''}`;
    if (options.json) printJsonError(terminal, { code: 'no_trace', message, fix: `look at it: ${callOf(context)} doctor` });
    terminal.progress.line(message);
    return code;
  }
  const waits = await openAfter(project, finished);
  const summary = summarise(tree, node, { session, ledger: project.config.ledger, now: clock.now(), end, waits, packages });
  const onlyError = node.report !== null && isOnlyError(node.report, summary.error);
  const answers = node.report !== null && !onlyError;
  if (!options.quiet && answers) terminal.progress.line();
  if (options.json) printJson(context, 'run', summary);
  else if (!options.jsonl && node.report !== null && answers) await printReport(context, node.report);
  // The summary says it, where there is one.
  if (onlyError && options.quiet && !options.json && !options.jsonl && summary.error !== null)
    terminal.progress.prose(safeText(summary.error.message), { indent: 2 });
  if (!options.quiet) {
    terminal.progress.line();
    const { paint, isTty, width } = terminal.progress;
    const look = { paint, width: isTty ? width() : undefined, call: callOf(context) };
    for (const line of summaryLines(summary, look)) terminal.progress.line(line);
    if (isTooLittle(end, least)) terminal.progress.line(TOO_LITTLE);
  }
  const isPaused = end.kind === 'paused' && options.planOnly !== true;
  if (isPaused || (end.kind === 'interrupted' && end.error === undefined && summary.status !== 'waiting'))
    terminal.progress.prose(`${end.kind}: ${safeText(end.reason)}`, { indent: 2 });
  // The summary says it, where there is one.
  if (end.kind === 'parked' && options.quiet)
    terminal.progress.prose(`parked: ${safeText(end.reason)}; to go on: ${callOf(context)} resume ${shortId(finished.run)}`, {
      indent: 2,
    });
  if (end.kind === 'interrupted' && project.config.cluster !== undefined) sayHowToFollow(context, finished.run);
  for (const line of waitLines(summary.waits, callOf(context))) terminal.progress.line(line);
  return code;
}

/** What is asked in a run that was left, as every other command finds it; one that goes on in a cluster may ask anything. */
async function openAfter(project: Project, { run, end, tree }: Finished): Promise<SummaryFacts['waits']> {
  const isLeft = end.kind === 'interrupted' && end.error === undefined && project.config.cluster === undefined;
  if (!isLeft) return undefined;
  const below = new Set(subtree(tree, run).map((node) => node.run));
  return (await project.engine.waits(run)).filter((wait) => below.has(wait.run));
}

function sayHowToFollow(context: CommandContext, run: RunId): void {
  const call = callOf(context);
  const short = shortId(run);
  context.terminal.progress.prose(`stay with it again: ${call} resume ${short}; only watch it: ${call} logs -f ${short}`);
}

/** Where nothing was answered the report says what went wrong, and the summary says it, too. */
export function isOnlyError({ synthetic, body }: Report, error: Failure | null): boolean {
  return synthetic === true && body.trim() === error?.message.trim();
}

/** A person gets it drawn, within the width of the terminal and without anything that could steer it; a pipe gets it as it is. */
export async function printReport({ terminal }: CommandContext, { format, body }: Report): Promise<void> {
  const { out } = terminal;
  if (!out.isTty) out.line(body.trimEnd());
  else for (const line of await reportLines(format, body, out)) out.line(line);
}

async function reportLines(format: Report['format'], body: string, screen: Screen): Promise<readonly string[]> {
  if (format === 'markdown') return await renderMarkdown(body, screen);
  const text = safeText(body).trimEnd();
  // JSON is there to be copied: a line break within a string would make it another text.
  return format === 'json' ? [text] : wrapToWidth(text, screen.width());
}
