/**
 * Recording an answer: to a question that was asked and has none yet, of a run that has not ended and is not about to. Of several
 * answers one is first, and after a cancel none has any effect.
 */
import type { RunId, SessionId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import { hasMark } from '../../base/secrets/mark.ts';
import type { Answering } from '../../events/assistants.ts';
import type { Answer, EventType, Payloads } from '../../events/catalogue.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import type { Ledger, NewEvent, RunRow } from '../../ledger/port.ts';
import { requestText } from '../../projections/request-text.ts';
import type { LedgerAccess, TimeAndIds, ToolAccess } from '../options.ts';
import type { AnswerOutcome, ChangeRefusal } from '../port.ts';
import { readAll } from '../record/read-all.ts';
import { refusedChange } from './fits-tool.ts';

type Tell = (() => Promise<void>) | undefined;
type Recorded = { readonly tell: Tell } | Exclude<AnswerOutcome, { readonly kind: 'accepted' }>;

/** An answer, and who gives it to which question. */
interface Given extends Answering {
  readonly wait: string;
  readonly answer: Answer;
}

export async function appendAnswer(
  options: TimeAndIds & LedgerAccess & ToolAccess,
  row: RunRow,
  given: Given,
  foresee: () => Promise<() => Promise<void>> | undefined,
): Promise<Recorded> {
  const { ledger, clock } = options;
  const { run, session } = row;
  const { wait } = given;
  if (row.endedAt !== null) return { kind: 'ended' };
  const lineage = await lineageOf(ledger, row);
  let tell: Tell;
  for (let heard: number | undefined; ; ) {
    const known = await questionsOf(ledger, session, run, wait);
    const cause = known.findLast(({ step, event_type }) => step === wait && event_type !== 'approval.answered');
    if (cause === undefined) return { kind: 'unknown' };
    const first = known.find((event) => event.step === wait && event.event_type === 'approval.answered');
    if (first !== undefined) return tooLate(first);
    const refused = cause.event_type === 'approval.asked' ? whyNot(given, cause.payload) : undefined;
    if (refused !== undefined) return { kind: refused };
    const change = cause.event_type === 'approval.asked' ? await whyNoChange(options, run, given, cause.payload) : undefined;
    if (change !== undefined) return change;
    if (await isCancelled(ledger, session, lineage)) return { kind: 'cancelled' };
    tell ??= await foresee();
    const event: NewEvent = {
      ...{ type: 'approval.answered', run, actor: 'user', cause: cause.event_id, step: wait, at: clock.now() },
      payload: present({
        ...given,
        shown: cause.event_type === 'approval.asked' && given.shown !== undefined ? cause.payload.shown : undefined,
        request: cause.event_type === 'approval.asked' ? cause.payload.shown : undefined,
      }),
    };
    heard ??= known.at(-1)?.position ?? 0;
    const outcome = await ledger.append({ session, fence: null, events: [event], unended: run, heard, sync: 'power' });
    if (outcome.kind === 'appended') return { tell };
    if (outcome.kind === 'ended') return { kind: 'ended' };
    // Something else came in between, perhaps another answer: look again, and let nothing come after that.
    if (outcome.kind === 'unheard') heard = outcome.inbound;
  }
}

function tooLate({ event_type, payload, timestamp: at }: LedgerEvent): Exclude<Recorded, { readonly tell: Tell }> {
  if (event_type !== 'approval.answered' || payload.answer.kind === 'expired') return { kind: 'expired' };
  const { answer, by, where } = payload;
  return { kind: 'answered', first: { answer, at, ...present({ by, where }) } };
}

/**
 * A yes to what the question had no room for, or to a question that was asked anew, by somebody who does not say that they
 * looked at it; or by somebody who looked at something else.
 */
function whyNot({ answer, shown }: Given, asked: Payloads['approval.asked']): 'unseen' | 'other' | 'hidden' | undefined {
  if (answer.kind !== 'approved') return undefined;
  if (answer.input !== undefined && hasMark(answer.input)) return 'hidden';
  if (shown !== undefined && asked.shown !== undefined && !isShown(shown, asked.shown)) return 'other';
  if (asked.again === true && shown === undefined) return 'unseen';
  // Whoever writes what the call is made with instead knows all of it.
  if (answer.whole === true || answer.input !== undefined) return undefined;
  return requestText(asked).missing > 0 ? 'unseen' : undefined;
}

async function whyNoChange(
  options: LedgerAccess & ToolAccess,
  run: RunId,
  { answer }: Given,
  { tool }: Payloads['approval.asked'],
): Promise<ChangeRefusal | undefined> {
  if (answer.kind !== 'approved' || answer.input === undefined) return undefined;
  return await refusedChange(options, { run, tool }, answer.input);
}

/** What is typed may be the beginning of it. */
const isShown = (given: string, shown: string): boolean => given.length >= limits.shownCharacters && shown.startsWith(given);

/** The run and all above it: who ends one of these ends the run. */
async function lineageOf(ledger: Ledger, { run, parent }: RunRow): Promise<ReadonlySet<RunId>> {
  const lineage = new Set([run]);
  for (let up = parent; up !== null; up = (await ledger.runs({ run: up }))[0]?.parent ?? null) lineage.add(up);
  return lineage;
}

/** Whether somebody has asked for the end of this run, or of one above it. */
export const isCancelAsked = async (ledger: Ledger, row: RunRow): Promise<boolean> =>
  await isCancelled(ledger, row.session, await lineageOf(ledger, row));

/** Run by run: a store finds the events of a run by their type, those of a session only by looking at all of them. */
async function isCancelled(ledger: Ledger, session: SessionId, lineage: ReadonlySet<RunId>): Promise<boolean> {
  for (const run of lineage) {
    const signals = await readAll(ledger, session, { run, types: ['run.signalled'] });
    if (signals.some((event) => event.event_type === 'run.signalled' && event.payload.signal === 'cancel')) return true;
  }
  return false;
}

const QUESTIONS: readonly EventType[] = ['approval.asked', 'task.clarify', 'approval.answered'];
/** How many are looked at first, and how many times as many next. */
const NEWEST = 4;
const TIMES = 8;

/** Questions and answers, oldest first, back to the one in question: it was asked last, or nearly so. */
async function questionsOf(ledger: Ledger, session: SessionId, run: RunId, wait: string): Promise<readonly LedgerEvent[]> {
  for (let limit = NEWEST; ; limit *= TIMES) {
    const newest = await ledger.read({ session, run, types: QUESTIONS, newest: true, limit });
    const asked = newest.some(({ step, event_type }) => step === wait && event_type !== 'approval.answered');
    if (asked || newest.length < limit) return newest.toReversed();
  }
}
