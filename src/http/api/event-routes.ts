/** The ledger itself: pages of it, streams of it, and payloads by their hashes. */
import { z } from 'zod';
import type { Clock } from '../../base/clock.ts';
import { eventPosition, type PayloadRef, type SessionId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import { type EventType, isEventType } from '../../events/catalogue.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import { createSight, findVisibleSession, type Seer } from '../../front/sight.ts';
import type { FeedEntry, Ledger } from '../../ledger/port.ts';
import { createEncodedEvents, encodedEvent, payloadForms } from '../stream/encoded-events.ts';
import { createEncodedFeed, cursorOf, feedHead, placeOf } from '../stream/encoded-feed.ts';
import { feedFrames } from '../stream/feed-stream.ts';
import type { OpenStreams } from '../stream/open-streams.ts';
import { type Deltas, sessionFrames, sessionHead } from '../stream/session-stream.ts';
import { invalid, notFound, type Refusal } from './refusals.ts';
import { defineRoute, type Route, type RouteRequest } from './route.ts';

export interface EventNeeds {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly streams: OpenStreams;
  /** What is being said in a session while somebody follows it. */
  deltas?(session: SessionId): Deltas & { close(): void };
}

const cursor = z.string().max(100).describe('a position, or the id of an event: what follows it is told');
const payloads = z
  .enum(payloadForms)
  .default('small')
  .describe('which payloads come along; the others are fetched by their payload_ref');
const pageQuery = z.strictObject({
  after: cursor.default('0'),
  limit: z.coerce.number().int().min(1).max(limits.readPageEvents).default(limits.streamBatchEvents),
  payloads,
});
const streamQuery = z.strictObject({ after: cursor.optional(), payloads, deltas: z.enum(['yes', 'no']).default('yes') });

const envelope = z.looseObject({
  event_id: z.string(),
  parent_event_id: z.string().nullable(),
  session_id: z.string(),
  run_id: z.string(),
  timestamp: z.string(),
  actor: z.string(),
  tool: z.string().nullable(),
  event_type: z.string(),
  payload_ref: z.string(),
  attachment_ref: z.string().nullable(),
  step: z.string().nullable(),
  schema_version: z.number().int(),
  position: z.number().int(),
  payload: z.unknown().optional().describe('as docs/events.md has it; left out where it is too large to come along'),
});
const eventPage = z.object({ events: z.array(envelope), head: z.number().int().describe('where the session ends now') });

const group = 'Events';

export function eventRoutes(needs: EventNeeds): readonly Route[] {
  return [pageRoute(needs), streamRoute(needs), feedRoute(needs), payloadRoute(needs)];
}

function pageRoute({ ledger }: EventNeeds): Route {
  return defineRoute({
    ...{ method: 'GET', path: '/sessions/{session}/events', group, deed: 'look', query: pageQuery, answer: eventPage },
    summary: 'Events of a session in their order, page by page.',
    handle: async (asked) => {
      const place = await placeIn(ledger, asked, asked.query.after);
      if (!place.ok) return place;
      const { session, after, head } = place.value;
      const events = await ledger.read({ session, after, limit: asked.query.limit });
      const texts = events.map((event) => encodedEvent(event, asked.query.payloads));
      const body = `{"events":[${texts.join(',')}],"head":${Math.max(head, events.at(-1)?.position ?? 0)}}`;
      return ok({ kind: 'response', response: new Response(body, { headers: { 'content-type': 'application/json' } }) });
    },
  });
}

function streamRoute(needs: EventNeeds): Route {
  const { ledger, clock, streams } = needs;
  const events = createEncodedEvents(ledger);
  return defineRoute({
    ...{ method: 'GET', path: '/sessions/{session}/stream', group, deed: 'look', query: streamQuery, answer: 'stream' },
    summary: 'The same as server-sent events, and then what comes, for as long as somebody listens.',
    handle: async (asked) => {
      const { caller, query, connection } = asked;
      const place = await placeIn(ledger, asked, asked.header('last-event-id') ?? query.after ?? '0');
      if (!place.ok) return place;
      const { session, after } = place.value;
      const deltas = query.deltas === 'yes' ? needs.deltas?.(session) : undefined;
      const response = streams.open({
        ...{ caller: caller.name, cut: connection.cut, ended: () => deltas?.close() },
        stays: async () => asked.isStillIn() && (await stillSees(ledger, caller, session)),
        frames: (signal) => sessionFrames({ events, ledger, clock, session, after, form: query.payloads, signal, deltas }),
      });
      if (response !== undefined) return ok({ kind: 'response', response });
      deltas?.close();
      return fail(tooMany);
    },
  });
}

/** A session is seen whole or not at all: with what somebody else begins in it the rest is over. */
const stillSees = async (ledger: Ledger, seer: Seer, session: SessionId): Promise<boolean> =>
  seer.sees === 'everything' || (await findVisibleSession(ledger, seer, session)) !== undefined;

const feedQuery = z.strictObject({
  after: z
    .string()
    .max(60)
    .optional()
    .describe('the id of a frame: what follows it is told; `0` (the default) for everything, `now` for what comes'),
  payloads,
  types: z.string().max(2_000).optional().describe('only events of these types, with commas between them'),
});

function feedRoute({ ledger, clock, streams }: EventNeeds): Route {
  const feed = createEncodedFeed(ledger);
  return defineRoute({
    ...{ method: 'GET', path: '/stream', group, deed: 'look', query: feedQuery, answer: 'stream' },
    summary: 'The events of all sessions that one may see, in the one order of the ledger, and then what comes.',
    handle: async ({ caller, query, connection, header, isStillIn }) => {
      const types = query.types?.split(',');
      const unknown = types?.find((type) => !isEventType(type));
      if (unknown !== undefined) return fail(invalid(`${unknown} is no type of event.`, 'docs/events.md has them all.'));
      const head = await feedHead(ledger);
      const text = header('last-event-id') ?? query.after ?? '0';
      const place = text === '0' ? 'beginning' : text === 'now' ? (head?.place ?? 'beginning') : await placeOf(ledger, text);
      if (place === undefined) return fail(invalid('after is the id of a frame, 0 or now.'));
      if (place === 'foreign') return fail(foreignFeed(head));
      const after = place === 'beginning' ? undefined : place;
      const sees = createSight(ledger, caller);
      const question = { after, form: query.payloads, types: types as readonly EventType[] | undefined, ...present({ sees }) };
      const response = streams.open({
        ...{ caller: caller.name, cut: connection.cut, stays: async () => isStillIn() },
        frames: (signal) => feedFrames({ ...question, feed, ledger, clock, head, signal }),
      });
      return response === undefined ? fail(tooMany) : ok({ kind: 'response', response });
    },
  });
}

const foreignFeed = (head: FeedEntry | undefined): Refusal => ({
  status: 409,
  code: 'foreign_cursor',
  message: 'This cursor is not of this ledger.',
  fix: 'Begin anew without a cursor.',
  details: { head: head === undefined ? '0' : cursorOf(head) },
});

const tooMany: Refusal = {
  status: 429,
  code: 'too_many_streams',
  message: `${limits.streamsPerCaller} streams are open for this caller (limit streamsPerCaller).`,
  fix: 'Close one of them first.',
};

interface Place {
  readonly session: SessionId;
  readonly after: number;
  readonly head: number;
}

/** A cursor that is not of this session is refused: whoever has one would believe that nothing is missing. */
async function placeIn(ledger: Ledger, asked: RouteRequest<unknown, unknown>, text: string): Promise<Result<Place, Refusal>> {
  const session = await findVisibleSession(ledger, asked.caller, asked.param('session'));
  if (session === undefined) return fail(notFound('such session'));
  const after = positionIn(session, text);
  if (after === undefined) return fail(invalid('after is a position or the id of an event.'));
  const head = await sessionHead(ledger, session);
  return after === 'foreign' || after > head ? fail(foreignCursor(session, head)) : ok({ session, after, head });
}

function positionIn(session: SessionId, text: string): number | 'foreign' | undefined {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  const position = eventPosition(text);
  return position === undefined || text.startsWith(`${session}.`) ? position : 'foreign';
}

const foreignCursor = (session: SessionId, head: number): Refusal => ({
  status: 409,
  code: 'foreign_cursor',
  message: `This cursor is not of session ${session}, which ends at ${head}.`,
  fix: 'Begin anew without a cursor.',
  details: { head },
});

const REF = /^[0-9a-f]{64}$/;

function payloadRoute({ ledger }: EventNeeds): Route {
  return defineRoute({
    ...{ method: 'GET', path: '/sessions/{session}/payloads/{ref}', group, deed: 'look', answer: 'bytes' },
    summary: 'The bytes behind a payload_ref or an attachment_ref of an event of the session. They never change.',
    query: z.strictObject({ at: z.coerce.number().int().positive().describe('the position of an event that names it') }),
    handle: async (asked) => {
      const [session, ref] = [await findVisibleSession(ledger, asked.caller, asked.param('session')), asked.param('ref')];
      if (session === undefined || !REF.test(ref)) return fail(notFound('such payload'));
      const [event] = await ledger.read({ session, after: asked.query.at - 1, limit: 1 });
      const kind = event?.position === asked.query.at ? namedAs(event, ref) : undefined;
      if (event === undefined || kind === undefined) return fail(notFound('such payload'));
      const etag = `"${ref}"`;
      const headers = { etag, 'cache-control': 'private, max-age=31536000, immutable', ...TYPES[kind] };
      if (asked.header('if-none-match')?.includes(etag) === true)
        return ok({ kind: 'response', response: new Response(null, { status: 304, headers }) });
      // As it is read: what is sealed in it is for nobody outside.
      if (kind === 'payload') return ok({ kind: 'response', response: new Response(JSON.stringify(event.payload), { headers }) });
      const bytes = await ledger.payload(ref as PayloadRef);
      if (bytes === undefined) return fail({ ...notFound('such payload any more: it was collected'), status: 410 });
      return ok({ kind: 'response', response: new Response(Uint8Array.from(bytes), { headers }) });
    },
  });
}

/** What an agent or a tool wrote is never shown by a browser as a page. */
const TYPES = {
  payload: { 'content-type': 'application/json' },
  attachment: { 'content-type': 'application/octet-stream', 'content-disposition': 'attachment' },
} as const;

/** Nothing when the event does not name it: a hash alone opens no door. */
function namedAs({ payload_ref, attachment_ref }: LedgerEvent, ref: string): keyof typeof TYPES | undefined {
  if (payload_ref === ref) return 'payload';
  return attachment_ref === ref ? 'attachment' : undefined;
}
