/** What is another in a fork: where it has to be forked for that, and what is written in the place of what was there. */
import { type RunId, shortId } from '../../base/ids.ts';
import { PERSON } from '../../base/person.ts';
import { present } from '../../base/present.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import type { Answer, EventType, Failure } from '../../events/catalogue.ts';
import type { EventOf, LedgerEvent } from '../../events/envelope.ts';
import type { NewEvent } from '../../ledger/port.ts';
import type { ForkSet, Sender } from '../port.ts';
import { standing } from '../record/standing-events.ts';
import type { ForkPlace } from './places.ts';

/** A call or a question that gets another outcome than it had. */
export interface Replaced {
  readonly run: RunId;
  readonly step: string;
  /** The last event before the outcome. */
  readonly position: number;
  readonly written: Pick<NewEvent, 'type' | 'payload' | 'actor' | 'step' | 'tool'>;
  /** What it follows from. */
  readonly cause: number;
}

const notThere = (what: string, fix: string): Failure => ({ code: 'fork_set', message: `${what}.`, fix });

/** Where to look when nobody has said where. */
export function placeForSet(events: readonly LedgerEvent[], run: RunId, set: ForkSet): string | undefined {
  const lastOf = (types: readonly EventType[]): string | undefined => {
    const last = standing(events).findLast((event) => event.run_id === run && types.includes(event.event_type));
    return last === undefined ? undefined : String(last.position);
  };
  if (set.prompt !== undefined) return 'start';
  if (set.answer !== undefined) return lastOf(['approval.asked', 'task.clarify']);
  return set.result === undefined ? undefined : lastOf(['tool.call']);
}

/** Why what is given cannot stand at the place. */
export function refusedSet(
  events: readonly LedgerEvent[],
  { run, root, position }: ForkPlace,
  set: ForkSet,
): Failure | undefined {
  if (set.answer !== undefined && set.result !== undefined)
    return notThere('A fork gets one answer or one result', 'give answer= or result=, and fork the fork for the other');
  if (set.prompt !== undefined) {
    if (run !== root)
      return notThere(
        `What run ${shortId(run)} was asked stands in what the run above it did`,
        `give another result= to that call, or fork the root: troupe fork ${shortId(root)} --set prompt=…`,
      );
    const answered = events.find((event) => event.event_type === 'model.request' && event.run_id === root)?.position ?? 0;
    if (answered > 0 && answered <= position)
      return notThere(
        'A prompt is given where the run begins',
        `fork it there: troupe fork ${shortId(root)} --at start --set prompt=…`,
      );
  }
  return undefined;
}

/** The call or the question at the place, and the outcome that it gets. */
export function replacedAt(
  events: readonly LedgerEvent[],
  { position }: Pick<ForkPlace, 'position'>,
  { answer, result }: ForkSet,
  sender: Sender | undefined,
): Result<Replaced | undefined, Failure> {
  const at = events[position - 1] as LedgerEvent;
  if (answer !== undefined) return answered(events, at, answer, sender);
  return result === undefined ? ok(undefined) : called(events, at, result);
}

type Question = EventOf<'approval.asked'> | EventOf<'task.clarify'>;

function answered(
  events: readonly LedgerEvent[],
  at: LedgerEvent,
  text: string,
  sender: Sender | undefined,
): Result<Replaced, Failure> {
  const wait = 'wait' in at.payload ? at.payload.wait : undefined;
  const isQuestion = (event: LedgerEvent): event is Question =>
    (event.event_type === 'approval.asked' || event.event_type === 'task.clarify') && event.payload.wait === wait;
  const question = events.findLast((event) => event.run_id === at.run_id && event.position <= at.position && isQuestion(event));
  if (question === undefined || !isQuestion(question))
    return fail(
      notThere(`Event ${at.position} (${at.event_type}) is no question`, nearest(events, at, ['approval.asked', 'task.clarify'])),
    );
  const given = answerIn(question, text);
  if (given === undefined)
    return fail(
      notThere(`${JSON.stringify(text)} does not answer a permission`, 'give answer=yes, answer=no or answer="no: why"'),
    );
  const before = at.event_type === 'approval.answered' ? at.position - 1 : at.position;
  const by = { by: sender?.by ?? PERSON, ...present({ where: sender?.where }) };
  const { run_id: run, step } = question;
  const payload = { wait: question.payload.wait, answer: given, ...by };
  const written = { type: 'approval.answered', payload, actor: 'user', step: step ?? undefined, tool: undefined } as const;
  return ok({ run, step: step ?? '', position: before, cause: question.position, written });
}

const NO = /^no(?:\s*:\s*(.+))?$/is;

function answerIn(question: Question, text: string): Answer | undefined {
  if (question.event_type === 'task.clarify') return { kind: 'text', text };
  if (/^(yes|approved?)$/i.test(text.trim())) return { kind: 'approved' };
  const no = NO.exec(text.trim());
  return no === null ? undefined : { kind: 'denied', ...present({ note: no[1] }) };
}

/** What the call saw and changed is written right before its result, in one append. */
function called(events: readonly LedgerEvent[], at: LedgerEvent, text: string): Result<Replaced, Failure> {
  const isOfCall = at.event_type === 'tool.call' || at.event_type === 'tool.result';
  const call = events.findLast(
    (event) =>
      event.event_type === 'tool.call' && event.run_id === at.run_id && event.step === at.step && event.position <= at.position,
  );
  if (!isOfCall || call?.event_type !== 'tool.call')
    return fail(
      notThere(`Event ${at.position} (${at.event_type}) is no tool call`, nearest(events, at, ['tool.call', 'tool.result'])),
    );
  let before = at.position;
  if (at.event_type === 'tool.result')
    for (before -= 1; isOfSame(events[before - 1], call) && before > call.position; ) before -= 1;
  const { id, name } = call.payload;
  const payload = { id, name, content: [{ type: 'text' as const, text }], durationMs: 0 };
  const { run_id: run, step, tool } = call;
  const written = { type: 'tool.result', payload, actor: 'user', step: step ?? undefined, tool: tool ?? undefined } as const;
  return ok({ run, step: step ?? '', position: before, cause: call.position, written });
}

const isOfSame = (event: LedgerEvent | undefined, call: EventOf<'tool.call'>): boolean =>
  event?.run_id === call.run_id && event.step === call.step;

function nearest(events: readonly LedgerEvent[], at: LedgerEvent, types: readonly EventType[]): string {
  const places = events.filter((event) => types.includes(event.event_type));
  const before = places.findLast(({ position }) => position < at.position);
  const after = places.find(({ position }) => position > at.position);
  const named = [before, after].flatMap((event) => (event === undefined ? [] : [`${event.position} (${event.event_type})`]));
  return named.length === 0 ? 'there is none in this session' : `the nearest are ${named.join(' and ')}: name one with --at`;
}
