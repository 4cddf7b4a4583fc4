/**
 * Fetching messages of a thread. Marking is one event per message with a counter that lets it happen once (A5): of two readers
 * at once, one marks it. The marks of a call carry the call's name, so a call that is made again because its answer was lost
 * finds the messages that it had marked as if they were unread, and nothing is lost between marking and answering.
 */

import { threadOf } from '../../base/ids.ts';
import { present } from '../../base/present.ts';
import { ok } from '../../base/result.ts';
import type { Party } from '../../events/assistants.ts';
import type { NewEvent } from '../../ledger/port.ts';
import { hasEnded } from '../../projections/processes.ts';
import { sameParty, type ThreadMessage } from '../../projections/threads.ts';
import type { ReceiveInput, ReceiveOutput } from '../../tools/assistants/schemas.ts';
import type { AssistantCallOptions, Outcome } from '../port.ts';
import { type Access, partyOf } from './family.ts';
import { actorOf, callId, cancelled, type ServiceNeeds } from './service-needs.ts';
import type { SessionState } from './session-state.ts';
import { waitFor } from './waiting.ts';

interface Reading {
  readonly access: Access;
  readonly input: ReceiveInput;
  readonly state: SessionState;
  readonly reader: Party;
  readonly thread: string;
  /** The step under which this call marks. */
  readonly step: string;
}

export async function receive(
  needs: ServiceNeeds,
  access: Access,
  input: ReceiveInput,
  options: AssistantCallOptions,
): Outcome<ReceiveOutput> {
  const { owner, caller } = access;
  const state = await needs.sessions.open(owner.session);
  const key = options.idempotencyKey;
  const step = `read/${key === undefined ? needs.ids.nonce() : callId(caller, key)}`;
  const reading: Reading = { access, input, state, step, reader: partyOf(caller), thread: threadOf(owner.run) };
  const process = () => state.processes.find(owner.run);
  // Made again after it had found something: there is nothing to wait for.
  const repeated = input.wait_ms > 0 && state.threads.messages(reading.thread).some(({ markedIn }) => markedIn === step);
  await needs.idle(process());
  const waited = await waitFor(needs.clock, state, {
    milliseconds: input.wait_ms,
    signal: options.signal,
    isOver: () => repeated || hasNews(reading) || hasEnded(process() ?? { status: 'finished' }),
    onTick: (milliseconds) => {
      options.onProgress?.({ done: milliseconds, message: `waiting for messages of ${owner.agent}` });
      needs.touch(process());
    },
  });
  if (waited === 'cancelled') return cancelled();
  const messages = select(reading);
  const marked = input.mark_as_read ? await mark(needs, reading, messages) : 0;
  return ok({
    thread_id: reading.thread,
    messages: messages.map(onTheWire),
    summary: { total_fetched: messages.length, marked_as_read: marked },
  });
}

const isTo = ({ reader }: Reading, message: ThreadMessage): boolean => sameParty(message.to, reader);

/** Not read, or read by an earlier life of this very call. */
const isUnread = ({ step }: Reading, { readAt, markedIn }: ThreadMessage): boolean => readAt === null || markedIn === step;

const isNewer = ({ input: { since } }: Reading, { createdAt }: ThreadMessage): boolean =>
  since === undefined || createdAt > since;

function hasNews(reading: Reading): boolean {
  const { state, thread, reader, input } = reading;
  const { unread } = state.threads.summary(thread, reader);
  if (unread === 0 || input.since === undefined) return unread > 0;
  const isNews = (message: ThreadMessage): boolean =>
    message.readAt === null && isTo(reading, message) && isNewer(reading, message);
  return state.threads.messages(thread).findLast(isNews) !== undefined;
}

/** From the newest backwards, as many as were asked for; then in the order in which they were sent. */
function select(reading: Reading): readonly ThreadMessage[] {
  const { state, thread, input } = reading;
  const all = state.threads.messages(thread);
  const found: ThreadMessage[] = [];
  for (let index = all.length - 1; index >= 0 && found.length < input.last_n; index -= 1) {
    const message = all[index];
    if (message === undefined || !isNewer(reading, message)) continue;
    if (!input.unread_only || (isTo(reading, message) && isUnread(reading, message))) found.push(message);
  }
  return found.reverse();
}

/** How many of them this call has marked. All are submitted at once, so they are committed together. */
async function mark({ ledger, clock }: ServiceNeeds, reading: Reading, messages: readonly ThreadMessage[]): Promise<number> {
  const { access, state, step, reader, thread } = reading;
  const { run, session } = access.owner;
  const mine = messages.filter((message) => isTo(reading, message));
  const outcomes = await Promise.all(
    mine.map(async (message) => {
      if (message.readAt !== null) return message.markedIn === step;
      const payload = { message: message.id, thread, reader };
      const actor = actorOf(access.caller);
      const event: NewEvent = { type: 'message.read', run, actor, cause: message.event, step, payload, at: clock.now() };
      const counters = [{ name: `read/${message.id}`, add: 1, max: 1 }];
      return (await ledger.append({ session, fence: null, events: [event], counters })).kind === 'appended';
    }),
  );
  await state.refresh();
  return outcomes.filter(Boolean).length;
}

function onTheWire({ id, from, to, content, createdAt, readAt, verification }: ThreadMessage): ReceiveOutput['messages'][number] {
  return {
    id,
    from_assistant_id: from.assistant,
    to_assistant_id: to.assistant,
    content,
    created_at: createdAt,
    read_at: readAt,
    ...present({ verification }),
  };
}
