/**
 * Sending a message: one event in the ledger, which its reader finds before its next turn. With a key it is sent once, however
 * often the call is made again (A4).
 */

import { assert } from '../../base/errors.ts';
import { type RunId, threadOf } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import { fail, ok } from '../../base/result.ts';
import type { Failure } from '../../events/catalogue.ts';
import type { CounterChange, NewEvent } from '../../ledger/port.ts';
import { hasEnded } from '../../projections/processes.ts';
import type { SendInput, SuccessOutput } from '../../tools/assistants/schemas.ts';
import type { AssistantCallOptions, Outcome } from '../port.ts';
import { type Access, type FamilyMember, type Known, partyOf } from './family.ts';
import { type Recipient, recipientOf } from './recipient.ts';
import { actorOf, callId, type ServiceNeeds } from './service-needs.ts';
import type { SessionState } from './session-state.ts';

const SUCCESS = ok({ success: true });

export async function send(
  needs: ServiceNeeds,
  access: Access,
  input: SendInput,
  { idempotencyKey, digest, clientMessage, parts }: AssistantCallOptions,
): Outcome<SuccessOutput> {
  const id = idempotencyKey === undefined ? needs.ids.nonce() : callId(access.caller, idempotencyKey);
  // Before anything else that could refuse it by now: what was sent was sent.
  if (idempotencyKey !== undefined && (await needs.ledger.counter(counterOf(id).name)) > 0) return SUCCESS;
  const tooLong = lengthRefusal(input.message);
  if (tooLong !== undefined) return fail(tooLong);
  const found = recipientOf(access, input.to_assistant_id, (await needs.sessions.open(access.owner.session)).processes);
  if (!found.ok) return found;
  const owner = threadOwner(access, found.value);
  const state = await needs.sessions.open(owner.session);
  const refused = refusal(state, found.value);
  if (refused !== undefined) return fail(refused);
  const words = { id, content: input.message, digest, clientMessage, parts };
  const taken = await append(needs, access.caller, owner, found.value, words);
  // It ended after we looked: of the two, the ledger says which was first.
  if (taken === 'ended') return fail(hasEndedAlready(found.value));
  await needs.idle(found.value.to.run === undefined ? undefined : state.processes.find(found.value.to.run), 'now');
  return SUCCESS;
}

const counterOf = (message: string): CounterChange => ({ name: `message/${message}`, add: 1, max: 1 });

/** The recipient's thread is in the session of the thread that was named, unless it is the caller's own. */
function threadOwner({ caller, owner }: Access, recipient: Recipient): Pick<FamilyMember, 'run' | 'session' | 'started'> {
  if (recipient.owner === owner.run) return owner;
  if (caller.kind === 'run' && caller.member.run === recipient.owner) return caller.member;
  return { run: recipient.owner, session: owner.session, started: owner.started };
}

function lengthRefusal(message: string): Failure | undefined {
  const bytes = Buffer.byteLength(message);
  if (bytes <= limits.messageBytes) return undefined;
  return {
    code: 'message_too_long',
    message: `The message has ${bytes} bytes; at most ${limits.messageBytes} are allowed (limit messageBytes).`,
    fix: 'Write it to a file and send its path, or send it in parts.',
  };
}

function refusal(state: SessionState, { to, owner }: Recipient): Failure | undefined {
  const reader = to.run === undefined ? undefined : state.processes.find(to.run);
  if (reader !== undefined && hasEnded(reader)) return hasEndedAlready({ to });
  if (state.threads.messages(threadOf(owner)).length < limits.messagesPerThread) return undefined;
  return {
    code: 'thread_full',
    message: `The thread holds ${limits.messagesPerThread} messages (limit messagesPerThread).`,
    fix: 'Spawn the assistant again: a new process has a new thread.',
  };
}

const hasEndedAlready = ({ to }: Pick<Recipient, 'to'>): Failure => ({
  code: 'ended',
  message: `${to.assistant} has ended and reads no more messages.`,
  fix: 'What it answered is in its thread: recv_message. Spawn it again to go on.',
});

async function append(
  { ledger, clock, ids }: ServiceNeeds,
  caller: Known,
  owner: Pick<FamilyMember, 'run' | 'session' | 'started'>,
  { to }: Recipient,
  {
    id,
    content,
    ...asSent
  }: { readonly id: string; readonly content: string } & Pick<AssistantCallOptions, 'digest' | 'clientMessage' | 'parts'>,
): Promise<'sent' | 'ended'> {
  const event: NewEvent = {
    type: 'message.sent',
    run: owner.run,
    actor: actorOf(caller),
    cause: owner.started,
    step: `message/${id}`,
    payload: {
      ...{ message: id, thread: threadOf(owner.run), from: partyOf(caller), to, content, fence: ids.nonce() },
      ...present(asSent),
    },
    at: clock.now(),
  };
  const counters = [counterOf(id)];
  const unended = present({ unended: to.run as RunId | undefined });
  const { kind } = await ledger.append({ session: owner.session, fence: null, events: [event], counters, ...unended });
  if (kind === 'ended') return 'ended';
  // Over the limit: it was sent already, by an earlier life of this call.
  assert(kind === 'appended' || kind === 'over_limit', `a message was refused: ${kind}`);
  return 'sent';
}
