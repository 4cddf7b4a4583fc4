/** Why a question is asked no longer: somebody else has answered it, or the run that asked has ended. */
import type { SessionId } from '../../base/ids.ts';
import type { OpenWait } from '../../engine/port.ts';
import type { EventOf, LedgerEvent } from '../../events/envelope.ts';
import type { Ledger } from '../../ledger/port.ts';
import { safeLine } from '../terminal/safe-text.ts';
import { firstOf, firstText } from './not-recorded.ts';

type Asked = Pick<OpenWait, 'run' | 'wait'>;

/** `undefined` when it is still open. */
export async function takenBackText(ledger: Ledger, session: SessionId, wait: Asked): Promise<string | undefined> {
  const answer = await answerTo(ledger, session, wait);
  if (answer !== undefined) return `answered elsewhere${firstText(firstOf(answer))}`;
  const [ended] = await ledger.read({ session, run: wait.run, types: ['run.ended'], newest: true, limit: 1 });
  return ended === undefined ? undefined : endedText(ended);
}

function endedText(event: LedgerEvent): string | undefined {
  if (event.event_type !== 'run.ended') return undefined;
  const { status, error } = event.payload;
  return `no longer asked: ${error === undefined ? `the run has ended, ${status}` : safeLine(error.message)}`;
}

export async function answerTo(
  ledger: Ledger,
  session: SessionId,
  { run, wait }: Asked,
): Promise<EventOf<'approval.answered'> | undefined> {
  const answers = await ledger.read({ session, run, types: ['approval.answered'] });
  for (const event of answers.toReversed())
    if (event.event_type === 'approval.answered' && event.payload.wait === wait) return event;
  return undefined;
}
