/** A Postgres ledger as a place to copy from or to. Writes take the locks that appends take. */

import type { Clock } from '../../base/clock.ts';
import type { Environment } from '../../base/environment.ts';
import type { PayloadRef, RunId, SessionId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { systemRandom } from '../../base/random.ts';
import type { BlobStore } from '../blobs/store.ts';
import { parsePostgresAddress } from '../postgres/address.ts';
import { type Connection, type Database, openDatabase, type Statement } from '../postgres/connection.ts';
import { COLLECTING, lockKey } from '../postgres/load.ts';
import { openBlobs } from '../postgres/open-blobs.ts';
import { isLiveOwner, leaseOwner, OWNER_COLUMNS } from '../postgres/owner.ts';
import { createPostgresReader } from '../postgres/read.ts';
import { openSchema } from '../postgres/schema.ts';
import { COUNTER, columnsOf, EVENT, eventRow, insertInto, ONE_PAYLOAD, REVIVE, RUN, SESSION } from '../postgres/write.ts';
import { bytes, hex, integer, type Row, text } from '../rows.ts';
import { chainedEvent } from '../rules/read-events.ts';
import { type ChainedEvent, payloadPlace } from '../rules/stored-event.ts';
import { copiedRun, copiedSession, keepingStatements, valuesOf } from './rows.ts';
import type { CopiedPayload, CopiedRun, CopiedSession, CopyStore, PayloadSize, WholeSession } from './store.ts';

const statement = (name: string, text: string): Statement => ({ name: `troupe-copy-${name}`, text });

const SESSIONS = statement(
  'sessions',
  `SELECT name FROM session WHERE head > 0 AND id > coalesce((SELECT id FROM session WHERE name = $1), 0)
   ORDER BY id LIMIT ${limits.copyPageNames}`,
);
const ONE_SESSION = statement(
  'session',
  `SELECT name, head, chain, sealed, seal, inbound, collected, pinned FROM session WHERE name = $1 AND head > 0`,
);
const RUNS = statement(
  'runs',
  `SELECT run.name, root.name AS root, run.first, parent.name AS parent, run.agent, run.role, run.state,
          run.started_at, run.ended_at
   FROM run JOIN run AS root ON root.id = run.root LEFT JOIN run AS parent ON parent.id = run.parent
   WHERE run.session = (SELECT id FROM session WHERE name = $1) ORDER BY run.id`,
);
const EVENTS = statement(
  'events',
  `SELECT event.position, run.name AS run, event.parent, event.at, event.actor, event.tool, event.type, event.step,
          event.version, event.chain, event.payload AS ref, event.attachment
   FROM event JOIN run ON run.id = event.run
   WHERE event.session = (SELECT id FROM session WHERE name = $1) AND event.position > $2 ORDER BY event.position LIMIT $3`,
);
const OWNERS = statement(
  'owners',
  `SELECT ${OWNER_COLUMNS} FROM lease JOIN writer ON writer.id = lease.owner WHERE lease.session = $1`,
);
const SIZES = statement('sizes', 'SELECT ref, bytes, place FROM payload WHERE ref = ANY($1::bytea[])');
/** By bytes, not by the rules of a language: the same order on every server. */
const COUNTERS = statement(
  'counters',
  `SELECT name, value FROM counter WHERE name COLLATE "C" > $1 ORDER BY name COLLATE "C" LIMIT ${limits.copyPageNames}`,
);
const LARGER = 'ON CONFLICT (name) DO UPDATE SET value = greatest(counter.value, excluded.value)';

const KEEPING = keepingStatements((number) => `$${number}`);
const HOLDS_OF = statement('holds', KEEPING.holds);
const FORGOTTEN_OF = statement('forgotten', KEEPING.forgotten);

export interface PostgresCopyOptions {
  readonly url: string;
  readonly clock: Clock;
  /** Keeps the temporary names of several processes apart. */
  readonly unique: string;
  /** Has the keys of the bucket, when the address names one. */
  readonly env: Environment;
  readonly readOnly: boolean;
}

export async function openPostgresCopy({ url, clock, unique, env, readOnly }: PostgresCopyOptions): Promise<CopyStore> {
  const address = parsePostgresAddress(url);
  const { schema } = address;
  const blobs = await openBlobs(address, { clock, env, random: systemRandom, unique });
  const database = await openDatabase(address, { clock, readOnly });
  try {
    await openSchema(database, schema, readOnly);
  } catch (error) {
    await database.close();
    throw error;
  }
  return { ...reading(database, blobs), ...writing(database, schema, blobs), shown: database.shown, close: database.close };
}

type Writing = Pick<CopyStore, 'writePayloads' | 'writeEvents' | 'writeWhole' | 'writeCounters' | 'writeKeeping'>;

function reading(database: Database, blobs: BlobStore | undefined): Omit<CopyStore, keyof Writing | 'shown' | 'close'> {
  return {
    sessionsAfter: async (last) => (await database.rows(SESSIONS, [last ?? null])).map((row) => text(row, 'name') as SessionId),
    session: async (name) => {
      const [row] = await database.rows(ONE_SESSION, [name]);
      return row === undefined ? undefined : copiedSession(row);
    },
    liveOwner: async (name) => {
      const row = (await database.rows(OWNERS, [name])).find(isLiveOwner);
      return row === undefined ? undefined : (leaseOwner(row) ?? undefined);
    },
    runs: async (name) => (await database.rows(RUNS, [name])).map(copiedRun),
    events: async (name, after, limit) =>
      (await database.rows(EVENTS, [name, after, limit])).map((row) => chainedEvent(name, row)),
    sizes: async (refs) => (await database.rows(SIZES, [refs.map((ref) => Buffer.from(ref, 'hex'))])).map(sizeOf),
    body: createPostgresReader(database, blobs, undefined).payload,
    keeping: async (name) => ({
      holds: await database.rows(HOLDS_OF, [name]),
      forgotten: await database.rows(FORGOTTEN_OF, [name]),
    }),
    countersAfter: async (name) =>
      (await database.rows(COUNTERS, [name])).map((row) => ({ name: text(row, 'name'), value: integer(row, 'value') })),
  };
}

function writing(database: Database, schema: string, blobs: BlobStore | undefined): Writing {
  const locked = (names: readonly string[], work: (connection: Connection) => Promise<void>): Promise<void> =>
    database.transaction(async (connection) => {
      await connection.query({ text: `SELECT pg_advisory_xact_lock_shared(${lockKey(schema, COLLECTING)})` });
      for (const key of names.map((name) => lockKey(schema, name)).sort()) {
        await connection.query({ text: `SELECT pg_advisory_xact_lock(${key})` });
      }
      await work(connection);
    });
  return {
    writePayloads: async (payloads) => {
      // Sent before the transaction, which must not stand still for long; inside it they are found to be there.
      for (const { ref, bytes: size, body } of payloads)
        if (body !== undefined && size > limits.payloadInlineBytes) await blobs?.write(ref, body);
      await locked([], (connection) => writePayloads(connection, blobs, payloads));
    },
    writeEvents: (session, runs, events) =>
      locked([`session ${session.session}`], (connection) => writeEvents(connection, session, runs, events)),
    writeKeeping: (name, { holds, forgotten }) =>
      locked([`session ${name}`], async (connection) => {
        for (const { hold, identity } of holds.map(valuesOf)) {
          await connection.query({ text: KEEPING.dropHold, values: identity });
          await connection.query({ text: KEEPING.addHold, values: hold });
        }
        for (const row of forgotten.map(valuesOf)) await connection.query({ text: KEEPING.addForgotten, values: row.forgotten });
      }),
    writeWhole: async (sessions) => {
      const there: { name: SessionId | RunId | undefined } = { name: undefined };
      const names = sessions.flatMap(({ session }) => `session ${session.session}`);
      await locked(names, async (connection) => {
        there.name = await thereAlready(connection, sessions);
        if (there.name !== undefined) return;
        for (const { session, runs, events } of sessions)
          for (let at = 0; at < events.length; at += limits.copyPageEvents)
            await writeEvents(connection, session, runs, events.slice(at, at + limits.copyPageEvents));
      });
      return { there: there.name };
    },
    writeCounters: (counters) =>
      locked([], async (connection) => {
        const { text } = insertInto({ ...COUNTER, conflict: LARGER });
        await connection.query({
          text,
          values: columnsOf(
            COUNTER,
            counters.map(({ name, value }) => [name, value]),
          ),
        });
      }),
  };
}

async function writePayloads(
  connection: Connection,
  blobs: BlobStore | undefined,
  payloads: readonly CopiedPayload[],
): Promise<void> {
  for (const { ref, bytes: size, body } of payloads) {
    const outside = body !== undefined && blobs !== undefined && size > limits.payloadInlineBytes;
    if (outside) await blobs.write(ref, body);
    const where = body === undefined ? payloadPlace.gone : outside ? payloadPlace.file : payloadPlace.inline;
    const key = Buffer.from(ref, 'hex');
    const stored = body === undefined || outside ? null : Buffer.from(body);
    await connection.query({ ...ONE_PAYLOAD, values: [key, where, size, stored] });
    if (body !== undefined) await connection.query({ ...REVIVE, values: [key, where, stored] });
  }
}

async function writeEvents(
  connection: Connection,
  session: CopiedSession,
  runs: readonly CopiedRun[],
  events: readonly ChainedEvent[],
): Promise<void> {
  const insert = (table: typeof EVENT, rows: readonly (readonly unknown[])[]) =>
    connection.query({ ...insertInto(table), values: columnsOf(table, rows) });
  const id = await sessionNumber(connection, session.session);
  const { head, chain, sealed, seal, inbound, pinned, collected } = session;
  await insert(SESSION, [
    [id, session.session, head, Buffer.from(chain, 'hex'), sealed, Buffer.from(seal, 'hex'), inbound, pinned],
  ]);
  await connection.query({ text: 'UPDATE session SET collected = $2 WHERE id = $1', values: [id, collected] });
  const numbers = await runNumbers(connection, runs);
  const numberOf = (name: string | null): number | null => (name === null ? null : (numbers.get(name) ?? null));
  const rows = runs.map(({ run, root, first, parent, agent, role, state, startedAt, endedAt }) => {
    const [own, above, covering] = [run, parent, root].map(numberOf);
    return [own, run, id, covering, first, above, agent, role, state, startedAt, endedAt];
  });
  if (rows.length > 0) await insert(RUN, rows);
  const written = events.map((event) => eventRow({ ...event, session: id, run: numberOf(event.fields.run) ?? 0 }));
  if (written.length > 0) await insert(EVENT, written);
}

async function thereAlready(connection: Connection, sessions: readonly WholeSession[]): Promise<SessionId | RunId | undefined> {
  const names = [sessions.map(({ session }) => session.session), sessions.flatMap(({ runs }) => runs.map(({ run }) => run))];
  const query = `SELECT name FROM session WHERE name = ANY($1::text[]) AND head > 0
    UNION ALL SELECT name FROM run WHERE name = ANY($2::text[]) LIMIT 1`;
  const [row] = (await connection.query({ text: query, values: names })).rows;
  return row === undefined ? undefined : (text(row, 'name') as SessionId | RunId);
}

async function sessionNumber(connection: Connection, name: SessionId): Promise<number> {
  const query = "SELECT coalesce((SELECT id FROM session WHERE name = $1), nextval('session_id')) AS id";
  return integer((await connection.query({ text: query, values: [name] })).rows[0] ?? {}, 'id');
}

/** Of every run, those included that only its runs refer to. New ones are numbered in the order they come. */
async function runNumbers(connection: Connection, runs: readonly CopiedRun[]): Promise<ReadonlyMap<string, number>> {
  const query = `SELECT name, coalesce(id, nextval('run_id')) AS id FROM
    (SELECT wanted.name, run.id FROM unnest($1::text[]) WITH ORDINALITY AS wanted (name, number)
     LEFT JOIN run USING (name) ORDER BY wanted.number) AS found`;
  const { rows } = await connection.query({ text: query, values: [runs.map(({ run }) => run)] });
  return new Map(rows.map((row) => [text(row, 'name'), integer(row, 'id')]));
}

function sizeOf(row: Row): PayloadSize {
  return {
    ref: hex(bytes(row, 'ref')) as PayloadRef,
    bytes: integer(row, 'bytes'),
    gone: integer(row, 'place') === payloadPlace.gone,
  };
}
