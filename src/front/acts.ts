/**
 * What somebody with a token does to runs: start, answer, say, pause, cancel, go on, do again. Each act is an event in the ledger
 * with their name, and is done once however often it is asked for with the same key: what a repetition finds is in the ledger, so
 * it does not matter whether whoever did it lived to tell.
 */
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Assistants, Client } from '../assistants/port.ts';
import { unreachable } from '../base/errors.ts';
import { type RunId, runIdFrom, type SessionId } from '../base/ids.ts';
import { limits } from '../base/limits.ts';
import { present } from '../base/present.ts';
import { fail, ok, type Result } from '../base/result.ts';
import type { AnswerOutcome, Engine, FirstAnswer, OpenWait, ResumeTerms, Sender } from '../engine/port.ts';
import { rootOf } from '../engine/record/root-of.ts';
import type { Answer, Budget, Failure, Payloads } from '../events/catalogue.ts';
import type { EventOf } from '../events/envelope.ts';
import { userText } from '../events/messages.ts';
import { succeeded } from '../events/succeeded.ts';
import type { Ledger, RunRow } from '../ledger/port.ts';

export interface ActingNeeds {
  readonly engine: Engine;
  readonly ledger: Ledger;
  readonly assistants: Assistants;
  readonly workspace: string;
  /** What goes on by itself and then fails is for the log. */
  onError(error: Error): void;
}

export interface CallerAct {
  readonly client: Client;
  /** The owner of the project acts as the person that they are; everybody else as a client. */
  readonly isOwner: boolean;
  readonly key?: string | undefined;
  readonly signal: AbortSignal;
}

/** Why nothing was done. `late`: somebody or something was first; `never`: it cannot be done at all. */
export interface NotDone extends Failure {
  readonly why: 'late' | 'never' | 'reused' | 'forbidden' | 'limit' | 'unknown';
  readonly first?: FirstAnswer | undefined;
}

export type ActOutcome<Value> = Promise<Result<Value, NotDone>>;

export interface StartedRun {
  readonly run: string;
  readonly session: string;
  /** It was started before, by the same request. */
  readonly before: boolean;
}

export interface WantedRun {
  readonly agent: string;
  readonly prompt: string;
  readonly session?: string | undefined;
  readonly model?: string | undefined;
  readonly budget?: Budget | undefined;
}

export const senderOf = ({ client, key }: CallerAct): Sender => ({
  by: client.name,
  where: 'api',
  ...present({ message: key === undefined ? undefined : idOf(client, key) }),
});

/** Unguessable for whoever does not know the key, and the same for whoever repeats it. */
export const idOf = ({ name }: Client, key: string): string =>
  createHash('sha256')
    .update(JSON.stringify([name, key]))
    .digest('hex');

export async function startRun(needs: ActingNeeds, act: CallerAct, wanted: WantedRun): ActOutcome<StartedRun> {
  return act.isOwner ? await startAsOwner(needs, act, wanted) : await spawnAsClient(needs, act, wanted);
}

async function spawnAsClient(
  { assistants, ledger }: ActingNeeds,
  { client, key, signal }: CallerAct,
  wanted: WantedRun,
): ActOutcome<StartedRun> {
  const { agent, prompt, session, model, budget } = wanted;
  if ((session ?? model ?? budget) !== undefined)
    return fail({
      why: 'forbidden',
      code: 'not_yours',
      message: 'Sessions, models and budgets are the owner’s to choose.',
      fix: 'Leave out session, model and budget.',
    });
  const input = { assistant_id: agent, query: prompt, run_mode: 'async' } as const;
  const spawned = await assistants.spawn(client, input, { signal, idempotencyKey: key });
  if (!spawned.ok) return fail({ ...spawned.error, why: whyOf(spawned.error) });
  const run = spawned.value.process_id;
  const [row] = await ledger.runs({ run: run as RunId });
  return ok({ run, session: row?.session ?? '', before: false });
}

async function startAsOwner(needs: ActingNeeds, { client, key }: CallerAct, wanted: WantedRun): ActOutcome<StartedRun> {
  const { engine, ledger, workspace } = needs;
  const { agent, prompt, model, budget } = wanted;
  const input = userText(prompt);
  const run = key === undefined ? undefined : runIdFrom(JSON.stringify(['api', client.name, key]));
  const before = run === undefined ? undefined : (await ledger.runs({ run }))[0];
  if (before !== undefined) {
    const started = await startOf(ledger, before, true);
    const isThere = wanted.session === undefined || wanted.session === before.session;
    const isSame = isThere && (started === undefined || (started.agent === agent && isDeepStrictEqual(started.input, input)));
    return isSame ? ok({ run: before.run, session: before.session, before: true }) : fail(keyReused);
  }
  const session = wanted.session as SessionId | undefined;
  if (session !== undefined && (await ledger.runs({ session, roots: true, limit: 1 })).length === 0)
    return fail({ why: 'unknown', code: 'unknown_session', message: `There is no session ${session}.` });
  const origin = { kind: 'person', client: 'api', name: client.name } as const;
  const started = await engine.start({ agent, input, workspace, origin, run, session, model, budget });
  if (started.kind === 'refused') return fail({ ...started.error, why: whyOf(started.error) });
  const { handle } = started;
  return ok({ run: handle.run, session: handle.session, before: started.before === true });
}

export const keyReused: NotDone = {
  why: 'reused',
  code: 'key_reused',
  message: 'The Idempotency-Key was used before, for something else.',
  fix: 'Give every new request a key of its own; the same key is for a request that is repeated as it was.',
};

const whyOf = ({ code }: Failure): NotDone['why'] =>
  code === 'key_reused' ? 'reused' : code === 'no_agent' ? 'unknown' : code === 'session_busy' ? 'late' : 'never';

export interface GivenToWait {
  readonly run: RunId;
  readonly wait: string;
  readonly answer: Answer;
  /** The SHA-256 of what was shown to whoever approves. */
  readonly shown?: string | undefined;
}

export interface AnsweredWait {
  readonly run: string;
  readonly wait: string;
  readonly answer: Answer;
  readonly live: boolean;
}

/** An answer counts once. Who is first is told to everybody else; who repeats it is told that it was theirs. */
export async function answerWait(needs: ActingNeeds, act: CallerAct, given: GivenToWait): ActOutcome<AnsweredWait> {
  const { engine, ledger } = needs;
  const { run, wait, answer, shown } = given;
  const open = (await engine.waits(run)).find((one) => one.run === run && one.wait === wait);
  const refused = open === undefined ? undefined : refusedAnswer(act, open, given);
  if (refused !== undefined) return fail(refused);
  const message = act.key === undefined ? undefined : idOf(act.client, act.key);
  const digest = message === undefined ? undefined : digestOf(given);
  const answering = { by: act.client.name, where: 'api', ...present({ shown, message, digest }) } as const;
  const outcome = await engine.answer(run, wait, answer, answering);
  if (outcome.kind === 'accepted') {
    if (!outcome.live) goOn(needs, run);
    return ok({ run, wait, answer, live: outcome.live });
  }
  const before = (await answerOf(ledger, run, wait))?.payload;
  if (before !== undefined && message !== undefined && before.message === message)
    return before.digest === digest ? ok({ run, wait, answer, live: true }) : fail(keyReused);
  return fail(notAnswered(outcome, before));
}

function refusedAnswer(
  { client: { rights }, isOwner }: CallerAct,
  { kind }: OpenWait,
  { answer, shown }: GivenToWait,
): NotDone | undefined {
  if ((kind === 'question') !== (answer.kind === 'text'))
    return {
      ...{ why: 'never', code: 'unfit_answer' },
      message: kind === 'question' ? 'A question is answered with a text.' : 'A permission is approved or denied.',
    };
  if (rights !== undefined && !(kind === 'permission' ? rights.approves : rights.answers))
    return { why: 'forbidden', code: 'not_yours', message: 'This is answered by the owner of the project.' };
  if (answer.kind === 'approved' && answer.scope !== undefined && !isOwner)
    return {
      ...{ why: 'forbidden', code: 'not_yours', message: 'What holds for the whole project is the owner’s to say.' },
      fix: 'Leave out scope: remember holds for this session.',
    };
  if (answer.kind === 'approved' && shown === undefined)
    return {
      ...{ why: 'never', code: 'unseen', message: 'An approval names what was seen.' },
      fix: 'Give shown, as the wait has it: the SHA-256 of its request.',
    };
  return undefined;
}

/** Nobody works on the run: it goes on here, and whoever answered does not wait for it. */
function goOn({ engine, ledger, onError }: ActingNeeds, run: RunId): void {
  const resume = async (): Promise<void> => {
    const [row] = await ledger.runs({ run });
    if (row !== undefined) await engine.resume((await rootOf(ledger, row)).run);
  };
  resume().catch((error: unknown) => onError(error instanceof Error ? error : new Error(String(error))));
}

const digestOf = ({ run, wait, answer, shown }: GivenToWait): string =>
  createHash('sha256')
    .update(JSON.stringify([run, wait, answer, shown ?? null]))
    .digest('hex');

async function answerOf(ledger: Ledger, run: RunId, wait: string): Promise<EventOf<'approval.answered'> | undefined> {
  const [row] = await ledger.runs({ run });
  if (row === undefined) return undefined;
  const types = ['approval.answered'] as const;
  const given = await ledger.read({ session: row.session, run, types, newest: true, limit: limits.questionsPerRun });
  return given.flatMap((event) => (event.event_type === 'approval.answered' && event.payload.wait === wait ? [event] : []))[0];
}

/** The answer that counts, once there is one: for whoever comes too late to give theirs. */
export async function readAnswer(ledger: Ledger, run: RunId, wait: string): Promise<FirstAnswer | undefined> {
  const given = await answerOf(ledger, run, wait);
  if (given === undefined || given.payload.answer.kind === 'expired') return undefined;
  const { answer, by, where } = given.payload;
  return { answer, at: given.timestamp, ...present({ by, where }) };
}

function notAnswered(
  outcome: Exclude<AnswerOutcome, { readonly kind: 'accepted' }>,
  before: Payloads['approval.answered'] | undefined,
): NotDone {
  const late = { why: 'late', code: outcome.kind } as const;
  switch (outcome.kind) {
    case 'answered':
      return { ...late, message: 'Somebody else has answered this already; their answer counts.', first: outcome.first };
    case 'expired':
      return { ...late, message: 'The time for an answer is over.' };
    case 'cancelled':
      return { ...late, message: 'The run was cancelled meanwhile.' };
    case 'other':
      return { ...late, message: 'It asks for something else than what was seen.', fix: 'Look at the wait again.' };
    case 'unseen':
      return { ...late, message: 'Not all of it was seen.', fix: 'Look at the request of the wait and give its hash as shown.' };
    case 'hidden':
      return { why: 'never', code: 'hidden', message: 'The changed input has [redacted:…] in it, where a secret was.' };
    case 'unfit':
      return { why: 'never', code: 'unfit', message: outcome.why, fix: 'Give all arguments of the call by their names.' };
    case 'forbidden':
      return { why: 'never', code: 'forbidden', message: outcome.why, fix: 'Make something else of the call, or deny it.' };
    case 'ended':
      return { ...late, message: `The run has ended${before === undefined ? '' : '; this was answered before'}.` };
    case 'unknown':
      return { why: 'unknown', code: 'not_found', message: 'There is no such wait.' };
    default:
      return unreachable(outcome);
  }
}

export interface ToldRun {
  readonly run: string;
  readonly message: string;
  readonly live: boolean;
}

export async function sayTo({ engine }: ActingNeeds, act: CallerAct, run: RunId, text: string): ActOutcome<ToldRun> {
  const outcome = await engine.send(run, text, senderOf(act));
  switch (outcome.kind) {
    case 'accepted':
      return ok({ run, message: outcome.message, live: outcome.live });
    case 'ended':
      return fail({ why: 'late', code: 'ended', message: 'The run has ended and hears nothing any more.' });
    case 'reused':
      return fail(keyReused);
    case 'nobody':
      return fail({ why: 'never', code: 'nobody', message: 'Others work for this run, and none of them speaks in its name.' });
    case 'full':
      return fail({
        ...{ why: 'limit', code: 'full' },
        message: `${limits.messagesUnheard} messages wait to be heard (limit messagesUnheard).`,
      });
    case 'too long':
      return fail({
        ...{ why: 'limit', code: 'too_long' },
        message: `${outcome.bytes} bytes; at most ${limits.messageBytes} are allowed (limit messageBytes).`,
      });
    case 'unknown':
      return fail({ why: 'unknown', code: 'not_found', message: 'There is no such run.' });
    default:
      return unreachable(outcome);
  }
}

export interface SignalledRun {
  readonly run: string;
  readonly signal: 'cancel' | 'pause';
  readonly outcome: 'accepted' | 'ended';
  readonly live: boolean;
}

/** Twice is as good as once: what has ended stays so. */
export async function signalRun(
  { engine }: ActingNeeds,
  act: CallerAct,
  run: RunId,
  signal: 'cancel' | 'pause',
  reason: string,
): ActOutcome<SignalledRun> {
  const { by, where } = senderOf(act);
  const outcome = await engine[signal](run, reason, { by, where });
  if (outcome.kind === 'unknown') return fail({ why: 'unknown', code: 'not_found', message: 'There is no such run.' });
  return ok({ run, signal, outcome: outcome.kind, live: outcome.kind === 'accepted' && outcome.live });
}

export interface ResumedRun {
  readonly run: string;
  readonly session: string;
  readonly outcome: 'resumed' | 'ended';
}

export async function goOnFromOutside(
  { engine, ledger }: ActingNeeds,
  act: CallerAct,
  row: RunRow,
  terms: ResumeTerms,
): ActOutcome<ResumedRun> {
  const isChosen = Object.values(terms).some((term) => term !== undefined);
  // Before anything is looked at: what is wrong with a model tells of files, and of keys.
  if (isChosen && !act.isOwner)
    return fail({
      ...{ why: 'forbidden', code: 'not_yours', message: 'Models, turns and budgets are the owner’s to choose.' },
      fix: 'Leave out model, maxTurns and budget.',
    });
  const root = await rootOf(ledger, row);
  const outcome = await engine.resume(root.run, terms, senderOf(act));
  switch (outcome.kind) {
    case 'resumed':
    case 'ended':
      return ok({ run: root.run, session: root.session, outcome: outcome.kind });
    case 'held':
      return fail({
        ...{ why: 'late', code: 'held' },
        message: `Process ${outcome.owner.pid} on ${outcome.owner.host} works on this run.`,
      });
    case 'refused':
      return fail({ ...outcome.error, why: 'never' });
    case 'unknown':
      return fail({ why: 'unknown', code: 'not_found', message: 'There is no such run.' });
    default:
      return unreachable(outcome);
  }
}

const ANOTHER = 'Start another, or retry one below it that failed: `failedBelow` of the run names them.';

/** The work of a run that came to nothing, as a run of its own in the same session. */
export async function retryRun(needs: ActingNeeds, { client, key }: CallerAct, row: RunRow): ActOutcome<StartedRun> {
  const { engine, ledger, workspace } = needs;
  const run = key === undefined ? undefined : runIdFrom(JSON.stringify(['api retry', client.name, key]));
  const before = run === undefined ? undefined : (await ledger.runs({ run }))[0];
  if (before !== undefined) {
    const again = await startOf(ledger, before, false);
    return again?.retries === row.run ? ok({ run: before.run, session: before.session, before: true }) : fail(keyReused);
  }
  if (row.endedAt === null) return fail({ why: 'late', code: 'not_ended', message: 'The run has not ended.' });
  if (succeeded({ status: row.state }))
    return fail({ why: 'never', code: 'succeeded', message: 'The run did what it was asked.', fix: ANOTHER });
  const started = await startOf(ledger, row, true);
  if (started === undefined || started.input.role !== 'user')
    return fail({ why: 'never', code: 'not_repeatable', message: 'What it was asked cannot be asked again.' });
  const outcome = await engine.start({
    ...{ agent: started.agent, input: started.input, session: row.session, workspace: started.workspace ?? workspace },
    ...{ retries: row.run, run, origin: { kind: 'person', client: 'api', name: client.name } },
  });
  if (outcome.kind === 'refused') return fail({ ...outcome.error, why: whyOf(outcome.error) });
  return ok({ run: outcome.handle.run, session: outcome.handle.session, before: outcome.before === true });
}

async function startOf(ledger: Ledger, { session, run }: RunRow, exact: boolean): Promise<Payloads['run.started'] | undefined> {
  const [event] = await ledger.read({ session, run, types: ['run.started'], newest: true, limit: 1, exact });
  return event?.event_type === 'run.started' ? event.payload : undefined;
}
