/**
 * The services that Restate calls. A session is a virtual object: its root runs come one after the other. A run is one too: one
 * invocation works on it, piece by piece, and rests in between, holding nothing.
 *
 * The invocation's own journal stays small: whether there is something to do, never what was done. What happened is in the
 * ledger, so a piece of work that is done again after a crash answers its completed steps from there.
 *
 * Changing the order of what these handlers do breaks invocations that are under way: it needs new service names.
 */
import * as restate from '@restatedev/restate-sdk/fetch';
import type { RunId, SessionId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { runService, sessionService } from './address.ts';
import type { WorkOutcome } from './work.ts';

export interface WorkOrder {
  readonly session: SessionId;
  readonly run: RunId;
}

export type WorkOnRun = (order: WorkOrder, signal: AbortSignal) => Promise<WorkOutcome>;

/** What the services have a worker do. */
export interface Duties {
  readonly work: WorkOnRun;
  /** Whether the run is in the ledger and has not ended. */
  isOpen(run: RunId): Promise<boolean>;
}

const WAKE = 'wake';

const optionsWith = (inactivityMs: number) => ({
  inactivityTimeout: inactivityMs,
  abortTimeout: limits.restateAbortMs,
  journalRetention: { days: 1 },
  idempotencyRetention: { days: 1 },
  retryPolicy: {
    initialInterval: limits.restateRetryMs,
    exponentiationFactor: 2,
    maxInterval: limits.restateRetryMaxMs,
    // Runs outlast an outage of any length: Restate's own limit would put them aside until somebody looks.
    maxAttempts: limits.restateAttempts,
  },
});

/** A run as other handlers call it. */
type RunHandlers = {
  drive(context: restate.ObjectContext, order: WorkOrder): Promise<void>;
  poke(context: restate.ObjectSharedContext): Promise<void>;
};

type SessionHandlers = {
  run(context: restate.ObjectContext, order: WorkOrder): Promise<void>;
};

/** After so much time of waiting an invocation is put aside, and replayed when there is something to do. */
export function createServices(name: string, { work, isOpen }: Duties, inactivityMs: number = limits.restateInactivityMs) {
  const options = optionsWith(inactivityMs);
  const runs = restate.object({
    name: runService(name),
    options,
    handlers: {
      drive: (context: restate.ObjectContext, order: WorkOrder) => drive(context, order, work, runService(name)),
      poke: restate.handlers.object.shared(async (context: restate.ObjectSharedContext): Promise<void> => {
        const waiting = await context.get<string>(WAKE);
        if (waiting !== null) context.resolveAwakeable(waiting);
      }),
    },
  });
  const sessions = restate.object({
    name: sessionService(name),
    options,
    handlers: {
      run: async (context: restate.ObjectContext, order: WorkOrder): Promise<void> => {
        await context.objectClient<RunHandlers>({ name: runService(name) }, order.run).drive(order);
      },
      /** A while after a run was written down, in case that whoever wrote it did not get to handing it over. */
      check: restate.handlers.object.shared(async (context: restate.ObjectSharedContext, order: WorkOrder): Promise<void> => {
        if (!(await context.run('look', () => isOpen(order.run)))) return;
        const once = restate.rpc.sendOpts<WorkOrder>({ idempotencyKey: order.run });
        context.objectSendClient<SessionHandlers>({ name: sessionService(name) }, order.session).run(order, once);
      }),
    },
  });
  return [runs, sessions];
}

/**
 * The bell is hung up before the work begins: whoever rings while it goes on is not missed. It is rung when a child has ended or
 * something came from outside. Hung up means that Restate has it: what a handler sets is under way for a while, and a poke that
 * is answered meanwhile would find the bell of before, or none, and ring for nobody.
 */
async function drive(context: restate.ObjectContext, order: WorkOrder, work: WorkOnRun, runs: string): Promise<void> {
  for (;;) {
    const bell = context.awakeable();
    context.set(WAKE, bell.id);
    await context.run('bell', () => undefined);
    const outcome = await context.run('work', () => work(order, context.request().attemptCompletedSignal));
    if (outcome.kind !== 'left') {
      context.clear(WAKE);
      if (outcome.kind === 'ended' && outcome.parent !== null)
        context.objectSendClient<RunHandlers>({ name: runs }, outcome.parent).poke();
      return;
    }
    if (outcome.wakeAt === null) await bell.promise;
    else await untilThen(context, bell.promise, outcome.wakeAt);
  }
}

async function untilThen(context: restate.ObjectContext, bell: restate.RestatePromise<unknown>, time: number): Promise<void> {
  const now = await context.date.now();
  try {
    await bell.orTimeout(Math.max(1, time - now));
  } catch (error) {
    if (!(error instanceof restate.TimeoutError)) throw error;
  }
}
