/** Why an answer has no effect, for the person who gave it. */
import { type TroupeError, unreachable } from '../../base/errors.ts';
import { shortId } from '../../base/ids.ts';
import { present } from '../../base/present.ts';
import type { AnswerOutcome, FirstAnswer, OpenWait } from '../../engine/port.ts';
import type { EventOf } from '../../events/envelope.ts';
import { type CommandContext, callOf, usageError } from '../terminal/command.ts';
import { safeLine, safeText } from '../terminal/safe-text.ts';

const GIVE_ALL = 'give all arguments of the call by their names';

export function notRecorded(
  context: CommandContext,
  { run }: Pick<OpenWait, 'run'>,
  outcome: Exclude<AnswerOutcome, { readonly kind: 'accepted' }>,
): TroupeError {
  const look = `${callOf(context)} show ${shortId(run)}`;
  switch (outcome.kind) {
    case 'answered':
      return usageError(`somebody else has answered ${run} already; their answer counts${firstText(outcome.first)}`);
    case 'expired':
      return usageError(`it was too late: the time in which ${run} waited for an answer is over`);
    case 'cancelled':
      return usageError(`${run} was cancelled meanwhile; your answer was not recorded`, `see what became of it: ${look}`);
    case 'unseen':
      return usageError(
        `what ${run} asks for is longer than the question shows, or was asked anew, and would be approved unseen`,
        `look at all of it: ${look} --request prints it, and behind it the command that approves it`,
      );
    case 'other':
      return usageError(
        `${run} asks for something else than what you have seen; your approval was not recorded`,
        `look at it again: ${look}`,
      );
    case 'hidden':
      return usageError(
        `what you made of the call of ${run} has [redacted:…] in it, where a secret was; your approval was not recorded`,
        'write out what is meant there, or approve or deny the call as it is',
      );
    case 'unfit':
      return usageError(`nothing was approved. ${safeText(outcome.why)}`, GIVE_ALL);
    case 'forbidden':
      return usageError(`nothing was approved. ${safeText(outcome.why)}`, 'make something else of the call, or deny it');
    case 'ended':
    case 'unknown':
      return usageError(`${run} has ended; nothing waits for an answer any more`);
    default:
      return unreachable(outcome);
  }
}

/** What an answer in the ledger says of whoever gave it; nobody did where its time ran out. */
export function firstOf(event: EventOf<'approval.answered'> | undefined): FirstAnswer | undefined {
  if (event === undefined || event.payload.answer.kind === 'expired') return undefined;
  const { answer, by, where } = event.payload;
  return { answer, at: event.timestamp, ...present({ by, where }) };
}

/** Who was first, where and with what. */
export function firstText(first: FirstAnswer | undefined): string {
  if (first?.by === undefined) return '';
  const what = first.answer.kind === 'text' ? 'answered' : first.answer.kind;
  const where = first.where === undefined ? '' : ` (${first.where})`;
  return `: ${what} by ${safeLine(first.by)}${where} at ${first.at.slice(11, 19)}`;
}
