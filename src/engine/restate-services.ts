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
import type { RunId, SessionId } from '../base/ids.ts';
import { limits } from '../base/limits.ts';
import { runService, sessionService } from './restate-address.ts';
import type { WorkOutcome } from './restate-work.ts';

export interface Assignment {
  readonly session: SessionId;
  readonly run: RunId;
}

export type Work = (assignment: Assignment, signal: AbortSignal) => Promise<WorkOutcome>;

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
  },
});

/** A run as other handlers call it. */
type RunHandlers = {
  drive(context: restate.ObjectContext, assignment: Assignment): Promise<void>;
  poke(context: restate.ObjectSharedContext): Promise<void>;
};

/** After so much time of waiting an invocation is put aside, and replayed when there is something to do. */
export function createServices(name: string, work: Work, inactivityMs: number = limits.restateInactivityMs) {
  const options = optionsWith(inactivityMs);
  const runs = restate.object({
    name: runService(name),
    options,
    handlers: {
      drive: (context: restate.ObjectContext, assignment: Assignment) => drive(context, assignment, work, runService(name)),
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
      run: async (context: restate.ObjectContext, assignment: Assignment): Promise<void> => {
        await context.objectClient<RunHandlers>({ name: runService(name) }, assignment.run).drive(assignment);
      },
    },
  });
  return [runs, sessions];
}

/**
 * The bell is hung up before the work begins: whoever rings while it goes on is not missed. It is rung when a child has ended or
 * something came from outside.
 */
async function drive(context: restate.ObjectContext, assignment: Assignment, work: Work, runs: string): Promise<void> {
  for (;;) {
    const bell = context.awakeable();
    context.set(WAKE, bell.id);
    const outcome = await context.run('work', () => work(assignment, context.request().attemptCompletedSignal));
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
