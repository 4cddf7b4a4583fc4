/**
 * Events as the bytes that streams are made of, read and encoded once however many follow: those at the end of a session all ask
 * the same question at the same moment. What is kept is bounded, and is never wrong later: events do not change.
 */
import type { SessionId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { createRecentlyUsed } from '../../base/recently-used.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import type { Ledger } from '../../ledger/port.ts';

/** Which payloads come with their events; the others are fetched by their hashes. */
export const payloadForms = ['none', 'small', 'all'] as const;
export type PayloadForm = (typeof payloadForms)[number];

/** Some events that follow each other. */
export interface EncodedPage {
  /** Of the last of them. */
  readonly position: number;
  /** One frame with all of them, and a frame for each. */
  readonly batch: Uint8Array;
  readonly singles: Uint8Array;
}

export interface EncodedEvents {
  /** What follows this position, as much as one frame holds; `undefined` when that is nothing yet. */
  page(session: SessionId, after: number, form: PayloadForm): Promise<EncodedPage | undefined>;
}

export function createEncodedEvents(ledger: Pick<Ledger, 'read'>): EncodedEvents {
  const kept = createRecentlyUsed<string, EncodedPage>(limits.streamPagesKept);
  const reading = new Map<string, Promise<EncodedPage | undefined>>();
  return {
    async page(session, after, form) {
      const key = `${session} ${after} ${form}`;
      const known = kept.get(key) ?? reading.get(key);
      if (known !== undefined) return await known;
      const read = readPage(ledger, session, after, form).finally(() => reading.delete(key));
      reading.set(key, read);
      const page = await read;
      if (page !== undefined) kept.set(key, page);
      return page;
    },
  };
}

/** The event as every answer has it: the same bytes whenever it is asked for. */
export function encodedEvent({ payload, ...envelope }: LedgerEvent, form: PayloadForm): string {
  if (form === 'none') return JSON.stringify(envelope);
  const whole = JSON.stringify({ ...envelope, payload });
  if (form === 'all' || whole.length <= limits.streamPayloadBytes) return whole;
  return JSON.stringify(envelope);
}

async function readPage(
  ledger: Pick<Ledger, 'read'>,
  session: SessionId,
  after: number,
  form: PayloadForm,
): Promise<EncodedPage | undefined> {
  const texts: string[] = [];
  const singles: string[] = [];
  let [position, bytes] = [after, 0];
  // A few at a time: large payloads are in memory only for as long as they are looked at.
  for (let more = true; more && texts.length < limits.streamBatchEvents && bytes < limits.streamBatchBytes; ) {
    const events = await ledger.read({ session, after: position, limit: limits.streamReadEvents });
    more = events.length === limits.streamReadEvents;
    for (const event of events) {
      const text = encodedEvent(event, form);
      if (texts.length > 0 && bytes + text.length > limits.streamBatchBytes) {
        more = false;
        break;
      }
      position = event.position;
      bytes += text.length;
      texts.push(text);
      singles.push(frame('event', event.event_id, text));
    }
  }
  if (texts.length === 0) return undefined;
  const batch = frame('events', `${session}.${position}`, `[${texts.join(',')}]`);
  return { position, batch: Buffer.from(batch), singles: Buffer.from(singles.join('')) };
}

/** JSON has no line breaks of its own, so what is carried is one line. */
export const frame = (name: string, id: string, data: string): string => `event: ${name}\nid: ${id}\ndata: ${data}\n\n`;
