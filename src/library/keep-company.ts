/** A program beside its run: shows it what happens, asks it what has to be decided, and stops when it wants to. */
import { isDeepStrictEqual } from 'node:util';
import { type Clock, holdProcess } from '../base/clock.ts';
import { TroupeError } from '../base/errors.ts';
import type { RunId } from '../base/ids.ts';
import { parseJson } from '../base/json.ts';
import { present } from '../base/present.ts';
import { ok } from '../base/result.ts';
import type { ChangeRefusal, Engine, LivePiece, OpenWait, RunEnd, RunHandle } from '../engine/port.ts';
import type { Answer, Failure } from '../events/catalogue.ts';
import type { Ledger } from '../ledger/port.ts';
import { subtreeDoings } from '../projections/run-tree.ts';
import { type Company, driveToRest } from './drive-to-rest.ts';
import { createFollower, type Follower } from './follow.ts';
import type { HeardPieces } from './hear.ts';
import { personHere } from './person-here.ts';
import type { GivenAnswer } from './questions.ts';
import { restElsewhere } from './rest-elsewhere.ts';
import type { CompanyOptions, Decision, TextSource } from './run-options.ts';
import { outcomeOf, type RunOutcome } from './run-outcome.ts';

export interface Stage {
  readonly engine: Engine;
  /** Goes on with a run, unless the project is being closed. */
  readonly resume: Engine['resume'];
  readonly ledger: Ledger;
  readonly clock: Clock;
  /** Aborted as soon as the project is being closed. */
  readonly closing: AbortSignal;
}

/** Shows the run from its start, or only what comes from now on; `heard` was begun before it was. */
export interface BegunWith {
  readonly from: 'start' | 'now';
  readonly heard: HeardPieces;
}

export async function keepCompany(
  { engine, resume: goOn, ledger, clock, closing }: Stage,
  handle: RunHandle & { readonly agent: string },
  options: CompanyOptions,
  { from, heard }: BegunWith,
): Promise<RunOutcome> {
  const { run, session, agent } = handle;
  const follower = createFollower(ledger, session);
  const stopping = createStopping(engine, run, options, closing);
  const speech = createSpeech(handle, options, stopping.guard);
  const unwatch = heard.to(speech.hear);
  try {
    const follow = await followWith(follower, handle, options, stopping.guard, from);
    const resume: Engine['resume'] = async (id) => (closing.aborted ? { kind: 'refused', error: closed } : goOn(id));
    const { answer, waits } = engine;
    const beside = { ledger, clock, engine: { resume, waits }, leaving: stopping.leaving };
    const company: Company = {
      engine: { answer, waits, resume },
      follow,
      elsewhere: (id) => restElsewhere(beside, id),
      answer: (wait) => stopping.unless(() => answerTo(wait, options)),
      // A program would return the same again.
      told: (_wait, outcome) => {
        if (outcome.kind === 'unfit' || outcome.kind === 'forbidden') throw refusedInput(outcome);
      },
      oneByOne: false,
    };
    const end = await stopping.settled(await driveToRest(company, handle));
    speech.end(end);
    await stopping.heard();
    await follower.catchUp(run);
    return outcomeOf({ run, session, agent }, end, subtreeDoings(follower.tree, run));
  } finally {
    unwatch();
    stopping.close();
  }
}

const closed: Failure = { code: 'closed', message: 'The project was closed.', fix: 'Open it again, and resume the run.' };

type Guard = (work: () => unknown) => void;

/** Nobody reads along for a program that wants to see nothing and answers nothing: what they come to is read once, at the end. */
async function followWith(
  follower: Follower,
  { run }: RunHandle,
  { onEvent, approve, answer }: CompanyOptions,
  guard: Guard,
  from: 'start' | 'now',
): Promise<Company['follow']> {
  if (onEvent === undefined && approve === undefined && answer === undefined) return async (done) => void (await done);
  await (from === 'start' ? follower.beginAt(run) : follower.catchUp(run));
  return (done, asked) =>
    follower.follow(done, (event) => {
      asked(event);
      guard(() => onEvent?.(event));
    });
}

async function answerTo(wait: OpenWait, options: CompanyOptions): Promise<GivenAnswer | undefined> {
  const answer = await decided(wait, options);
  const shown = wait.kind === 'permission' ? wait.shown : undefined;
  return answer === undefined ? undefined : { answer, answering: { by: personHere(), where: 'library', ...present({ shown }) } };
}

async function decided(wait: OpenWait, { approve, answer }: CompanyOptions): Promise<Answer | undefined> {
  if (wait.kind === 'permission') return approve === undefined ? undefined : answerOf(await approve(wait));
  const text: unknown = await answer?.(wait);
  if (text === undefined || typeof text === 'string') return text === undefined ? undefined : { kind: 'text', text };
  throw unfit('answer', 'a text, or undefined for not now');
}

/** A program without types may return anything; what is none of the answers is no decision, and nobody guesses one. */
function answerOf(decision: Decision | undefined | null): Answer | undefined {
  if (decision === undefined) return undefined;
  // The program was given all of what the call would be made with.
  if (decision === true) return { kind: 'approved', whole: true };
  if (decision === 'always') return { kind: 'approved', whole: true, remember: true };
  if (decision === false) return { kind: 'denied' };
  const given = typeof decision === 'object' && decision !== null ? decision : { deny: undefined };
  if ('input' in given && isJson(given.input)) return { kind: 'approved', whole: true, input: given.input };
  if ('input' in given || typeof given.deny !== 'string')
    throw unfit('approve', "true, false, 'always', { deny: 'why' }, { input }, or undefined for not now");
  return given.deny.trim() === '' ? { kind: 'denied' } : { kind: 'denied', note: given.deny };
}

/** What a ledger would give back otherwise than it was given, or not at all, is nothing that a call can be made with. */
function isJson(value: unknown): boolean {
  try {
    return isDeepStrictEqual(parseJson(JSON.stringify(value)), ok(value));
  } catch {
    return false;
  }
}

const unfit = (callback: string, what: string): TroupeError =>
  new TroupeError('usage', `What \`${callback}\` returned is no answer.`, { fix: `Return ${what}; then resume the run.` });

const refusedInput = ({ kind, why }: ChangeRefusal): TroupeError =>
  new TroupeError(
    'usage',
    `What \`approve\` returned as input ${kind === 'unfit' ? 'does not fit' : 'is forbidden'}: nothing was approved. ${why}`,
    { fix: `Return ${kind === 'unfit' ? 'all arguments of the call by their names' : 'something else'}; then resume the run.` },
  );

interface Stopping {
  /** Calls back into the program. The first error pauses the run; it is thrown when the run stands still. */
  readonly guard: Guard;
  /** What `work` gives, or nothing as soon as the program has had enough or closes the project. */
  unless<Value>(work: () => Promise<Value>): Promise<Value | undefined>;
  /** The program has had enough, or closes the project: aborted then. */
  readonly leaving: AbortSignal;
  /** How the run stands once what was asked of it has had its effect. */
  settled(end: RunEnd): Promise<RunEnd>;
  /** Waits for callbacks that are not done yet, and throws the error of the first that failed. */
  heard(): Promise<void>;
  close(): void;
}

function createStopping(
  engine: Engine,
  run: RunId,
  { signal, whenAborted = 'cancel' }: CompanyOptions,
  closing: AbortSignal,
): Stopping {
  let failure: { readonly error: unknown } | undefined;
  let asked: Promise<unknown> | undefined;
  const pending = new Set<Promise<void>>();
  const enough = Promise.withResolvers<undefined>();
  const leaving = new AbortController();
  const leave = (): void => {
    enough.resolve(undefined);
    leaving.abort();
  };
  const failed = (error: unknown): void => {
    failure ??= { error };
  };
  const fail = (error: unknown): void => {
    failed(error);
    asked ??= engine.pause(run, 'a callback of the program failed').catch(() => undefined);
  };
  const onAbort = (): void => {
    const why = 'the program aborted it';
    asked = (whenAborted === 'pause' ? engine.pause(run, why) : engine.cancel(run, why)).catch(failed);
    leave();
  };
  if (signal?.aborted === true) onAbort();
  else signal?.addEventListener('abort', onAbort, { once: true });
  if (closing.aborted) leave();
  else closing.addEventListener('abort', leave, { once: true });
  const unless = async <Value>(work: () => Promise<Value>): Promise<Value | undefined> => {
    if (signal?.aborted === true || closing.aborted) return undefined;
    // What the program waits for may be nothing that keeps a process alive, such as the timer of AbortSignal.timeout.
    const release = holdProcess();
    try {
      return await Promise.race([work(), enough.promise]);
    } finally {
      release();
    }
  };
  return {
    guard(work) {
      if (failure !== undefined) return;
      try {
        const given = work();
        if (!isPromise(given)) return;
        const done: Promise<void> = Promise.resolve(given).then(() => undefined, fail);
        pending.add(done);
        void done.finally(() => pending.delete(done));
      } catch (error) {
        fail(error);
      }
    },
    unless,
    leaving: leaving.signal,
    async settled(end) {
      await asked;
      if (signal?.aborted !== true || whenAborted === 'pause' || end.kind === 'ended') return end;
      // Nobody drove it when it was cancelled: whoever takes it up finds it ended, or ends it.
      const taken = await engine.resume(run);
      if (taken.kind === 'ended') return { kind: 'ended', result: taken.result };
      return taken.kind === 'resumed' ? await taken.handle.done : end;
    },
    async heard() {
      if (pending.size > 0) await unless(() => Promise.all(pending));
      if (failure !== undefined) throw failure.error;
    },
    close() {
      signal?.removeEventListener('abort', onAbort);
      closing.removeEventListener('abort', leave);
    },
  };
}

const isPromise = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';

interface Speech {
  hear(piece: LivePiece): void;
  /** The report, when it is not what was said last. */
  end(end: RunEnd): void;
}

const sourceOf = ({ agent, run, turn, attempt }: LivePiece): TextSource => ({
  ...{ agent, run, turn },
  ...(attempt > 1 && { attempt }),
});

function createSpeech({ session }: RunHandle, { onText }: CompanyOptions, guard: Guard): Speech {
  let last: TextSource | undefined;
  let said = '';
  const say = (text: string, source: TextSource): void => {
    const isMore = last?.run === source.run && last.turn === source.turn && last.attempt === source.attempt;
    said = isMore ? said + text : text;
    last = source;
    guard(() => onText?.(text, source));
  };
  return {
    hear(piece) {
      if (piece.session === session && piece.terminal && piece.delta.type === 'text') say(piece.delta.text, sourceOf(piece));
    },
    end(end) {
      if (end.kind !== 'ended') return;
      const { report, finalAgent: agent, finalRun: run, turns: turn } = end.result;
      if (report.synthetic !== true && said.trim() !== report.body.trim()) say(report.body, { agent, run, turn });
    },
  };
}
