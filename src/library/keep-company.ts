/** A program beside its run: shows it what happens, asks it what has to be decided, and stops when it wants to. */
import type { RunId } from '../base/ids.ts';
import type { Engine, LivePiece, OpenWait, RunEnd, RunHandle } from '../engine/port.ts';
import type { Answer } from '../events/catalogue.ts';
import type { Ledger } from '../ledger/port.ts';
import { subtreeDoings } from '../projections/run-tree.ts';
import { driveToRest } from './drive-to-rest.ts';
import { createFollower, type Follower } from './follow.ts';
import type { CompanyOptions, Decision, TextSource } from './run-options.ts';
import { outcomeOf, type RunOutcome } from './run-outcome.ts';

export interface Stage {
  readonly engine: Engine;
  readonly ledger: Ledger;
}

/** `from`: shows the run from its start, or only what comes from now on. */
export async function keepCompany(
  { engine, ledger }: Stage,
  handle: RunHandle & { readonly agent: string },
  options: CompanyOptions,
  from: 'start' | 'now',
): Promise<RunOutcome> {
  const { run, session, agent } = handle;
  const follower = createFollower(ledger, session);
  const stopping = createStopping(engine, run, options);
  const speech = createSpeech(handle, options, stopping.guard);
  const unwatch = options.onText === undefined ? () => undefined : engine.watch(speech.hear);
  try {
    const follow = await followWith(follower, handle, options, stopping.guard, from);
    const company = { engine, follow, answer: (wait: OpenWait) => stopping.unless(() => answerTo(wait, options)) };
    const end = await stopping.settled(await driveToRest(company, handle));
    speech.end(end);
    stopping.rethrow();
    await follower.catchUp(run);
    return outcomeOf({ run, session, agent }, end, subtreeDoings(follower.tree, run));
  } finally {
    unwatch();
    stopping.close();
  }
}

type Guard = (work: () => void) => void;

/** Nobody reads along for a program that does not want to see the events: what they come to is read once, at the end. */
async function followWith(
  follower: Follower,
  { run }: RunHandle,
  { onEvent }: CompanyOptions,
  guard: Guard,
  from: 'start' | 'now',
): Promise<(done: Promise<unknown>) => Promise<void>> {
  if (onEvent === undefined) return async (done) => void (await done);
  await (from === 'start' ? follower.beginAt(run) : follower.catchUp(run));
  return (done) => follower.follow(done, (event) => guard(() => onEvent(event)));
}

async function answerTo(wait: OpenWait, { approve, answer }: CompanyOptions): Promise<Answer | undefined> {
  if (wait.kind === 'permission') return approve === undefined ? undefined : answerOf(await approve(wait));
  const text = await answer?.(wait);
  return text === undefined ? undefined : { kind: 'text', text };
}

function answerOf(decision: Decision | undefined): Answer | undefined {
  if (decision === undefined) return undefined;
  // The program was given all of what the call would be made with.
  if (decision === true) return { kind: 'approved', whole: true };
  if (decision === 'always') return { kind: 'approved', whole: true, remember: true };
  return decision === false ? { kind: 'denied' } : { kind: 'denied', note: decision.deny };
}

interface Stopping {
  /** Calls back into the program. The first error pauses the run; it is thrown when the run stands still. */
  readonly guard: Guard;
  /** What `work` gives, or nothing as soon as the program has had enough. */
  unless<Value>(work: () => Promise<Value>): Promise<Value | undefined>;
  /** How the run stands once what was asked of it has had its effect. */
  settled(end: RunEnd): Promise<RunEnd>;
  rethrow(): void;
  close(): void;
}

function createStopping(engine: Engine, run: RunId, { signal, whenAborted = 'cancel' }: CompanyOptions): Stopping {
  let failure: { readonly error: unknown } | undefined;
  let asked: Promise<unknown> | undefined;
  const aborted = Promise.withResolvers<undefined>();
  const failed = (error: unknown): void => {
    failure ??= { error };
  };
  const onAbort = (): void => {
    const why = 'the program aborted it';
    asked = (whenAborted === 'pause' ? engine.pause(run, why) : engine.cancel(run, why)).catch(failed);
    aborted.resolve(undefined);
  };
  if (signal?.aborted === true) onAbort();
  else signal?.addEventListener('abort', onAbort, { once: true });
  return {
    guard(work) {
      if (failure !== undefined) return;
      try {
        work();
      } catch (error) {
        failed(error);
        asked ??= engine.pause(run, 'a callback of the program failed').catch(() => undefined);
      }
    },
    unless: (work) => (signal?.aborted === true ? aborted.promise : Promise.race([work(), aborted.promise])),
    async settled(end) {
      await asked;
      if (signal?.aborted !== true || whenAborted === 'pause' || end.kind === 'ended') return end;
      // Nobody drove it when it was cancelled: whoever takes it up finds it ended, or ends it.
      const taken = await engine.resume(run);
      if (taken.kind === 'ended') return { kind: 'ended', result: taken.result };
      return taken.kind === 'resumed' ? await taken.handle.done : end;
    },
    rethrow() {
      if (failure !== undefined) throw failure.error;
    },
    close: () => signal?.removeEventListener('abort', onAbort),
  };
}

interface Speech {
  hear(piece: LivePiece): void;
  /** The report, when it is not what was said last. */
  end(end: RunEnd): void;
}

function createSpeech({ session }: RunHandle, { onText }: CompanyOptions, guard: Guard): Speech {
  let last: TextSource | undefined;
  let said = '';
  const say = (text: string, { agent, run, turn }: TextSource): void => {
    said = last?.run === run && last.turn === turn ? said + text : text;
    last = { agent, run, turn };
    guard(() => onText?.(text, { agent, run, turn }));
  };
  return {
    hear(piece) {
      if (piece.session === session && piece.terminal && piece.delta.type === 'text') say(piece.delta.text, piece);
    },
    end(end) {
      if (end.kind !== 'ended') return;
      const { report, finalAgent: agent, finalRun: run, turns: turn } = end.result;
      if (report.synthetic !== true && said.trim() !== report.body.trim()) say(report.body, { agent, run, turn });
    },
  };
}
