/** `troupe cancel`, `troupe pause` and `troupe send`: tell a run something, from whichever process. */
import { type RunId, shortId } from '../../base/ids.ts';
import { sentence } from '../../base/wording.ts';
import { isCancelAsked } from '../../engine/hearing/append-answer.ts';
import type { Failure } from '../../events/catalogue.ts';
import type { Ledger } from '../../ledger/port.ts';
import { findRun } from '../drive/find-run.ts';
import { requireOwn } from '../drive/not-imported.ts';
import { sayToRun } from '../drive/say-to-run.ts';
import {
  asCalled,
  type CommandContext,
  callOf,
  type JsonOption,
  printJson,
  usageError,
  withProject,
} from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { readPrompt } from '../terminal/read-prompt.ts';

export interface SignalOptions extends JsonOption {
  readonly reason?: string | undefined;
}

export async function signalCommand(
  context: CommandContext,
  signal: 'cancel' | 'pause',
  text: string,
  options: SignalOptions,
): Promise<ExitCode> {
  return withProject(context, { existing: true }, async ({ ledger, engine }) => {
    const row = await findRun(ledger, text);
    const { run, state, parent } = row;
    await requireOwn(ledger, row);
    const reason = options.reason ?? `${signal} from the command line`;
    const outcome = await engine[signal](run, reason);
    if (outcome.kind === 'unknown') throw usageError(`There is no run ${run} any more`, 'see what there is: troupe ps --all');
    const live = outcome.kind === 'accepted' && outcome.live;
    if (signal === 'pause' && outcome.kind === 'accepted' && (await isCancelAsked(ledger, row)))
      throw usageError(`${run} was cancelled; it ends, and is not paused`, `see what becomes of it: troupe show ${shortId(run)}`);
    if (options.json) printJson(context, signal, { run, signal, outcome: outcome.kind, live });
    else if (outcome.kind === 'ended') context.terminal.out.line(`${run} has already ended (${state})`);
    else if (outcome.unended !== undefined) sayUnended(context, run, outcome.unended);
    else if (signal === 'pause' && !live && (await engine.waits(run)).length > 0) sayWaits(context, run);
    else context.terminal.out.line(said(callOf(context), signal, run, live));
    if (signal === 'cancel' && parent !== null && outcome.kind === 'accepted' && !live && !options.json)
      context.terminal.progress.prose(
        `the runs above it stay as they were; go on with: ${callOf(context)} resume ${shortId(await topOf(ledger, parent))}`,
      );
    return exitCodes.completed;
  });
}

/** The run that a tree is resumed by. */
async function topOf(ledger: Ledger, run: RunId): Promise<RunId> {
  let top = run;
  for (let up: RunId | null = run; up !== null; up = (await ledger.runs({ run: up }))[0]?.parent ?? null) top = up;
  return top;
}

/** There is nothing to stop: it stands still until it is answered, and the answer takes it further. */
function sayWaits(context: CommandContext, run: string): void {
  const { terminal } = context;
  const call = callOf(context);
  terminal.out.prose(`${run} waits for an answer and does nothing until then; whoever answers takes it further`);
  terminal.progress.prose(`what it asks: ${call} show ${shortId(run)}; to end it: ${call} cancel ${shortId(run)}`);
}

/** It is in the ledger that the run is to end; ending it failed. */
function sayUnended(context: CommandContext, run: string, { message, fix }: Failure): void {
  const { terminal } = context;
  const call = callOf(context);
  terminal.out.prose(`${run} is to end, and could not be ended just now: ${sentence(message)}`);
  if (fix !== undefined) terminal.progress.line(asCalled(fix, call));
  terminal.progress.prose(`it ends when it is taken up: ${call} resume ${shortId(run)}`);
}

function said(call: string, signal: 'cancel' | 'pause', run: string, live: boolean): string {
  if (signal === 'cancel') return live ? `asked ${run} to stop` : `${run} is cancelled`;
  return `${live ? 'asked to pause' : 'paused'} ${run}; go on with: ${call} resume ${shortId(run)}`;
}

export async function sendCommand(
  context: CommandContext,
  run: string,
  argument: string | undefined,
  { json }: JsonOption,
): Promise<ExitCode> {
  const text = await readPrompt(context.terminal, argument, 'message');
  return withProject(context, { existing: true }, async (project) => {
    const row = await findRun(project.ledger, run);
    await requireOwn(project.ledger, row);
    const { message, standing, live, told } = await sayToRun(context, project, row, text, 'command');
    if (json) printJson(context, 'send', { run: row.run, message, state: standing, status: standing, live });
    else context.terminal.out.prose(told, { indent: 2 });
    return exitCodes.completed;
  });
}
