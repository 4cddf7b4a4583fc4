/** Everything that a ledger in Postgres keeps beside its events: looked at as it is at one moment, and set right. */
import type { SessionId } from '../../base/ids.ts';
import { parseJson } from '../../base/json.ts';
import { type ForgottenEvents, forgottenIn, SELECT_GONE_EVENTS } from '../forgetting/rows.ts';
import { integer, type Row, text } from '../rows.ts';
import { feedRepairs, type Repair } from '../rules/rebuild.ts';
import { indexedRuns, type SealedSession, type Snapshot } from '../verify.ts';
import type { Database, Statement } from './connection.ts';
import { COLLECTING, lockKey } from './load.ts';

/** One statement sees one moment. */
const SNAPSHOT: Statement = {
  name: 'troupe-snapshot',
  text: `
SELECT 'session' AS kind, row_to_json(found)::text AS found FROM (
  SELECT name, sealed, encode(seal, 'hex') AS seal, head, inbound, collected,
         coalesce((SELECT max(position) FROM event WHERE event.session = session.id), 0) AS last,
         (SELECT json_build_object('entries', count(*), 'astray', count(*) FILTER (WHERE position <> place)) FROM (
           SELECT position, row_number() OVER (ORDER BY written, id) AS place FROM feed WHERE feed.session = session.id
         ) AS numbered) AS feed
  FROM session WHERE head > 0 AND ($1::text IS NULL OR name = $1) ORDER BY id
) AS found
UNION ALL
SELECT 'run', row_to_json(found)::text FROM (
  SELECT run.name, session.name AS session, root.name AS root, parent.name AS parent, run.first, run.agent, run.role, run.state,
         run.started_at, run.ended_at
  FROM run JOIN session ON session.id = run.session LEFT JOIN run AS root ON root.id = run.root
  LEFT JOIN run AS parent ON parent.id = run.parent
  WHERE run.first > 0 AND ($1::text IS NULL OR session.name = $1) ORDER BY run.id
) AS found
UNION ALL
SELECT 'counter', row_to_json(counter)::text FROM counter
UNION ALL
SELECT 'forgotten', row_to_json(found)::text FROM (${SELECT_GONE_EVENTS}) AS found`,
};

export async function readPostgresSnapshot(database: Database, only: SessionId | undefined): Promise<Snapshot> {
  const rows = await database.rows(SNAPSHOT, [only ?? null]);
  const of = (kind: string): Row[] => rows.filter((row) => text(row, 'kind') === kind).map((row) => parsed(text(row, 'found')));
  const forgotten = forgottenIn(of('forgotten'));
  return {
    sessions: of('session').map((row) => sealedSession(row, forgotten)),
    runs: indexedRuns(of('run')),
    counters: new Map(of('counter').map((row) => [text(row, 'name'), integer(row, 'value')])),
  };
}

function parsed(json: string): Row {
  const value = parseJson(json);
  return value.ok ? (value.value as Row) : {};
}

/** An end that is cut off is noticed by the head too, which only the writer of an event moves. */
function sealedSession(row: Row, forgotten: ForgottenEvents): SealedSession {
  return {
    session: text(row, 'name') as SessionId,
    last: Math.max(integer(row, 'last'), integer(row, 'head')),
    sealed: integer(row, 'sealed'),
    seal: text(row, 'seal'),
    inbound: integer(row, 'inbound'),
    collected: integer(row, 'collected'),
    forgotten: forgotten(text(row, 'name')),
    head: integer(row, 'head'),
    feed: row['feed'] as unknown as NonNullable<SealedSession['feed']>,
  };
}

/** In the transaction that sets it right, as if its events were written now. */
export const fedAgain = (session: string): readonly Repair[] => feedRepairs(session, 'written, ', 'pg_current_xact_id(), ');

/** Appends wait meanwhile. */
export async function repairPostgres(
  database: Database,
  schema: string,
  [ensure, take]: readonly [Repair, Repair],
  repairs: readonly Repair[],
): Promise<boolean> {
  return await database.transaction(async (connection) => {
    const run = ({ text, values }: Repair) => connection.query({ text, values: [...values] });
    await connection.query({ text: `SELECT pg_advisory_xact_lock(${lockKey(schema, COLLECTING)})` });
    await run(ensure);
    const isOurs = (await run(take)).rows.length === 1;
    if (isOurs) for (const one of repairs) await run(one);
    return isOurs;
  });
}
