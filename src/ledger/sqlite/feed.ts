/** The order of all events, as the file has it: numbers that only grow, one for each event. */
import type { DatabaseSync } from 'node:sqlite';
import type { SessionId } from '../../base/ids.ts';
import type { EventType } from '../../events/catalogue.ts';
import type { FeedEntry, Ledger } from '../port.ts';
import { integer, type Row, text } from '../rows.ts';
import { hasFeed } from './schema.ts';

const SELECT_FEED = `
SELECT feed.id, session.name AS session, feed.position, event.type
FROM feed JOIN session ON session.id = feed.session
JOIN event ON event.session = feed.session AND event.position = feed.position `;
const NEXT = `${SELECT_FEED} WHERE feed.id > ? ORDER BY feed.id LIMIT ? + 0`;
const NEWEST = `${SELECT_FEED} WHERE feed.id > ? ORDER BY feed.id DESC LIMIT ? + 0`;

const PLACE = /^\d{1,15}$/;

export function createFeed(database: DatabaseSync): Ledger['feed'] {
  return async ({ after = '0', inclusive = false, newest = false, limit }) => {
    if (!PLACE.test(after) || !hasFeed(database)) return { entries: [], pending: false };
    const rows = database.prepare(newest ? NEWEST : NEXT).all(Number(after) - (inclusive ? 1 : 0), limit);
    return { entries: rows.map(entryOf), pending: false };
  };
}

function entryOf(row: Row): FeedEntry {
  return {
    place: String(integer(row, 'id')),
    session: text(row, 'session') as SessionId,
    position: integer(row, 'position'),
    type: text(row, 'type') as EventType,
  };
}
