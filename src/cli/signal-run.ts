/** `troupe cancel` and `troupe pause`: tell a run something, from whichever process. */
import { type RunId, shortId } from '../base/ids.ts';
import type { Ledger } from '../ledger/port.ts';
import { type CommandContext, type JsonOption, printJson, usageError, withProject } from './command.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { findRun } from './find-run.ts';

export interface SignalOptions extends JsonOption {
  readonly reason?: string | undefined;
}

export async function signalCommand(
  context: CommandContext,
  signal: 'cancel' | 'pause',
  text: string,
  options: SignalOptions,
): Promise<ExitCode> {
  return withProject(context, {}, async ({ ledger, engine }) => {
    const { run, state, parent } = await findRun(ledger, text);
    const reason = options.reason ?? `${signal} from the command line`;
    const outcome = await engine[signal](run, reason);
    if (outcome.kind === 'unknown') throw usageError(`The engine does not know run ${run}`);
    const live = outcome.kind === 'accepted' && outcome.live;
    if (options.json) printJson(context, { run, signal, outcome: outcome.kind, live });
    else if (outcome.kind === 'ended') context.terminal.out.line(`${run} has already ended (${state})`);
    else context.terminal.out.line(said(signal, run, live));
    if (signal === 'cancel' && parent !== null && outcome.kind === 'accepted' && !live && !options.json)
      context.terminal.progress.line(
        `the runs above it stay as they were; go on with: troupe resume ${shortId(await topOf(ledger, parent))}`,
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

function said(signal: 'cancel' | 'pause', run: string, live: boolean): string {
  if (signal === 'cancel') return live ? `asked ${run} to stop` : `${run} is cancelled`;
  return `${live ? 'asked to pause' : 'paused'} ${run}; go on with: troupe resume ${shortId(run)}`;
}
