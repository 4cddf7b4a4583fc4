/** `troupe sessions pin|unpin|hold|release`: what neither `ledger gc` nor, while it is held, `forget` touches. */
import { TroupeError } from '../../base/errors.ts';
import type { SessionId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import type { Ledger } from '../../ledger/port.ts';
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
  return standing(context, pinned ? 'sessions pin' : 'sessions unpin', text, options, async (ledger, session) => {
    await ledger.pin(session, pinned);
    return pinned ? 'is kept until it is unpinned' : 'is kept as long as the settings say';
  });
}

export async function sessionsHoldCommand(context: CommandContext, text: string, options: HoldOptions): Promise<ExitCode> {
  const reason = options.reason.trim();
  if (reason === '' || reason.length > limits.holdReasonCharacters)
    throw usageError(`--reason is a text of at most ${limits.holdReasonCharacters} characters (limit holdReasonCharacters)`);
  return standing(context, 'sessions hold', text, options, async (ledger, session) => {
    if (await ledger.hold(session, reason, signedBy(context))) return `is held: ${reason}`;
    const hold = (await ledger.standings()).get(session)?.hold;
    throw new TroupeError('session_held', `${session} is held already, by ${hold?.by}: ${hold?.reason}`, {
      fix: `Release it first: troupe sessions release ${session}`,
    });
  });
}

export async function sessionsReleaseCommand(context: CommandContext, text: string, options: JsonOption): Promise<ExitCode> {
  return standing(context, 'sessions release', text, options, async (ledger, session) => {
    if (await ledger.unhold(session, signedBy(context))) return 'is not held any more';
    throw new TroupeError('session_free', `${session} is not held.`, { fix: 'See which are: troupe sessions --all' });
  });
}

async function standing(
  context: CommandContext,
  command: StandingCommand,
  text: string,
  { json }: JsonOption,
  act: (ledger: Ledger, session: SessionId) => Promise<string>,
): Promise<ExitCode> {
  return withProject(context, { existing: true }, async ({ ledger }) => {
    const { session } = await findRun(ledger, text);
    const said = await act(ledger, session);
    if (json === true) {
      const found = (await ledger.standings()).get(session) ?? { session, pinned: false, hold: null, forgotten: null };
      const holds = (await ledger.holds()).filter((hold) => hold.session === session);
      printJson(context, command, { ...found, holds });
    } else context.terminal.out.line(`${session} ${safeLine(said)}`);
    return exitCodes.completed;
  });
}
