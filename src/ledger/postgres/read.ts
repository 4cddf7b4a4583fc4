/** Reading: events page by page, payloads by reference, counters, and how large everything is. */
import { TroupeError } from '../../base/errors.ts';
import type { PayloadRef, SessionId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import type { EventType } from '../../events/catalogue.ts';
import type { BlobStore } from '../blobs/store.ts';
import type { FeedEntry, FeedPage, FeedQuery, Ledger, LedgerStats, ReadQuery } from '../port.ts';
import { bytes, hex, integer, type Row, text } from '../rows.ts';
import { payloadRef } from '../rules/chain.ts';
import { assembledEvents, storedEvent } from '../rules/read-events.ts';
import { payloadPlace, type StoredEvent } from '../rules/stored-event.ts';
import type { Protection } from '../seals/protection.ts';
import type { VerifySource } from '../verify.ts';
import { readPostgresSnapshot } from './check.ts';
import type { Database, Statement } from './connection.ts';
import { readGoneEvent } from './keeping.ts';

/** Large payloads are fetched one by one, however many are on a page. */
const SELECT_EVENTS = `
SELECT event.position, run.name AS run, event.parent, event.at, event.actor, event.tool, event.type, event.step, event.version,
       event.chain, event.payload AS ref, event.attachment, payload.place,
       CASE WHEN payload.bytes <= ${limits.payloadInlineBytes} THEN payload.body END AS body
FROM event JOIN run ON run.id = event.run LEFT JOIN payload ON payload.ref = event.payload
WHERE event.session = (SELECT id FROM session WHERE name = $1) AND event.position > $2`;
/** A run's events cannot come before its first one: the scan starts there, however long the session is. */
const OF_RUN = (value: string): string => ` AND event.run = (SELECT id FROM run WHERE name = ${value})
AND event.position >= (SELECT first FROM run WHERE name = ${value})`;
const OF_TREE = (value: string): string => ` AND event.position >= (SELECT first FROM run WHERE name = ${value})
AND event.run IN (SELECT id FROM run WHERE root = (SELECT id FROM run WHERE name = ${value}))`;
const OF_TYPES = (value: string): string => ` AND event.type = ANY(${value}::text[])`;
const PAYLOAD: Statement = { name: 'troupe-payload', text: 'SELECT place, body FROM payload WHERE ref = $1' };
const HELD: Statement = {
  name: 'troupe-held',
  text: `SELECT ref FROM payload WHERE ref = ANY($1::bytea[]) AND place <> ${payloadPlace.gone}`,
};
const COUNTER: Statement = { name: 'troupe-counter', text: 'SELECT value FROM counter WHERE name = $1' };
const INBOUND: Statement = { name: 'troupe-last-inbound', text: 'SELECT inbound FROM session WHERE name = $1' };
const SIZES: Statement = {
  name: 'troupe-sizes',
  text: `SELECT (SELECT count(*) FROM session WHERE head > 0) AS sessions,
                (SELECT count(*) FROM run WHERE started_at IS NOT NULL) AS runs,
                (SELECT coalesce(sum(head), 0)::bigint FROM session) AS events,
                count(*) AS payloads, coalesce(sum(bytes), 0)::bigint AS payload_bytes,
                coalesce(sum(bytes) FILTER (WHERE place = ${payloadPlace.file}), 0)::bigint AS file_bytes,
                (SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class
                 WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r') AS database_bytes
         FROM payload WHERE place <> ${payloadPlace.gone}`,
};

export interface PostgresReader extends Pick<Ledger, 'read' | 'payload' | 'held' | 'counter' | 'lastInbound' | 'stats'> {
  readonly source: VerifySource;
}

export function createPostgresReader(
  database: Database,
  blobs: BlobStore | undefined,
  protection: Protection | undefined,
): PostgresReader {
  const payload = async (ref: PayloadRef): Promise<Uint8Array | undefined> => {
    const [row] = await database.rows(PAYLOAD, [Buffer.from(ref, 'hex')]);
    if (row === undefined || integer(row, 'place') === payloadPlace.gone) return undefined;
    if (integer(row, 'place') === payloadPlace.inline) return bytes(row, 'body');
    if (blobs === undefined) throw noFolder(database.shown);
    return await blobs.read(ref);
  };
  const stored = async (query: ReadQuery): Promise<readonly StoredEvent[]> => {
    const rows = await database.rows(eventsStatement(query), eventsValues(query));
    return rows.map((row) => storedEvent(query.session, readable(row)));
  };
  const isIntact = async (ref: PayloadRef): Promise<boolean> => {
    const [row] = await database.rows(PAYLOAD, [Buffer.from(ref, 'hex')]);
    if (row !== undefined && integer(row, 'place') === payloadPlace.gone) return true;
    const found = await payload(ref);
    return found !== undefined && payloadRef(found) === ref;
  };
  return {
    payload,
    read: async (query) =>
      assembledEvents(
        await stored(query),
        payload,
        (session, position) => readGoneEvent(database, session, position),
        query.exact === true ? protection : undefined,
      ),
    held: async (refs) => {
      const rows = refs.length === 0 ? [] : await database.rows(HELD, [refs.map((ref) => Buffer.from(ref, 'hex'))]);
      return new Set(rows.map((row) => hex(bytes(row, 'ref')) as PayloadRef));
    },
    counter: async (name) => {
      const [row] = await database.rows(COUNTER, [name]);
      return row === undefined ? 0 : integer(row, 'value');
    },
    lastInbound: async (session) => {
      const [row] = await database.rows(INBOUND, [session]);
      return row === undefined ? 0 : integer(row, 'inbound');
    },
    stats: async () => statsOf((await database.rows(SIZES, []))[0] ?? {}),
    source: {
      stored,
      payload,
      isIntact,
      snapshot: (only) => readPostgresSnapshot(database, only),
    },
  };
}

/** The shape of the question names its statement; what it asks for follows in the same order. */
function eventsStatement({ run, root, types, newest }: ReadQuery): Statement {
  const narrowed = [
    ...(run === undefined ? [] : [{ name: 'run', of: OF_RUN }]),
    ...(root === undefined ? [] : [{ name: 'tree', of: OF_TREE }]),
    ...(types === undefined ? [] : [{ name: 'types', of: OF_TYPES }]),
    ...(newest === true ? [{ name: 'newest', of: () => '' }] : []),
  ];
  const where = narrowed.map(({ of }, index) => of(`$${index + 4}`)).join('');
  const text = `${SELECT_EVENTS}${where} ORDER BY event.position${newest === true ? ' DESC' : ''} LIMIT $3`;
  return { name: ['troupe-events', ...narrowed.map(({ name }) => name)].join('-'), text };
}

function eventsValues({ session, after, limit, run, root, types }: ReadQuery): unknown[] {
  const most = Math.max(0, limit ?? limits.readPageEvents);
  return [session, after ?? 0, most, ...[run, root, types].filter((value) => value !== undefined)];
}

/** A payload that is missing altogether is found missing when it is read, as a missing file is. */
function readable(row: Row): Row {
  const { body } = row;
  return {
    ...row,
    place: row['place'] ?? payloadPlace.file,
    body: body instanceof Uint8Array ? Buffer.from(body).toString() : null,
  };
}

function statsOf(row: Row): LedgerStats {
  return {
    sessions: integer(row, 'sessions'),
    runs: integer(row, 'runs'),
    events: integer(row, 'events'),
    payloads: integer(row, 'payloads'),
    payloadBytes: integer(row, 'payload_bytes'),
    fileBytes: integer(row, 'file_bytes'),
    databaseBytes: integer(row, 'database_bytes'),
  };
}

function noFolder(shown: string): TroupeError {
  return new TroupeError(
    'ledger_payloads',
    `A payload of this ledger is in a shared folder or bucket that is not named here: ${shown}`,
    {
      fix: 'Add ?payloads=/the/shared/folder or ?payloads=s3://bucket/prefix to the address, the same on every machine.',
    },
  );
}

/** The order of all events (`schema.ts` says why a place has two numbers). */
const SETTLED = 'feed.written < pg_snapshot_xmin(pg_current_snapshot())';
const statement = (name: string, compare: '>' | '>=', direction: '' | ' DESC'): Statement => ({
  name: `troupe-feed-${name}`,
  text: `SELECT feed.written::text AS written, feed.id, session.name AS session, feed.position, event.type
FROM feed JOIN session ON session.id = feed.session
JOIN event ON event.session = feed.session AND event.position = feed.position
WHERE (feed.written, feed.id) ${compare} ($1::xid8, $2::bigint) AND ${SETTLED}
ORDER BY feed.written${direction}, feed.id${direction} LIMIT $3`,
});
const NEXT = statement('next', '>', '');
const FROM = statement('from', '>=', '');
const NEWEST = statement('newest', '>', ' DESC');
const PENDING: Statement = {
  name: 'troupe-feed-pending',
  text: `SELECT EXISTS (
  SELECT 1 FROM feed WHERE NOT ${SETTLED} AND written < pg_snapshot_xmax(pg_current_snapshot())
) AS pending`,
};
/** Of a copy of a database on another server: its transactions have numbers that this one has not reached. They come first. */
const SETTLE: Statement = {
  name: 'troupe-feed-settle',
  text: "UPDATE feed SET written = '0' WHERE written >= pg_snapshot_xmax(pg_current_snapshot())",
};

const PLACE = /^(\d{1,19})-(\d{1,15})$/;

export async function readPostgresFeed(
  database: Database,
  { after = '0-0', inclusive = false, newest = false, limit }: FeedQuery,
): Promise<FeedPage> {
  const [, written, id] = PLACE.exec(after) ?? [];
  if (written === undefined || id === undefined) return { entries: [], pending: false };
  const rows = await database.rows(newest ? NEWEST : inclusive ? FROM : NEXT, [written, id, limit]);
  if (rows.length === limit) return { entries: rows.map(entryOf), pending: false };
  const [found] = await database.rows(PENDING, []);
  return { entries: rows.map(entryOf), pending: found?.['pending'] === true };
}

export async function settlePostgresFeed(database: Database): Promise<void> {
  await database.transaction(async (connection) => void (await connection.query(SETTLE)));
}

function entryOf(row: Row): FeedEntry {
  return {
    place: `${text(row, 'written')}-${integer(row, 'id')}`,
    session: text(row, 'session') as SessionId,
    position: integer(row, 'position'),
    type: text(row, 'type') as EventType,
  };
}
