/**
 * The events of all sessions in the one order of the ledger, as the bytes that streams are made of. Whoever sees everything asks
 * the same question as everybody else who does, and it is answered once.
 *
 * A cursor says where an event stands and, in a few signs of a hash, which one it is: one of another ledger does not fit.
 */
import { createHash } from 'node:crypto';
import { type EventId, eventId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { createRecentlyUsed } from '../../base/recently-used.ts';
import type { EventType } from '../../events/catalogue.ts';
import { feedEvents } from '../../ledger/pages.ts';
import type { FeedEntry, FeedPlace, Ledger } from '../../ledger/port.ts';
import { encodedEvent, frame, type PayloadForm } from './encoded-events.ts';

type Reading = Pick<Ledger, 'read' | 'feed'>;

/** Some of what follows a place. */
export interface FeedFrames {
  /** Of the last that was looked at, told or not. */
  readonly place: FeedPlace;
  readonly cursor: string;
  /** One frame with all of them, and a frame for each; `undefined` when nothing of it is told. */
  readonly batch?: Uint8Array | undefined;
  readonly singles?: Uint8Array | undefined;
}

export interface FeedQuestion {
  readonly after: FeedPlace | undefined;
  readonly form: PayloadForm;
  /** All types without it. */
  readonly types?: readonly EventType[] | undefined;
  /** Whose sessions; everybody's without it. */
  sees?(entry: FeedEntry): Promise<boolean>;
}

export interface EncodedFeed {
  /** `nothing` yet, or `pending`: something comes in a moment. */
  page(question: FeedQuestion): Promise<FeedFrames | 'nothing' | 'pending'>;
}

export function createEncodedFeed(ledger: Reading): EncodedFeed {
  const kept = createRecentlyUsed<string, FeedFrames>(limits.streamPagesKept);
  const reading = new Map<string, ReturnType<EncodedFeed['page']>>();
  return {
    async page(question) {
      if (question.sees !== undefined) return await readPage(ledger, question);
      const key = JSON.stringify([question.after, question.form, question.types]);
      const known = kept.get(key) ?? reading.get(key);
      if (known !== undefined) return await known;
      const read = readPage(ledger, question).finally(() => reading.delete(key));
      reading.set(key, read);
      const page = await read;
      if (typeof page !== 'string') kept.set(key, page);
      return page;
    },
  };
}

async function readPage(
  ledger: Reading,
  { after, form, types, sees }: FeedQuestion,
): Promise<FeedFrames | 'nothing' | 'pending'> {
  const { entries, pending } = await ledger.feed({ after, limit: limits.streamBatchEvents });
  const source = feedEvents(ledger, entries);
  const told: { readonly cursor: string; readonly text: string }[] = [];
  let [last, bytes] = [entries[0], 0];
  for (const entry of entries) {
    const isTold = (types === undefined || types.includes(entry.type)) && ((await sees?.(entry)) ?? true);
    const event = isTold ? await source(entry) : undefined;
    const text = event === undefined ? '' : encodedEvent(event, form);
    if (told.length > 0 && bytes + text.length > limits.streamBatchBytes) break;
    last = entry;
    bytes += text.length;
    if (text !== '') told.push({ cursor: cursorOf(entry), text });
  }
  if (last === undefined) return pending ? 'pending' : 'nothing';
  const at = { place: last.place, cursor: cursorOf(last) };
  if (told.length === 0) return at;
  const texts = told.map(({ text }) => text);
  const singles = told.map(({ cursor, text }) => frame('event', cursor, text));
  return {
    ...at,
    batch: Buffer.from(frame('events', at.cursor, `[${texts.join(',')}]`)),
    singles: Buffer.from(singles.join('')),
  };
}

const MARK_SIGNS = 12;

export function cursorOf({ place, session, position }: FeedEntry): string {
  return `${place}.${markOf(eventId(session, position))}`;
}

const markOf = (event: EventId): string => createHash('sha256').update(event).digest('hex').slice(0, MARK_SIGNS);

/** Where a cursor stands: `foreign` when it is not of this ledger, `undefined` when it is none. */
export async function placeOf(ledger: Reading, text: string): Promise<FeedPlace | 'foreign' | undefined> {
  const [, place] = /^([\d-]{1,40})\.[0-9a-f]{12}$/.exec(text) ?? [];
  if (place === undefined) return undefined;
  const [entry] = (await ledger.feed({ after: place, inclusive: true, limit: 1 })).entries;
  return entry !== undefined && cursorOf(entry) === text ? place : 'foreign';
}

/** Where the order of all ends now; `undefined` when there is nothing in it. */
export async function feedHead(ledger: Reading): Promise<FeedEntry | undefined> {
  return (await ledger.feed({ newest: true, limit: 1 })).entries[0];
}
