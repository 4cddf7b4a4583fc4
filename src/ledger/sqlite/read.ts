/** Reading: events page by page, payloads by reference, counters, and how large everything is. */

import { statSync } from 'node:fs';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { PayloadRef, SessionId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import type { PayloadFiles } from '../blobs/payload-files.ts';
import { type GoneEvent, goneOf } from '../forgetting/rows.ts';
import type { LedgerStats, ReadQuery } from '../port.ts';
import { integer, text } from '../rows.ts';
import { payloadRef } from '../rules/chain.ts';
import { assembledEvents, storedEvent } from '../rules/read-events.ts';
import { payloadPlace, type StoredEvent } from '../rules/stored-event.ts';
import type { Protection } from '../seals/protection.ts';
import type { Snapshot } from '../verify.ts';
import { readSnapshot } from './check.ts';

export interface Reader {
  read(query: ReadQuery): Promise<readonly LedgerEvent[]>;
  stored(query: ReadQuery): readonly StoredEvent[];
  payload(ref: PayloadRef): Promise<Uint8Array | undefined>;
  held(refs: readonly PayloadRef[]): Promise<ReadonlySet<PayloadRef>>;
  /** Whether the bytes still have the hash they are named by. Collected ones count as intact. */
  isIntact(ref: PayloadRef): Promise<boolean>;
  counter(name: string): number;
  lastInbound(session: SessionId): number;
  stats(): LedgerStats;
  snapshot(only: SessionId | undefined): Promise<Snapshot>;
}

/**
 * Of a bare number behind LIMIT SQLite makes part of its plan, and so a new plan each time that it is given: as a sum it is just
 * a number.
 */
const AT_MOST = 'LIMIT :limit + 0';

const SELECT_EVENTS = `
SELECT event.position, run.name AS run, event.parent, event.at, event.actor, event.tool, event.type, event.step,
       event.version, event.chain, payload.ref, payload.place, payload.body, attachment.ref AS attachment
FROM event JOIN run ON run.id = event.run LEFT JOIN payload ON payload.id = event.payload
LEFT JOIN payload AS attachment ON attachment.id = event.attachment
WHERE event.position > :after AND `;
const IN_SESSION = 'event.session = (SELECT id FROM session WHERE name = :session)';
/**
 * A run's events cannot come before its first one: the scan starts there, however long the session is. With types, their index
 * is used instead. A plus keeps SQLite from using the other one: it does not know how many events there are of each.
 */
const OF_RUN = ` AND event.run = (SELECT id FROM run WHERE name = :run)`;
const SCAN_RUN = ` AND +event.run = (SELECT id FROM run WHERE name = :run)
AND event.position >= (SELECT first FROM run WHERE name = :run)`;
const TREE = '(SELECT id FROM run WHERE root = (SELECT id FROM run WHERE name = :root))';
const OF_TREE = ` AND event.run IN ${TREE}`;
const SCAN_TREE = ` AND +event.run IN ${TREE} AND event.position >= (SELECT first FROM run WHERE name = :root)`;
const OF_TYPE = ' AND event.type = :type';
const OF_TYPES = ' AND event.type IN (SELECT value FROM json_each(:types))';

/**
 * The newest of several types: of each type only as many are looked at as are asked for, and only those few are read. Left to
 * itself, SQLite reads and sorts every event of these types that the run ever had.
 */
function newestSql(types: readonly string[]): string {
  const ofType = (_type: string, index: number): string => `SELECT position FROM (SELECT position FROM event
WHERE run = (SELECT id FROM run WHERE name = :run) AND type = :type${index} AND position > :after
ORDER BY position DESC ${AT_MOST})`;
  return `${SELECT_EVENTS}${IN_SESSION} AND event.position IN (${types.map(ofType).join(' UNION ALL ')})
ORDER BY event.position DESC ${AT_MOST}`;
}

const isNewestOfRun = ({ run, root, types, newest }: ReadQuery): boolean =>
  newest === true && run !== undefined && root === undefined && types !== undefined && types.length > 1;

export function eventsSql(query: ReadQuery): string {
  const { run, root, types, newest } = query;
  if (isNewestOfRun(query)) return newestSql(types ?? []);
  const ofRun = run === undefined ? '' : types === undefined ? SCAN_RUN : OF_RUN;
  const ofTree = root === undefined ? '' : types === undefined ? SCAN_TREE : OF_TREE;
  const ofTypes = types === undefined ? '' : types.length === 1 ? OF_TYPE : OF_TYPES;
  const inSession = (run ?? root) !== undefined && types !== undefined ? `+${IN_SESSION}` : IN_SESSION;
  const order = `event.position${newest === true ? ' DESC' : ''}`;
  return `${SELECT_EVENTS}${inSession}${ofRun}${ofTree}${ofTypes} ORDER BY ${order} ${AT_MOST}`;
}

export function createReader(database: DatabaseSync, path: string, files: PayloadFiles, protection: Protection): Reader {
  const statements = new Map<string, StatementSync>();
  const findPayload = database.prepare('SELECT place, body FROM payload WHERE ref = ?');
  const findPlace = database.prepare('SELECT place FROM payload WHERE ref = ?');
  const findCounter = database.prepare('SELECT value FROM counter WHERE name = ?');
  const findInbound = database.prepare('SELECT inbound FROM session WHERE name = ?');

  const statement = (query: ReadQuery): StatementSync => {
    const shape = eventsSql(query);
    const known = statements.get(shape) ?? database.prepare(shape);
    statements.set(shape, known);
    return known;
  };

  const stored: Reader['stored'] = (query) => {
    const rows = statement(query).all({
      session: query.session,
      after: query.after ?? 0,
      limit: Math.max(0, query.limit ?? limits.readPageEvents),
      ...present({ run: query.run, root: query.root }),
      ...typesOf(query),
    });
    return rows.map((row) => storedEvent(query.session, row));
  };

  const payload: Reader['payload'] = async (ref) => {
    const row = findPayload.get(Buffer.from(ref, 'hex'));
    if (row === undefined || integer(row, 'place') === payloadPlace.gone) return undefined;
    return integer(row, 'place') === payloadPlace.inline ? Buffer.from(text(row, 'body')) : await files.read(ref);
  };

  const findGone = database.prepare(
    `SELECT gone_by, gone_at, stand_in FROM forgotten WHERE session = :session
     AND (position = :position OR (position = 0 AND up_to >= :position)) ORDER BY position LIMIT 1`,
  );
  const gone = async (session: SessionId, position: number): Promise<GoneEvent | undefined> => {
    const row = findGone.get({ session, position });
    return row === undefined ? undefined : goneOf(row);
  };

  return {
    stored,
    payload,
    held: async (refs) =>
      new Set(
        refs.filter((ref) => {
          const row = findPlace.get(Buffer.from(ref, 'hex'));
          return row !== undefined && integer(row, 'place') !== payloadPlace.gone;
        }),
      ),
    read: (query) => assembledEvents(stored(query), payload, gone, query.exact === true ? protection : undefined),
    isIntact: async (ref) => {
      const row = findPayload.get(Buffer.from(ref, 'hex'));
      if (row !== undefined && integer(row, 'place') === payloadPlace.gone) return true;
      const found = await payload(ref);
      return found !== undefined && payloadRef(found) === ref;
    },
    lastInbound: (session) => integer(findInbound.get(session) ?? { inbound: 0 }, 'inbound'),
    counter: (name) => {
      const row = findCounter.get(name);
      return row === undefined ? 0 : integer(row, 'value');
    },
    stats: () => readStats(database, path),
    snapshot: async (only) => readSnapshot(database, only),
  };
}

function typesOf(query: ReadQuery): { readonly [name: string]: string } {
  const { types } = query;
  if (types === undefined) return {};
  if (isNewestOfRun(query)) return Object.fromEntries(types.map((type, index) => [`type${index}`, type]));
  const [only] = types;
  return types.length === 1 && only !== undefined ? { type: only } : { types: JSON.stringify(types) };
}

const SELECT_SIZES = `
SELECT (SELECT count(*) FROM session) AS sessions, (SELECT count(*) FROM run WHERE started_at IS NOT NULL) AS runs,
       (SELECT coalesce(sum((SELECT max(position) FROM event WHERE event.session = session.id)), 0) FROM session) AS events,
       count(*) AS payloads, coalesce(sum(bytes), 0) AS payload_bytes,
       coalesce(sum(bytes) FILTER (WHERE place = ${payloadPlace.file}), 0) AS file_bytes
FROM payload WHERE place <> ${payloadPlace.gone}`;

function readStats(database: DatabaseSync, path: string): LedgerStats {
  const row = database.prepare(SELECT_SIZES).get();
  const pages = integer(database.prepare('PRAGMA page_count').get() ?? {}, 'page_count');
  const pageBytes = integer(database.prepare('PRAGMA page_size').get() ?? {}, 'page_size');
  const log = path === ':memory:' ? undefined : statSync(`${path}-wal`, { throwIfNoEntry: false });
  return {
    sessions: integer(row ?? {}, 'sessions'),
    runs: integer(row ?? {}, 'runs'),
    events: integer(row ?? {}, 'events'),
    payloads: integer(row ?? {}, 'payloads'),
    payloadBytes: integer(row ?? {}, 'payload_bytes'),
    fileBytes: integer(row ?? {}, 'file_bytes'),
    databaseBytes: pages * pageBytes + (log?.size ?? 0),
  };
}
