/** What the calls of the message service work with, and how a caller and its call are called in the ledger. */
import { createHash } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import type { Ids } from '../../base/ids.ts';
import { fail } from '../../base/result.ts';
import type { Failure } from '../../events/catalogue.ts';
import type { Actor } from '../../events/envelope.ts';
import type { Ledger } from '../../ledger/port.ts';
import type { Process } from '../../projections/processes.ts';
import { type Known, partyOf } from './family.ts';
import type { IdleCheck } from './idle.ts';
import type { LastTold } from './last-told.ts';
import type { Sessions } from './session-state.ts';

export interface ServiceNeeds {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly ids: Pick<Ids, 'nonce'>;
  readonly sessions: Sessions;
  readonly idle: IdleCheck;
  readonly told: LastTold;
  /** Looks whether it is idle, without waiting for the answer. */
  touch(process: Process | undefined): void;
}

export const cancelled = (): { readonly ok: false; readonly error: Failure } =>
  fail({ code: 'cancelled', message: 'The call was cancelled.' });

const CALL_CHARACTERS = 24;

/** The same for a call and its repetition, and another one for every caller. */
export function callId(caller: Known, key: string): string {
  const { assistant, run = '' } = partyOf(caller);
  return createHash('sha256')
    .update(JSON.stringify([run, assistant, key]))
    .digest('hex')
    .slice(0, CALL_CHARACTERS);
}

export function actorOf(caller: Known): Actor {
  return caller.kind === 'client' ? 'user' : `agent:${caller.member.agent}`;
}
