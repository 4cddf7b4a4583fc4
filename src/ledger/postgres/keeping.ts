/**
 * Pins, holds and forgetting in Postgres, by the same rules as in a file. Appends wait while it is chosen what goes. Afterwards
 * the table of payloads is written anew, because the server keeps old rows; its log and its backups are for whoever keeps them.
 */
import { messageOf } from '../../base/errors.ts';
import type { PayloadRef, SessionId } from '../../base/ids.ts';
import type { BlobStore } from '../blobs/store.ts';
import type { ForgetRequest, ForgottenOutcome, Keeping } from '../forgetting/port.ts';
import { asked, type ChosenRows, forgetRefusal, forgottenOutcome } from '../forgetting/request.ts';
import {
  FREE,
  type GoneEvent,
  goneOf,
  holdOf,
  SELECT_FORGOTTEN,
  SELECT_HOLDS,
  selectHasForgotten,
  standingsOf,
  UNENDED,
} from '../forgetting/rows.ts';
import { bytes, hex, integer, type Row, text } from '../rows.ts';
import { payloadPlace } from '../rules/stored-event.ts';
import { readOnlyError } from '../write-queue.ts';
import type { Connection, Database, Statement } from './connection.ts';
import { removeBlobs } from './gc.ts';
import { COLLECTING, lockKey } from './load.ts';

interface KeepingNeeds {
  readonly database: Database;
  readonly schema: string;
  readonly blobs: BlobStore | undefined;
  readonly writable: boolean;
}

const PARTS = `
WITH whole AS (SELECT id FROM session WHERE name = ANY($1::text[])),
picked AS (
  SELECT session.id AS session, asked.position FROM unnest($2::text[], $3::integer[]) AS asked (name, position)
  JOIN session ON session.name = asked.name
),
chosen AS (
  SELECT session, position, payload, attachment FROM event WHERE session IN (SELECT id FROM whole)
  UNION SELECT event.session, event.position, payload, attachment FROM event JOIN picked USING (session, position)
),
used AS (SELECT payload AS ref FROM chosen UNION SELECT attachment FROM chosen WHERE attachment IS NOT NULL),
others AS (
  SELECT session.name AS session, event.payload, event.attachment FROM event JOIN session ON session.id = event.session
  WHERE event.position > session.collected AND event.session NOT IN (SELECT id FROM whole)
    AND NOT EXISTS (SELECT 1 FROM picked WHERE picked.session = event.session AND picked.position = event.position)
    AND (event.payload IN (SELECT ref FROM used) OR event.attachment IN (SELECT ref FROM used))
    AND NOT EXISTS (SELECT 1 FROM forgotten WHERE forgotten.session = session.name AND forgotten.position = event.position)
),
needed AS (
  SELECT session, payload AS ref FROM others WHERE payload IN (SELECT ref FROM used)
  UNION SELECT session, attachment FROM others WHERE attachment IN (SELECT ref FROM used)
)`;
const CHOSEN_EVENTS = `${PARTS} SELECT count(*) AS count FROM chosen`;
const CHOSEN_PAYLOADS = `${PARTS} SELECT ref, place, bytes FROM payload WHERE place <> ${payloadPlace.gone}
  AND ref IN (SELECT ref FROM used) AND ref NOT IN (SELECT ref FROM needed)`;
const SHARED = `${PARTS} SELECT session, count(*) AS payloads FROM needed JOIN payload USING (ref)
  WHERE place <> ${payloadPlace.gone} GROUP BY session ORDER BY session`;
/** Of everything that was forgotten and not yet cleared away. */
const GONE = `
WITH cut AS (SELECT id FROM session WHERE name IN (SELECT session FROM forgotten WHERE finished = 0))
SELECT ref FROM payload WHERE place = ${payloadPlace.gone} AND ref IN (
  SELECT payload FROM event WHERE session IN (SELECT id FROM cut)
  UNION SELECT attachment FROM event WHERE session IN (SELECT id FROM cut) AND attachment IS NOT NULL
)`;

const GONE_EVENT: Statement = {
  name: 'troupe-gone-event',
  text: `SELECT gone_by, gone_at, stand_in FROM forgotten WHERE session = $1
         AND (position = $2 OR (position = 0 AND up_to >= $2)) ORDER BY position LIMIT 1`,
};
const HOLDS: Statement = { name: 'troupe-holds', text: SELECT_HOLDS };
const FORGOTTEN: Statement = { name: 'troupe-forgotten', text: SELECT_FORGOTTEN };
const HAS_FORGOTTEN: Statement = { name: 'troupe-has-forgotten', text: selectHasForgotten('$1') };
const PINNED: Statement = { name: 'troupe-pinned', text: 'SELECT name FROM session WHERE pinned' };

export async function readGoneEvent(database: Database, session: SessionId, position: number): Promise<GoneEvent | undefined> {
  const [row] = await database.rows(GONE_EVENT, [session, position]);
  return row === undefined ? undefined : goneOf(row);
}

export function createPostgresKeeping(needs: KeepingNeeds): Keeping {
  const { database, schema, writable } = needs;
  const alone = <Value>(work: (connection: Connection) => Promise<Value>): Promise<Value> => {
    if (!writable) throw readOnlyError(database.shown);
    return database.transaction(async (connection) => {
      await connection.query({ text: `SELECT pg_advisory_xact_lock(${lockKey(schema, COLLECTING)})` });
      return await work(connection);
    });
  };
  const changes = (text: string, values: unknown[]): Promise<boolean> =>
    alone(async (connection) => (await connection.query({ text: `${text} RETURNING session`, values })).rows.length > 0);
  const inForce = 'session = $1 AND released_at IS NULL';
  return {
    hold: async (session, reason, { by, at }) =>
      await changes(
        `INSERT INTO hold (session, held_at, held_by, reason) SELECT name, $2, $3, $4 FROM session
         WHERE name = $1 AND NOT EXISTS (SELECT 1 FROM hold WHERE ${inForce})`,
        [session, at, by, reason],
      ),
    unhold: async (session, { by, at }) =>
      await changes(`UPDATE hold SET released_at = $2, released_by = $3 WHERE ${inForce}`, [session, at, by]),
    holds: async () => (await database.rows(HOLDS, [])).map(holdOf),
    standings: async () => {
      const pinned = (await database.rows(PINNED, [])).map((row) => text(row, 'name') as SessionId);
      return standingsOf(pinned, (await database.rows(HOLDS, [])).map(holdOf), await database.rows(FORGOTTEN, []));
    },
    hasForgotten: async (session) => (await database.rows(HAS_FORGOTTEN, [session])).length > 0,
    forget: async (request) => await forget(needs, alone, request),
    pin: async (session, pinned) =>
      await alone(async (connection) => {
        await connection.query({ text: 'UPDATE session SET pinned = $2 WHERE name = $1', values: [session, pinned] });
      }),
  };
}

type Alone = <Value>(work: (connection: Connection) => Promise<Value>) => Promise<Value>;

async function forget(needs: KeepingNeeds, alone: Alone, request: ForgetRequest): Promise<ForgottenOutcome> {
  const { database, blobs } = needs;
  const parts = asked(request);
  const values = [parts.whole, parts.picked.map(([session]) => session), parts.picked.map(([, position]) => position)];
  const ask = async (connection: Connection, text: string): Promise<Row[]> => (await connection.query({ text, values })).rows;
  const choose = async (connection: Connection): Promise<ChosenRows> => ({
    events: integer((await ask(connection, CHOSEN_EVENTS))[0] ?? {}, 'count'),
    payloads: await ask(connection, CHOSEN_PAYLOADS),
    shared: await ask(connection, SHARED),
  });
  const planned = async (connection: Connection): Promise<ForgottenOutcome> =>
    (await refused(connection, request)) ?? forgottenOutcome(await choose(connection), [], true);
  if (request.dryRun) return await database.transaction(planned);
  const done = await alone(async (connection): Promise<ForgottenOutcome> => {
    const no = await refused(connection, request);
    if (no !== undefined) return no;
    const chosen = await choose(connection);
    await bury(connection, request, chosen.payloads);
    return forgottenOutcome(chosen, [], false);
  });
  if (done.kind !== 'forgotten') return done;
  if (blobs !== undefined) {
    const gone = await database.transaction(async (connection) => (await connection.query({ text: GONE })).rows);
    const lock = (connection: Connection) =>
      connection.query({ text: `SELECT pg_advisory_xact_lock(${lockKey(needs.schema, COLLECTING)})` });
    const refs = gone.map((row) => hex(bytes(row, 'ref')) as PayloadRef);
    await removeBlobs(database, lock, blobs, refs, [payloadPlace.gone]);
  }
  const left = await rewrite(database);
  if (left.length === 0)
    await alone((connection) => connection.query({ text: 'UPDATE forgotten SET finished = 1 WHERE finished = 0' }));
  return { ...done, left };
}

async function refused(connection: Connection, { parts }: ForgetRequest): Promise<ForgottenOutcome | undefined> {
  const holds = (await connection.query({ text: SELECT_HOLDS })).rows.map(holdOf);
  for (const part of parts) {
    const query = `SELECT (${FREE}) AS free, (${UNENDED}) AS unfinished, pinned, head FROM session
      WHERE name = $1 AND head > 0`;
    const { rows } = await connection.query({ text: query, values: [part.session] });
    const refusal = forgetRefusal(part, rows[0], holds);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

async function bury(connection: Connection, { parts, by, at }: ForgetRequest, payloads: readonly Row[]): Promise<void> {
  await connection.query({
    text: `UPDATE payload SET place = ${payloadPlace.gone}, body = NULL WHERE ref = ANY($1::bytea[])`,
    values: [payloads.map((row) => row['ref'])],
  });
  const insert = 'INSERT INTO forgotten (session, position, up_to, gone_at, gone_by, stand_in, finished)';
  for (const { session, events } of parts) {
    if (events === undefined) {
      await connection.query({ text: 'DELETE FROM forgotten WHERE session = $1', values: [session] });
      await connection.query({ text: 'UPDATE session SET collected = head WHERE name = $1', values: [session] });
      const whole = `${insert} SELECT name, 0, head, $2, $3, NULL, 0 FROM session WHERE name = $1`;
      await connection.query({ text: whole, values: [session, at, by] });
    } else
      await connection.query({
        text: `${insert} SELECT $1, asked.position, asked.position, $2, $3, asked.stand_in, 0
          FROM unnest($4::integer[], $5::text[]) AS asked (position, stand_in)
          ON CONFLICT (session, position) DO UPDATE
          SET stand_in = excluded.stand_in, gone_at = excluded.gone_at, gone_by = excluded.gone_by, finished = 0`,
        values: [session, at, by, events.map(({ position }) => position), events.map(({ payload }) => payload)],
      });
  }
}

/** No transaction may be around it. */
async function rewrite(database: Database): Promise<readonly string[]> {
  try {
    const client = await database.connect('troupe forgetting', false);
    try {
      for (const table of ['payload', 'forgotten']) await client.query(`VACUUM (FULL) ${table}`);
    } finally {
      await client.end();
    }
    return [];
  } catch (error) {
    return [`the table of payloads could not be written anew: ${messageOf(error)}`];
  }
}
