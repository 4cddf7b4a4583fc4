/**
 * Answers of clients to what their runs ask. Questions in words are for whoever spawned the run; a permission is the owner's to
 * give, unless the caller's entry says that it may. The owner may answer for everybody.
 */

import { unreachable } from '../../base/errors.ts';
import type { RunId } from '../../base/ids.ts';
import { type Json, parseJson } from '../../base/json.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import { questionId } from '../../engine/hearing/waits.ts';
import type { AnswerOutcome, FirstAnswer, OpenWait } from '../../engine/port.ts';
import type { Answering } from '../../events/assistants.ts';
import type { Answer, Failure } from '../../events/catalogue.ts';
import type { Ledger } from '../../ledger/port.ts';
import type { AnswerInput } from '../../tools/assistants/schemas.ts';
import type { Caller } from '../port.ts';

export interface ChosenAnswer {
  readonly wait: OpenWait;
  readonly answer: Answer;
}

/** Which of the open questions is meant and what is said to it, if this caller may say it. */
export function chosenAnswer(waits: readonly OpenWait[], caller: Caller, input: AnswerInput): Result<ChosenAnswer, Failure> {
  const wait = chosen(waits, caller, input);
  if (!wait.ok) return wait;
  if (!mayAnswer(caller, wait.value)) return fail(notYours(wait.value, input.process_id));
  const answer = answerTo(wait.value, input);
  return answer.ok ? ok({ wait: wait.value, answer: answer.value }) : answer;
}

export function mayAnswer(caller: Caller, { kind }: Pick<OpenWait, 'kind'>): boolean {
  if (caller.kind !== 'client' || caller.rights === undefined) return true;
  return kind === 'permission' ? caller.rights.approves : caller.rights.answers;
}

function chosen(waits: readonly OpenWait[], caller: Caller, { question_id, process_id }: AnswerInput): Result<OpenWait, Failure> {
  const found = waits.filter(({ run, wait }) => question_id === undefined || questionId(run, wait) === question_id);
  const own = found.filter((wait) => mayAnswer(caller, wait));
  const [only] = own.length > 0 ? own : found;
  if (only !== undefined && (own.length === 1 || found.length === 1)) return ok(only);
  if (waits.length === 0) return fail({ code: 'no_question', message: `${process_id} waits for no answer.` });
  const ids = waits.slice(0, 10).map(({ run, wait }) => questionId(run, wait));
  return fail({ code: 'which_question', message: 'Say which question is answered.', fix: `Give question_id: ${ids.join(', ')}` });
}

/**
 * Why there was nothing to answer, with who was first: whoever comes second learns it also when the question is not open any
 * more by the time that they are heard.
 */
export async function nothingOpen(
  ledger: Pick<Ledger, 'runs' | 'read'>,
  { process_id, question_id }: Pick<AnswerInput, 'process_id' | 'question_id'>,
  failure: Failure,
): Promise<Failure> {
  const [process] = await ledger.runs({ run: process_id as RunId, limit: 1 });
  if (process === undefined || (question_id === undefined && failure.code !== 'no_question')) return failure;
  const { session } = process;
  const run = question_id === undefined ? process.run : (question_id.split('/', 1)[0] as RunId);
  const types = ['approval.answered'] as const;
  const given = await ledger.read({ session, run, types, newest: true, limit: limits.questionsPerRun });
  for (const event of given) {
    if (event.event_type !== 'approval.answered') continue;
    const { wait, answer, by } = event.payload;
    if (question_id !== undefined && questionId(run, wait) !== question_id) continue;
    if (by === undefined || answer.kind === 'expired') return failure;
    if (question_id !== undefined) return wasAnswered({ answer, by, at: event.timestamp });
    return { ...failure, message: `${failure.message} Its last question was answered by ${by}, at ${event.timestamp}.` };
  }
  return failure;
}

function notYours({ kind, run }: OpenWait, process: string): Failure {
  const what = kind === 'permission' ? 'Permissions are given' : 'This question is answered';
  const command = kind === 'permission' ? `troupe approve ${run}` : `troupe answer ${run}`;
  return {
    code: 'not_yours',
    message: `${what} by the owner of this project, not by you. ${process} waits until then.`,
    fix: `Ask the owner for it (${command}), then look with poll_assistant and wait_ms; or end it with cancel_assistant.`,
  };
}

/** Only a clear yes is a yes: behind "yes, but" stands something that nobody would hear of. */
const YES = /^\s*(y|yes|ok|okay|approve|approved|allow|true)\s*[.!]?\s*$/i;
const NO = /^\s*(n|no|deny|denied|refuse|false)\b/i;

/** It came over a wire, so it is JSON already. */
function asJson(value: object): Json {
  const parsed = parseJson(JSON.stringify(value));
  return parsed.ok ? parsed.value : null;
}

const NOT_CHANGED: Failure = {
  code: 'invalid',
  message: 'Only a permission that is given is given for another input.',
  fix: 'Answer yes and say which question you mean (question_id), or leave out input.',
};

function answerTo({ kind }: OpenWait, { answer: text, input, question_id }: AnswerInput): Result<Answer, Failure> {
  const isYes = kind === 'permission' && YES.test(text);
  if (input !== undefined && !(isYes && question_id !== undefined)) return fail(NOT_CHANGED);
  if (kind === 'question') return ok<Answer>({ kind: 'text', text });
  if (isYes) return ok<Answer>({ kind: 'approved', ...present({ input: input && asJson(input) }) });
  if (NO.test(text)) return ok<Answer>({ kind: 'denied', note: text });
  return fail({ code: 'invalid', message: 'A permission is asked for.', fix: 'Answer yes, or no with a reason.' });
}

const wasAnswered = (first: FirstAnswer | undefined): Failure => ({
  code: 'answered',
  message: `Somebody else has answered this question${first?.by === undefined ? '' : `: ${first.by}, at ${first.at}`}.`,
});

/** Who answers. Only whoever says which question they mean has certainly seen it. */
export function answeringAs(caller: Caller, { question_id }: AnswerInput, wait: OpenWait): Answering {
  const by = caller.kind === 'client' ? caller.name : caller.run;
  const shown = question_id !== undefined && wait.kind === 'permission' ? wait.shown : undefined;
  return { by, where: 'mcp', ...present({ shown }) };
}

/** Why an answer has no effect, if it has none. */
export function answerFailure(outcome: AnswerOutcome, wait: OpenWait, process: string): Failure | undefined {
  switch (outcome.kind) {
    case 'accepted':
      return undefined;
    case 'unseen':
      return {
        code: 'unseen',
        message: 'What is asked for is longer than the question shows, or was asked anew: it would be approved unseen.',
        fix:
          'Say which question you mean (question_id). The owner of the project can look at all of it ' +
          `(troupe show ${wait.run} --request) and approve it; or answer no.`,
      };
    case 'other':
      return { code: 'other', message: 'It asks for something else by now.', fix: 'Look at the question again, then answer it.' };
    case 'hidden':
      return {
        code: 'hidden',
        message: 'What you made of the call has [redacted:…] in it, where a secret was.',
        fix: 'Write out what is meant there, or answer without input.',
      };
    case 'unfit':
      return {
        code: 'invalid',
        message: outcome.why,
        fix: 'Give all arguments of the call by their names as input, or answer without input.',
      };
    case 'forbidden':
      return { code: 'invalid', message: outcome.why, fix: 'Give another input, answer without input, or answer no.' };
    case 'answered':
      return wasAnswered(outcome.first);
    case 'expired':
      return { code: 'expired', message: 'It was too late: the time for an answer has run out.' };
    case 'cancelled':
      return { code: 'cancelled', message: `${process} was cancelled meanwhile; the answer has no effect.` };
    case 'ended':
    case 'unknown':
      return { code: 'ended', message: `${process} has ended; nothing waits for an answer any more.` };
    default:
      return unreachable(outcome);
  }
}
