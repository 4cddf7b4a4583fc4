/**
 * What a program has under way in a project that is open. Closing it lets what is just beginning begin, stops it, and waits until
 * everybody has been told how their run stands: nothing is asked of a ledger that is gone.
 */
import { TroupeError } from '../base/errors.ts';
import type { Engine } from '../engine/port.ts';

export interface Visits {
  /** Aborted as soon as the project is being closed. */
  readonly closing: AbortSignal;
  /** The engine, for as long as the project is open. */
  readonly engine: Engine;
  /** Does what was asked of the project, unless it is closed. `begun` is called when there is a run that closing can stop. */
  during<Value>(work: (begun: () => void) => Promise<Value>): Promise<Value>;
  close(): Promise<void>;
}

interface Closable {
  readonly engine: Engine;
  close(): Promise<void>;
}

export function createVisits(project: Closable): Visits {
  const { engine } = project;
  const closing = new AbortController();
  const visiting = new Set<Promise<unknown>>();
  const beginning = new Set<Promise<unknown>>();
  let closed: Promise<void> | undefined;

  const among = async <Value>(all: Set<Promise<unknown>>, work: () => Promise<Value>): Promise<Value> => {
    if (closing.signal.aborted) throw closedError();
    const under = work();
    all.add(under);
    try {
      return await under;
    } finally {
      all.delete(under);
    }
  };
  const shut = async (): Promise<void> => {
    closing.abort();
    await Promise.allSettled(beginning);
    await engine.close();
    await Promise.allSettled(visiting);
    await project.close();
  };
  return {
    closing: closing.signal,
    engine: {
      start: (request) => among(beginning, () => engine.start(request)),
      resume: (run, ...rest) => among(beginning, () => engine.resume(run, ...rest)),
      cancel: (run, reason, sender) => among(visiting, () => engine.cancel(run, reason, sender)),
      pause: (run, reason, sender) => among(visiting, () => engine.pause(run, reason, sender)),
      answer: (run, wait, answer, answering) => among(visiting, () => engine.answer(run, wait, answer, answering)),
      send: (run, text, sender) => among(visiting, () => engine.send(run, text, sender)),
      refusedChange: (wait, input) => among(visiting, () => engine.refusedChange(wait, input)),
      waits: (run) => among(visiting, () => engine.waits(run)),
      forget: (session, rule, sender) => among(visiting, () => engine.forget(session, rule, sender)),
      fork: (request) => among(visiting, () => engine.fork(request)),
      withdraw: (run) => among(visiting, () => engine.withdraw(run)),
      watch: engine.watch,
      close: engine.close,
    },
    async during(work) {
      const begins = Promise.withResolvers<void>();
      if (!closing.signal.aborted) beginning.add(begins.promise);
      try {
        return await among(visiting, () => work(begins.resolve));
      } finally {
        begins.resolve();
        beginning.delete(begins.promise);
      }
    },
    close: () => (closed ??= shut()),
  };
}

export const closedError = (): TroupeError =>
  new TroupeError('closed', 'This project was closed.', { fix: 'Open it again with createTroupe.' });
