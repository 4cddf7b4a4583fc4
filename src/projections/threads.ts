/**
 * The threads of one session: their messages in order, and who has read what. A message counts as read from
 * the first of two receipts on: a model request of its reader contains it, or its reader fetched and marked it.
 *
 * Folded event by event. Counts are kept while folding, so asking how things stand costs the same however long a thread is.
 */
import type { EventId } from '../base/ids.ts';
import type { Party } from '../events/assistants.ts';
import type { EventType, Payloads } from '../events/catalogue.ts';
import type { EventOf, LedgerEvent } from '../events/envelope.ts';

export interface ThreadMessage {
  readonly id: string;
  readonly from: Party;
  readonly to: Party;
  readonly content: string;
  readonly kind: Payloads['message.sent']['kind'];
  readonly verification: Payloads['message.sent']['verification'];
  readonly createdAt: number;
  readonly readAt: number | null;
  /** The model request that carried it to its reader. */
  readonly includedIn: string | null;
  /** The step that marked it as read: tells which call it was. */
  readonly markedIn: string | null;
  /** The event that holds it. */
  readonly event: EventId;
}

/** How a thread stands for one reader. */
export interface ThreadSummary {
  readonly total: number;
  /** Messages to this reader, and those of them that it has not read. */
  readonly received: number;
  readonly unread: number;
  readonly lastAt: number | null;
  /** Since when the reader has something to read: its lag. */
  readonly oldestUnreadAt: number | null;
}

export interface SessionThreads {
  apply(event: LedgerEvent): void;
  /** In the order in which they were sent. */
  messages(thread: string): readonly ThreadMessage[];
  summary(thread: string, reader: Party): ThreadSummary;
  /** Roughly what the messages take up, in characters. */
  size(): number;
}

/** What has to be read to know the threads. */
export const threadTypes = ['message.sent', 'message.included', 'message.read'] as const satisfies readonly EventType[];

type Stored = { -readonly [Key in keyof ThreadMessage]: ThreadMessage[Key] };

interface Shelf {
  readonly messages: Stored[];
  unread: number;
  /** Everything before it has been read. */
  first: number;
}

interface Thread {
  readonly messages: Stored[];
  readonly shelves: Map<string, Shelf>;
}

/** Whether both are the same run, or the same client. A client cannot pass for a run by taking its name. */
export const sameParty = (left: Party, right: Party): boolean => keyOf(left) === keyOf(right);

export function createSessionThreads(): SessionThreads {
  const threads = new Map<string, Thread>();
  const places = new Map<string, { readonly message: Stored; readonly shelf: Shelf }>();
  let size = 0;

  const receive = (event: EventOf<'message.sent'>): void => {
    const { message: id, thread: name, to } = event.payload;
    if (places.has(id)) return;
    const message = stored(event);
    const thread = threads.get(name) ?? { messages: [], shelves: new Map<string, Shelf>() };
    threads.set(name, thread);
    const shelf = thread.shelves.get(keyOf(to)) ?? { messages: [], unread: 0, first: 0 };
    thread.shelves.set(keyOf(to), shelf);
    thread.messages.push(message);
    shelf.messages.push(message);
    shelf.unread += 1;
    places.set(id, { message, shelf });
    size += message.content.length;
  };

  const note = (id: string, at: number, change: (message: Stored) => void): void => {
    const place = places.get(id);
    if (place === undefined) return;
    change(place.message);
    if (place.message.readAt !== null) return;
    place.message.readAt = at;
    place.shelf.unread -= 1;
  };

  return {
    apply(event) {
      if (event.event_type === 'message.sent') receive(event);
      else if (event.event_type === 'message.included')
        note(event.payload.message, Date.parse(event.timestamp), (message) => {
          message.includedIn ??= event.payload.request;
        });
      else if (event.event_type === 'message.read') {
        // Anybody may append this one: only the word of the one it was sent to counts.
        const addressee = places.get(event.payload.message)?.message.to;
        if (addressee === undefined || !sameParty(addressee, event.payload.reader)) return;
        note(event.payload.message, Date.parse(event.timestamp), (message) => {
          message.markedIn ??= event.step;
        });
      }
    },
    messages: (thread) => threads.get(thread)?.messages ?? [],
    summary(name, reader) {
      const thread = threads.get(name);
      const shelf = thread?.shelves.get(keyOf(reader));
      return {
        total: thread?.messages.length ?? 0,
        received: shelf?.messages.length ?? 0,
        unread: shelf?.unread ?? 0,
        lastAt: thread?.messages.at(-1)?.createdAt ?? null,
        oldestUnreadAt: shelf === undefined ? null : oldestUnread(shelf),
      };
    },
    size: () => size,
  };
}

/** Each message is passed over once, whoever asks how often. */
function oldestUnread(shelf: Shelf): number | null {
  while (shelf.first < shelf.messages.length && shelf.messages[shelf.first]?.readAt !== null) shelf.first += 1;
  return shelf.messages[shelf.first]?.createdAt ?? null;
}

const keyOf = ({ run, assistant }: Party): string => (run === undefined ? `client ${assistant}` : `run ${run}`);

function stored(event: EventOf<'message.sent'>): Stored {
  const { message, from, to, content, kind, verification } = event.payload;
  return {
    id: message,
    from,
    to,
    content,
    kind,
    verification,
    createdAt: Date.parse(event.timestamp),
    readAt: null,
    includedIn: null,
    markedIn: null,
    event: event.event_id,
  };
}
