/** `troupe sessions pin|unpin|hold|release`: what neither `ledger gc` nor, while it is held, `forget` touches. */
import { TroupeError } from '../../base/errors.ts';
import { limits } from '../../base/limits.ts';
import { changeStanding, type StandingChange, standingValue } from '../../front/forgetting/standing.ts';
import { findRun } from '../drive/find-run.ts';
import { type CommandContext, type JsonOption, printJson, usageError, withProject } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { safeLine } from '../terminal/safe-text.ts';
import { signedBy } from './signed.ts';

export interface HoldOptions extends JsonOption {
  readonly reason: string;
}

export type StandingCommand = 'sessions pin' | 'sessions unpin' | 'sessions hold' | 'sessions release';

export async function sessionsPinCommand(
  context: CommandContext,
  text: string,
  pinned: boolean,
  options: JsonOption,
): Promise<ExitCode> {
  const said = pinned ? 'is kept until it is unpinned' : 'is kept as long as the settings say';
  const command = pinned ? 'sessions pin' : 'sessions unpin';
  return standing(context, { command, text, said, change: { kind: pinned ? 'pin' : 'unpin' } }, options);
}

export async function sessionsHoldCommand(context: CommandContext, text: string, options: HoldOptions): Promise<ExitCode> {
  const reason = options.reason.trim();
  if (reason === '' || reason.length > limits.holdReasonCharacters)
    throw usageError(`--reason is a text of at most ${limits.holdReasonCharacters} characters (limit holdReasonCharacters)`);
  const said = `is held: ${reason}`;
  return standing(context, { command: 'sessions hold', text, said, change: { kind: 'hold', reason } }, options);
}

export async function sessionsReleaseCommand(context: CommandContext, text: string, options: JsonOption): Promise<ExitCode> {
  const said = 'is not held any more';
  return standing(context, { command: 'sessions release', text, said, change: { kind: 'release' } }, options);
}

interface Wanted {
  readonly command: StandingCommand;
  readonly text: string;
  /** What is told when it is done. */
  readonly said: string;
  readonly change: StandingChange;
}

async function standing(
  context: CommandContext,
  { command, text, said, change }: Wanted,
  { json }: JsonOption,
): Promise<ExitCode> {
  return withProject(context, { existing: true }, async ({ ledger }) => {
    const { session } = await findRun(ledger, text);
    const changed = await changeStanding(ledger, session, change, signedBy(context));
    if (!changed.ok) throw new TroupeError(changed.error.code, changed.error.message, { fix: changed.error.fix });
    if (json === true) printJson(context, command, await standingValue(ledger, session));
    else context.terminal.out.line(`${session} ${safeLine(said)}`);
    return exitCodes.completed;
  });
}
