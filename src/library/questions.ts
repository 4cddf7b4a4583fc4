/**
 * The open questions of a run, put to whoever keeps it company as soon as they exist, while the rest of the run goes on. What
 * somebody else has answered meanwhile is taken back.
 */
import type { AnswerOutcome, Engine, OpenWait, RunHandle } from '../engine/port.ts';
import type { Answering } from '../events/assistants.ts';
import type { Answer } from '../events/catalogue.ts';

/** An answer and whose it is. */
export interface GivenAnswer {
  readonly answer: Answer;
  readonly answering: Answering;
}

export interface Answerer {
  readonly engine: Pick<Engine, 'answer' | 'resume' | 'waits'>;
  /** `undefined` when there is none now. `gone` aborts when nobody waits for it any more. */
  answer(wait: OpenWait, gone: AbortSignal): Promise<GivenAnswer | undefined>;
  /** What became of an answer that was given. */
  told?(wait: OpenWait, outcome: AnswerOutcome): void;
  /** A person is asked one thing after the other, a program everything at once. */
  readonly oneByOne: boolean;
}

export interface Questions {
  /** Looks for questions that nobody was asked yet, and for those that are answered. */
  look(): void;
  /** How many of them were answered so far, by whomever. */
  answered(): number;
  /** Whether one more than these is answered; `false` when nobody is asked any more. Rejects when asking failed. */
  more(than: number): Promise<boolean>;
  /** Takes back what is being asked. */
  close(): Promise<void>;
}

export function createQuestions(answerer: Answerer, run: RunHandle['run']): Questions {
  const { engine } = answerer;
  const asking = new Map<string, AbortController>();
  const sent = new Set<string>();
  /** Answered, or not to be answered now: what was read before that may still hold them. */
  const settled = new Set<string>();
  let answered = 0;
  let closed = false;
  let failure: { readonly error: unknown } | undefined;
  let looks: Promise<void> = Promise.resolve();
  let turn: Promise<void> = Promise.resolve();
  let changed = Promise.withResolvers<void>();
  const change = (): void => {
    changed.resolve();
    changed = Promise.withResolvers<void>();
  };

  const put = async (wait: OpenWait, key: string, gone: AbortController): Promise<void> => {
    const given = gone.signal.aborted ? undefined : await answerer.answer(wait, gone.signal);
    if (given === undefined || gone.signal.aborted) {
      settled.add(key);
      return;
    }
    sent.add(key);
    const outcome = await engine.answer(wait.run, wait.wait, given.answer, given.answering);
    answered += 1;
    // Who has seen something else, or gave what does not fit, is asked again.
    if (outcome.kind !== 'other' && outcome.kind !== 'unfit' && outcome.kind !== 'forbidden') settled.add(key);
    answerer.told?.(wait, outcome);
  };
  const ask = (wait: OpenWait): void => {
    const key = keyOf(wait);
    const gone = new AbortController();
    asking.set(key, gone);
    const done = (answerer.oneByOne ? turn : Promise.resolve())
      .then(() => put(wait, key, gone))
      .catch((error: unknown) => {
        failure ??= { error };
        settled.add(key);
      })
      .finally(() => {
        asking.delete(key);
        sent.delete(key);
        look();
        change();
      });
    if (answerer.oneByOne) turn = done;
  };
  const lookNow = async (): Promise<void> => {
    const open = await engine.waits(run);
    const keys = new Set(open.map(keyOf));
    for (const [key, gone] of asking) {
      if (keys.has(key) || sent.has(key) || gone.signal.aborted) continue;
      answered += 1;
      gone.abort();
    }
    for (const wait of open) if (!asking.has(keyOf(wait)) && !settled.has(keyOf(wait)) && !closed) ask(wait);
    change();
  };
  const look = (): void => {
    looks = looks.then(lookNow).catch((error: unknown) => {
      failure ??= { error };
      change();
    });
  };
  return {
    look,
    answered: () => answered,
    async more(than) {
      look();
      await looks;
      while (answered <= than && asking.size > 0 && failure === undefined) await changed.promise;
      if (failure !== undefined) throw failure.error;
      return answered > than;
    },
    async close() {
      closed = true;
      await looks;
      for (const gone of asking.values()) gone.abort();
      // A person is told why they are asked no longer before anything else is said.
      await turn;
      if (failure !== undefined) throw failure.error;
    },
  };
}

const keyOf = ({ run, wait }: OpenWait): string => `${run} ${wait}`;
