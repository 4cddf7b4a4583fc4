/** The order of all events, as the server has it (`schema.ts` says why a place has two numbers). */
import type { SessionId } from '../../base/ids.ts';
import type { EventType } from '../../events/catalogue.ts';
import type { FeedEntry, FeedPage, FeedQuery } from '../port.ts';
import { integer, type Row, text } from '../rows.ts';
import type { Database, Statement } from './connection.ts';

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
  text: `SELECT EXISTS (SELECT 1 FROM feed WHERE NOT ${SETTLED} AND written < pg_snapshot_xmax(pg_current_snapshot())) AS pending`,
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
