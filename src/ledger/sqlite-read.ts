/** Reading: events page by page, payloads by reference, counters, and how large everything is. */
import { statSync } from 'node:fs';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { TroupeError } from '../base/errors.ts';
import { eventId, type PayloadRef, type RunId, type SessionId } from '../base/ids.ts';
import { parseJson } from '../base/json.ts';
import { limits } from '../base/limits.ts';
import type { LedgerEvent } from '../events/envelope.ts';
import { type ChainedFields, payloadRef } from './chain.ts';
import type { PayloadFiles } from './payload-files.ts';
import type { LedgerStats, ReadQuery } from './port.ts';
import { bytes, hex, integer, integerOrNull, type Row, text, textOrNull } from './sqlite-rows.ts';
import { place } from './sqlite-schema.ts';
import { toLedgerEvent } from './stored-event.ts';

/** An event as stored, before its payload is looked at. `body` is `null` when the payload is in a file or collected. */
export interface StoredEvent {
  readonly fields: ChainedFields;
  readonly chain: string;
  readonly place: number;
  readonly body: string | null;
}

export interface Reader {
  read(query: ReadQuery): Promise<readonly LedgerEvent[]>;
  stored(query: ReadQuery): readonly StoredEvent[];
  payload(ref: PayloadRef): Promise<Uint8Array | undefined>;
  /** Whether the bytes still have the hash they are named by. Collected ones count as intact. */
  isIntact(ref: PayloadRef): Promise<boolean>;
  counter(name: string): number;
  stats(): LedgerStats;
}

const SELECT_EVENTS = `
SELECT event.position, run.name AS run, event.parent, event.at, event.actor, event.tool, event.type, event.step,
       event.version, event.chain, payload.ref, payload.place, payload.body, attachment.ref AS attachment
FROM event JOIN run ON run.id = event.run LEFT JOIN payload ON payload.id = event.payload
LEFT JOIN payload AS attachment ON attachment.id = event.attachment
WHERE event.session = (SELECT id FROM session WHERE name = :session) AND event.position > :after`;
/** A run's events cannot come before its first one: the scan starts there, however long the session is. */
const OF_RUN = ` AND event.run = (SELECT id FROM run WHERE name = :run)
AND event.position >= (SELECT first FROM run WHERE name = :run)`;
const OF_TYPES = ' AND event.type IN (SELECT value FROM json_each(:types))';
const IN_ORDER = ' ORDER BY event.position LIMIT :limit';

export function createReader(database: DatabaseSync, path: string, files: PayloadFiles | undefined): Reader {
  const statements = new Map<string, StatementSync>();
  const findPayload = database.prepare('SELECT place, body FROM payload WHERE ref = ?');
  const findCounter = database.prepare('SELECT value FROM counter WHERE name = ?');

  const statement = (query: ReadQuery): StatementSync => {
    const shape =
      SELECT_EVENTS + (query.run === undefined ? '' : OF_RUN) + (query.types === undefined ? '' : OF_TYPES) + IN_ORDER;
    const known = statements.get(shape) ?? database.prepare(shape);
    statements.set(shape, known);
    return known;
  };

  const stored: Reader['stored'] = (query) => {
    const rows = statement(query).all({
      session: query.session,
      after: query.after ?? 0,
      limit: Math.max(0, query.limit ?? limits.readPageEvents),
      ...(query.run === undefined ? {} : { run: query.run }),
      ...(query.types === undefined ? {} : { types: JSON.stringify(query.types) }),
    });
    return rows.map((row) => storedEvent(query.session, row));
  };

  const payload: Reader['payload'] = async (ref) => {
    const row = findPayload.get(Buffer.from(ref, 'hex'));
    if (row === undefined || integer(row, 'place') === place.gone) return undefined;
    return integer(row, 'place') === place.inline ? Buffer.from(text(row, 'body')) : await files?.read(ref);
  };

  return {
    stored,
    payload,
    read: async (query) => {
      const events: LedgerEvent[] = [];
      for (const event of stored(query)) {
        const body = event.body ?? (await largePayload(event, payload));
        const parsed = parseJson(body);
        if (!parsed.ok) throw unreadable(event, parsed.error);
        events.push(toLedgerEvent(event.fields, parsed.value));
      }
      return events;
    },
    isIntact: async (ref) => {
      const row = findPayload.get(Buffer.from(ref, 'hex'));
      if (row !== undefined && integer(row, 'place') === place.gone) return true;
      const found = await payload(ref);
      return found !== undefined && payloadRef(found) === ref;
    },
    counter: (name) => {
      const row = findCounter.get(name);
      return row === undefined ? 0 : integer(row, 'value');
    },
    stats: () => readStats(database, path),
  };
}

function storedEvent(session: SessionId, row: Row): StoredEvent {
  return {
    fields: {
      session,
      position: integer(row, 'position'),
      run: text(row, 'run') as RunId,
      parent: integerOrNull(row, 'parent'),
      at: integer(row, 'at'),
      actor: text(row, 'actor'),
      tool: textOrNull(row, 'tool'),
      type: text(row, 'type'),
      step: textOrNull(row, 'step'),
      payload: hex(bytes(row, 'ref')) as PayloadRef,
      attachment: row['attachment'] === null ? null : (hex(bytes(row, 'attachment')) as PayloadRef),
      version: integer(row, 'version'),
    },
    chain: hex(bytes(row, 'chain')),
    place: integer(row, 'place'),
    body: textOrNull(row, 'body'),
  };
}

async function largePayload(event: StoredEvent, payload: Reader['payload']): Promise<string> {
  if (event.place === place.gone) {
    throw new TroupeError('ledger_collected', `The payloads of ${event.fields.session} were removed by \`troupe ledger gc\``, {
      fix: 'Pin sessions that you want to keep: what was collected cannot be read again.',
    });
  }
  const found = await payload(event.fields.payload);
  if (found === undefined) throw unreadable(event, 'its payload file is missing');
  return Buffer.from(found).toString();
}

function unreadable({ fields }: StoredEvent, why: string): TroupeError {
  return new TroupeError('ledger_corrupt', `Event ${eventId(fields.session, fields.position)} cannot be read: ${why}`, {
    fix: 'Run `troupe ledger verify`, and restore the ledger from a backup.',
  });
}

const SELECT_SIZES = `
SELECT (SELECT count(*) FROM session) AS sessions, (SELECT count(*) FROM run WHERE started_at IS NOT NULL) AS runs,
       (SELECT coalesce(sum((SELECT max(position) FROM event WHERE event.session = session.id)), 0) FROM session) AS events,
       count(*) AS payloads, coalesce(sum(bytes), 0) AS payload_bytes,
       coalesce(sum(bytes) FILTER (WHERE place = ${place.file}), 0) AS file_bytes
FROM payload WHERE place <> ${place.gone}`;

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
