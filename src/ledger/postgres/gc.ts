/**
 * Collecting what is no longer wanted, by the same rules as in every store: events stay, payloads of old sessions go, and
 * tombstones keep their hashes. Appends wait while it chooses, so that none can refer to what is just being taken away;
 * heartbeats go on.
 */
import { EventEmitter } from 'node:events';
import type { PayloadRef, SessionId } from '../../base/ids.ts';
import type { BlobStore } from '../blobs/store.ts';
import { FREE } from '../forgetting/rows.ts';
import type { GcReport, RetentionPolicy } from '../port.ts';
import { bytes, hex, integer, type Row, text } from '../rows.ts';
import { askedRetention } from '../rules/attachment-retention.ts';
import { payloadPlace } from '../rules/stored-event.ts';
import type { Connection, Database } from './connection.ts';
import { COLLECTING, lockKey } from './load.ts';

/** `collected` is a session's last position when it was last collected: only what came later can still be collected. */
const OLD_SESSIONS = `
SELECT id, name FROM session
WHERE NOT pinned AND head > collected AND ($2::text[] IS NULL OR name = ANY($2::text[]))
  AND (SELECT at FROM event WHERE event.session = session.id AND event.position = session.head) < $1
  AND ${FREE}
ORDER BY id`;

const ONLY_IN_OLD = `
WITH still AS (
  SELECT session.id FROM session JOIN unnest($2::text[], $3::integer[]) AS seen (name, head)
    ON seen.name = session.name
  WHERE NOT pinned AND ${FREE}
    AND NOT EXISTS (SELECT 1 FROM event WHERE event.session = session.id AND event.position > seen.head
                    AND event.type = ANY($5::text[]))
),
used AS (
  SELECT payload AS ref FROM event WHERE session = ANY($1::bigint[])
  UNION SELECT attachment FROM event WHERE session = ANY($1::bigint[]) AND attachment IS NOT NULL
  UNION SELECT unnest($7::bytea[])
),
kept AS (
  SELECT event.payload AS ref FROM event JOIN session ON session.id = event.session
  WHERE NOT event.session = ANY($1::bigint[]) AND event.position > session.collected
  UNION SELECT event.attachment FROM event JOIN session ON session.id = event.session
  WHERE NOT event.session = ANY($1::bigint[]) AND event.position > session.collected AND event.attachment IS NOT NULL
    AND NOT (event.attachment = ANY($7::bytea[]) AND event.type = ANY($4::text[]) AND event.session IN (SELECT id FROM still))
  UNION SELECT payload FROM event WHERE type = ANY($5::text[])
  UNION SELECT unnest($6::bytea[])
)
SELECT ref, place, bytes FROM payload
WHERE place <> ${payloadPlace.gone} AND ref IN (SELECT ref FROM used) AND ref NOT IN (SELECT ref FROM kept)`;

/** A blob that nothing refers to yet may belong to a commit under way; after this time it does not. */
const LEFTOVER_MS = 60 * 60 * 1000;
/** How many leftovers are looked up at once. */
const PAGE = 1_000;

interface Chosen {
  readonly sessions: readonly Row[];
  readonly payloads: readonly Row[];
}

export async function collectPostgres(
  database: Database,
  schema: string,
  blobs: BlobStore | undefined,
  policy: RetentionPolicy,
): Promise<GcReport> {
  const alone = (connection: Connection) =>
    connection.query({ text: `SELECT pg_advisory_xact_lock(${lockKey(schema, COLLECTING)})` });
  const chosen = await database.transaction(async (connection) => {
    if (policy.dryRun) return await choose(connection, policy);
    await alone(connection);
    const found = await choose(connection, policy);
    await bury(connection, found);
    return found;
  });
  if (!policy.dryRun && blobs !== undefined) {
    const large = chosen.payloads.filter((row) => integer(row, 'place') === payloadPlace.file);
    await removeBlobs(database, alone, blobs, large.map(refOf), [payloadPlace.gone]);
    let page: PayloadRef[] = [];
    for await (const ref of blobs.olderThan(policy.now - LEFTOVER_MS)) {
      page.push(ref);
      if (page.length < PAGE) continue;
      await removeBlobs(database, alone, blobs, page, [payloadPlace.gone, payloadPlace.inline]);
      page = [];
    }
    await removeBlobs(database, alone, blobs, page, [payloadPlace.gone, payloadPlace.inline]);
  }
  return {
    sessions: chosen.sessions.map((row) => text(row, 'name') as SessionId),
    payloads: chosen.payloads.length,
    bytes: chosen.payloads.reduce((sum, row) => sum + integer(row, 'bytes'), 0),
    dryRun: policy.dryRun,
  };
}

const refOf = (row: Row): PayloadRef => hex(bytes(row, 'ref')) as PayloadRef;

async function choose(connection: Connection, policy: RetentionPolicy): Promise<Chosen> {
  const sessions = (
    await connection.query({ text: OLD_SESSIONS, values: [policy.now - policy.olderThanMs, policy.only ?? null] })
  ).rows;
  const { types, records, keep, drop, sessions: names, heads } = askedRetention(policy);
  if (sessions.length === 0 && drop.length === 0) return { sessions, payloads: [] };
  const ids = sessions.map((row) => integer(row, 'id'));
  const values = [ids, names, heads, types, records, keep, drop];
  return { sessions, payloads: (await connection.query({ text: ONLY_IN_OLD, values })).rows };
}

async function bury(connection: Connection, { sessions, payloads }: Chosen): Promise<void> {
  await connection.query({
    text: `UPDATE payload SET place = ${payloadPlace.gone}, body = NULL WHERE ref = ANY($1::bytea[])`,
    values: [payloads.map((row) => row['ref'])],
  });
  await connection.query({
    text: 'UPDATE session SET collected = head WHERE id = ANY($1::bigint[])',
    values: [sessions.map((row) => integer(row, 'id'))],
  });
}

/**
 * Blobs go after the tombstones are durable, and while nobody appends: somebody may store the same bytes again at this
 * moment, and whoever does so looks for the blob under the same lock. A blob without any row goes too.
 */
export async function removeBlobs(
  database: Database,
  alone: (connection: Connection) => Promise<unknown>,
  blobs: BlobStore,
  refs: readonly PayloadRef[],
  places: readonly number[],
): Promise<void> {
  if (refs.length === 0) return;
  await database.transaction(async (connection) => {
    await alone(connection);
    const wanted = refs.map((ref) => Buffer.from(ref, 'hex'));
    const needed = 'SELECT ref FROM payload WHERE ref = ANY($1::bytea[]) AND NOT place = ANY($2::smallint[])';
    const { rows } = await connection.query({ text: needed, values: [wanted, places] });
    const kept = new Set(rows.map(refOf));
    for (const ref of refs) if (!kept.has(ref)) await blobs.remove(ref);
  });
}

/**
 * A blob is removed under a lock that the server gives up when its transaction stands still, as it does
 * while a bucket is slow; so each removal asks first whether the transaction, and with it the lock, is still there.
 */
export function underLock(
  database: Database,
  blobs: BlobStore | undefined,
): { readonly database: Database; readonly blobs: BlobStore | undefined } {
  let holder: Connection | undefined;
  const transaction: Database['transaction'] = (work) =>
    database.transaction(async (connection) => {
      holder = connection;
      // The driver ends the process when a connection is lost while nobody listens; the next question will say so too.
      const client = connection instanceof EventEmitter ? connection : undefined;
      client?.on('error', ignore);
      try {
        const value = await work(connection);
        client?.off('error', ignore);
        return value;
      } finally {
        holder = undefined;
      }
    });
  const remove: BlobStore['remove'] = async (ref) => {
    await holder?.query({ text: 'SELECT 1' });
    await blobs?.remove(ref);
  };
  return { database: { ...database, transaction }, blobs: blobs === undefined ? undefined : { ...blobs, remove } };
}

const ignore = (): void => undefined;
