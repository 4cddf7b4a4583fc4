/** Recording an answer: to a question that was asked and has none yet, of a run that has not ended. Of several, one is first. */
import type { Answer } from '../events/catalogue.ts';
import type { NewEvent, RunRow } from '../ledger/port.ts';
import { readAll } from './read-all.ts';
import type { EngineParts } from './tree.ts';

type Tell = (() => Promise<void>) | undefined;
type Recorded = { readonly tell: Tell } | { readonly kind: 'ended' | 'unknown' | 'answered' };

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
    const known = await readAll(ledger, session, { run, types: ['approval.asked', 'task.clarify', 'approval.answered'] });
    const cause = known.findLast(({ step, event_type }) => step === wait && event_type !== 'approval.answered');
    if (cause === undefined) return { kind: 'unknown' };
    if (known.some(({ step, event_type }) => step === wait && event_type === 'approval.answered')) return { kind: 'answered' };
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
