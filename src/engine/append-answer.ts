/** Recording an answer: to a question that was asked and has none yet, of a run that has not ended. Of several, one is first. */
import type { RunId, SessionId } from '../base/ids.ts';
import type { Answer, EventType } from '../events/catalogue.ts';
import type { LedgerEvent } from '../events/envelope.ts';
import type { Ledger, NewEvent, RunRow } from '../ledger/port.ts';
import { readAll } from './read-all.ts';
import type { EngineParts } from './tree.ts';

type Tell = (() => Promise<void>) | undefined;
type Recorded = { readonly tell: Tell } | { readonly kind: 'ended' | 'unknown' | 'answered' | 'expired' };

export async function appendAnswer(
  { ledger, clock }: EngineParts,
  { run, session, endedAt }: RunRow,
  wait: string,
  answer: Answer,
  foresee: () => Promise<() => Promise<void>> | undefined,
): Promise<Recorded> {
  if (endedAt !== null) return { kind: 'ended' };
  let tell: Tell;
  for (let heard: number | undefined; ; ) {
    const known = await questionsOf(ledger, session, run, wait);
    const cause = known.findLast(({ step, event_type }) => step === wait && event_type !== 'approval.answered');
    if (cause === undefined) return { kind: 'unknown' };
    const given = known.find((event) => event.step === wait && event.event_type === 'approval.answered');
    if (given !== undefined) return { kind: isExpired(given) ? 'expired' : 'answered' };
    tell ??= await foresee();
    const event: NewEvent = {
      ...{ type: 'approval.answered', run, actor: 'user', cause: cause.event_id, step: wait, at: clock.now() },
      payload: { wait, answer },
    };
    heard ??= known.at(-1)?.position ?? 0;
    const outcome = await ledger.append({ session, fence: null, events: [event], unended: run, heard, sync: 'power' });
    if (outcome.kind === 'appended') return { tell };
    if (outcome.kind === 'ended') return { kind: 'ended' };
    // Something else came in between, perhaps another answer: look again, and let nothing come after that.
    if (outcome.kind === 'unheard') heard = outcome.inbound;
  }
}

const isExpired = (event: LedgerEvent): boolean =>
  event.event_type === 'approval.answered' && event.payload.answer.kind === 'expired';

const QUESTIONS: readonly EventType[] = ['approval.asked', 'task.clarify', 'approval.answered'];
const NEWEST = 50;

/** Questions and answers, oldest first, back to the one in question: it was asked last, or nearly so. */
async function questionsOf(ledger: Ledger, session: SessionId, run: RunId, wait: string): Promise<readonly LedgerEvent[]> {
  const newest = await ledger.read({ session, run, types: QUESTIONS, newest: true, limit: NEWEST });
  const asked = newest.some(({ step, event_type }) => step === wait && event_type !== 'approval.answered');
  return asked || newest.length < NEWEST ? newest.toReversed() : await readAll(ledger, session, { run, types: QUESTIONS });
}
