/**
 * One prompt of an executor, from when it goes out to its end. While somebody is asked the run is left as always: what the
 * executor waits for stays open in its process, and the next life goes on with it.
 */
import { sleep } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import type { Usage } from '../../events/messages.ts';
import type { ExecutorSession, PromptEnded, PromptHandlers } from '../../executors/port.ts';
import type { NewEvent } from '../../ledger/port.ts';
import type { AtWork } from '../hearing/at-work.ts';
import { isToEnd } from '../hearing/go-on-or-end.ts';
import { createLimitWatch, type LimitReached } from './limit-watch.ts';
import { createPermits, type Denial } from './permits.ts';
import { askedOf } from './questions.ts';
import type { ExecutorExchange, ExecutorRecorder } from './recorder.ts';
import { touchedBy } from './touched.ts';
import { createWitness } from './witness.ts';

export interface Conversed {
  readonly ended: PromptEnded;
  readonly reached: LimitReached | undefined;
  readonly denied: readonly Denial[];
  readonly usage: Usage;
  readonly costUsd: number | undefined;
  /** What was seen last, to be written with what comes of it. */
  readonly seen: readonly NewEvent[];
}

type Start = (handlers: PromptHandlers) => Promise<PromptEnded>;

/** `mayCost`: in dollars, what this prompt may cost. */
export async function converse(
  recorder: ExecutorRecorder,
  { step, request }: Pick<ExecutorExchange, 'step' | 'request'>,
  session: ExecutorSession,
  start: Start,
  mayCost: number | undefined,
): Promise<Conversed> {
  const { tree, node } = recorder;
  const cwd = tree.workspaceOf(node);
  const busy = createBusy(tree.atWork);
  const left = Promise.withResolvers<never>();
  left.promise.catch(() => undefined);
  const pause = pauseDuring(recorder);
  const watch = createLimitWatch(recorder, step, session.about.pid, mayCost);
  const witness = await createWitness(recorder, step, request.turn, cwd, session.restored === 'live' ? 'command' : 'outside');
  const permits = createPermits(recorder, step, cwd, busy.rest);
  let costUsd: number | undefined;
  const open = stayingOpen(recorder, left.reject);
  const handlers: PromptHandlers = {
    signal: AbortSignal.any([node.abort.signal, pause.signal, watch.signal]),
    onUpdate(update) {
      if (update.kind === 'usage' && update.costUsd !== undefined) {
        costUsd = update.costUsd;
        watch.spent(update.costUsd);
      }
      witness.update(update);
      watch.look();
    },
    permission: (asked) => open(() => permits.permission(asked), 'cancelled'),
    mayRead: (path) => open(() => permits.mayRead(path), STOPPED),
    mayWrite: (path, content) => open(() => permits.mayWrite(path, content), STOPPED),
    mayRun: (command) =>
      open(async () => {
        const verdict = await permits.mayRun(command);
        return verdict.allowed && !watch.mayRun() ? STOPPED : verdict;
      }, STOPPED),
    ask: (question) => open(() => busy.rest(() => askedOf(recorder, step, question)), { action: 'cancel' as const }),
    wrote: witness.wrote,
    ran(command) {
      witness.ran(command);
      watch.look();
    },
  };
  /** An event names the one before it as its cause, so nothing may come between making these and writing them. */
  const lastSeen = async (): Promise<NewEvent[]> => {
    const touched = await touchedBy(recorder, session, step);
    return [...(await witness.over()), ...touched()];
  };
  try {
    const ended = await Promise.race([start(handlers), left.promise, unheeded(recorder, handlers.signal)]);
    const seen = await lastSeen();
    const said = ended.kind === 'ended' ? ended : undefined;
    const usage = said?.usage ?? {};
    return { ended, reached: watch.reached(), denied: permits.denied(), usage, costUsd: said?.costUsd ?? costUsd, seen };
  } catch (reason) {
    tree.writer.enqueue(await lastSeen());
    throw reason;
  } finally {
    busy.over();
    watch.over();
    pause.over();
  }
}

const STOPPED = { allowed: false, reason: 'The work was stopped.' } as const;

/** Its questions stay open when the run is left: whoever takes it up answers them. */
function stayingOpen({ tree, node }: ExecutorRecorder, leave: (reason: unknown) => void) {
  return async <Value>(ask: () => Promise<Value>, otherwise: Value): Promise<Value> => {
    try {
      return await ask();
    } catch (reason) {
      if (node.abort.signal.aborted || isToEnd(tree, node)) return otherwise;
      leave(reason);
      return await new Promise<never>(() => undefined);
    }
  };
}

/** Until a process is certainly ended that was told to stop, and then to end. */
const ENDED_MS = limits.executorCancelMs + limits.executorEndMs + limits.stopGraceMs;

/** One that does not end when it is told to is not waited for. */
async function unheeded({ tree }: ExecutorRecorder, signal: AbortSignal): Promise<PromptEnded> {
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  await sleep(tree.clock, ENDED_MS, new AbortController().signal);
  return { kind: 'ended', stop: 'cancelled', text: '', cut: false };
}

/** At work, but for the time in which somebody is asked. */
function createBusy(atWork: AtWork) {
  let waiting = 0;
  let isOver = false;
  let stop = atWork.begin();
  return {
    async rest<Value>(ask: () => Promise<Value>): Promise<Value> {
      waiting += 1;
      stop();
      try {
        return await ask();
      } finally {
        waiting -= 1;
        if (waiting === 0 && !isOver) stop = atWork.begin();
      }
    },
    over(): void {
      isOver = true;
      stop();
    },
  };
}

/** A run that is to stand still stops its executor: nothing must change files in a run that is paused. */
function pauseDuring({ tree, node }: ExecutorRecorder): { readonly signal: AbortSignal; over(): void } {
  const stop = new AbortController();
  const done = new AbortController();
  const listen = (): void => {
    const heard = (): void => {
      try {
        tree.checkpoint(node);
      } catch (reason) {
        stop.abort(reason);
      }
      if (!done.signal.aborted) listen();
    };
    tree.nextNews().addEventListener('abort', heard, { once: true, signal: done.signal });
  };
  listen();
  return { signal: stop.signal, over: () => done.abort() };
}
