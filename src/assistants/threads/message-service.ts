/**
 * Watching processes and exchanging messages with them, for anybody who may (A2), on nothing but the ledger: it works the same
 * whoever drives the processes, also when nobody does.
 */

import type { Clock } from '../../base/clock.ts';
import { TroupeError } from '../../base/errors.ts';
import type { Ids, RunId } from '../../base/ids.ts';
import { present } from '../../base/present.ts';
import { fail, type Result } from '../../base/result.ts';
import type { Failure } from '../../events/catalogue.ts';
import type { Ledger } from '../../ledger/port.ts';
import type { AssistantCallOptions, Assistants, Outcome } from '../port.ts';
import { type Access, createFamily } from './family.ts';
import { createIdleCheck } from './idle.ts';
import { createLastTold } from './last-told.ts';
import { poll } from './poll.ts';
import { receive } from './receive.ts';
import { send } from './send.ts';
import { cancelled, type ServiceNeeds } from './service-needs.ts';
import { createSessions } from './session-state.ts';

export interface MessageServiceOptions {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly ids: Pick<Ids, 'nonce'>;
  /** Told of a process that somebody asked about, that has not ended and that nobody drives: it can be taken up again. */
  onIdle?(run: RunId): void;
}

export type MessageService = Pick<Assistants, 'poll' | 'send' | 'receive'>;

export function createMessageService(options: MessageServiceOptions): MessageService {
  const { ledger, clock, ids } = options;
  const family = createFamily(ledger);
  const idle = createIdleCheck(ledger, clock, (run) => options.onIdle?.(run));
  const needs: ServiceNeeds = {
    ledger,
    clock,
    ids,
    sessions: createSessions(ledger),
    idle,
    told: createLastTold(),
    // The call that goes on waiting does not depend on it, and the next look comes soon.
    touch: (process) => void idle(process).catch(() => undefined),
  };
  const answer = <Input, Value>(
    access: Promise<Result<Access, Failure>>,
    act: (needs: ServiceNeeds, access: Access, input: Input, options: AssistantCallOptions) => Outcome<Value>,
    input: Input,
    call: AssistantCallOptions,
  ): Outcome<Value> =>
    asOutcome(async () => {
      const may = await access;
      if (!may.ok) return may;
      return call.signal.aborted ? cancelled() : await act(needs, may.value, input, call);
    });
  return {
    poll: (caller, input, call) => answer(family.toProcess(caller, input.process_id), poll, input, call),
    send: (caller, input, call) => answer(family.toThread(caller, input.thread_id), send, input, call),
    receive: (caller, input, call) => answer(family.toThread(caller, input.thread_id), receive, input, call),
  };
}

/** A ledger that cannot be read or written is something the caller has to hear about, and no bug. */
async function asOutcome<Value>(act: () => Outcome<Value>): Outcome<Value> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof TroupeError) || error.code === 'bug') throw error;
    const { code, message, fix } = error;
    return fail({ code, message, ...present({ fix }) });
  }
}
