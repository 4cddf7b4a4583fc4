/**
 * The messages of a driven session that its runs have not heard yet. Heard means that a recorded model request of the reader
 * contains it, or that the reader fetched it and marked it as read. All of it is a fold of events.
 */
import type { RunId } from '../../base/ids.ts';
import type { Payloads } from '../../events/catalogue.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import type { BroadcastReference } from '../record/said-by-others.ts';

export interface SentMessage {
  /** The run that owns the thread, and the step of the event. */
  readonly run: string;
  readonly step: string;
  readonly payload: Payloads['message.sent'];
  readonly at: string;
}

export interface UnheardMessages {
  apply(event: LedgerEvent): void;
  find(reference: BroadcastReference): SentMessage | undefined;
  /** What the run has not heard, oldest first. */
  unheard(reader: RunId): readonly SentMessage[];
  heard(message: string): void;
}

export function createUnheardMessages(): UnheardMessages {
  const sentMessages = new Map<string, SentMessage>();
  const heardOf = new Set<string>();
  const waiting = new Map<string, Map<string, SentMessage>>();

  const heard = (message: string): void => {
    heardOf.add(message);
    for (const sentMessages of waiting.values()) sentMessages.delete(message);
  };
  const receive = (sent: SentMessage): void => {
    const { message, to } = sent.payload;
    sentMessages.set(`${sent.run} ${sent.step}`, sent);
    if (to.run === undefined || heardOf.has(message)) return;
    const mine = waiting.get(to.run) ?? new Map<string, SentMessage>();
    waiting.set(to.run, mine.set(message, sent));
  };
  return {
    // What was heard in this life is carried by the request that was just written: nobody looks it up again.
    heard(message) {
      for (const [key, sent] of sentMessages) if (sent.payload.message === message) sentMessages.delete(key);
      heard(message);
    },
    find: ({ run, step }) => sentMessages.get(`${run} ${step}`),
    unheard: (reader) => [...(waiting.get(reader)?.values() ?? [])],
    apply(event) {
      if (event.event_type === 'message.sent')
        receive({ run: event.run_id, step: event.step ?? '', payload: event.payload, at: event.timestamp });
      else if (event.event_type === 'message.included') heard(event.payload.message);
      // Anybody may append this one: only the word of the one it was sent to counts.
      else if (event.event_type === 'message.read' && event.payload.reader.run !== undefined)
        waiting.get(event.payload.reader.run)?.delete(event.payload.message);
    },
  };
}
