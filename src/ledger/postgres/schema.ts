/**
 * The tables, and how they change. Processes of two versions may work on one ledger at the same time, so a change only
 * adds: tables, columns that may be empty or have a default, indexes. Every statement names its columns.
 *
 * `schema_version` has a row per change; `needs` is the oldest version of the tables that a program must know to work on
 * them afterwards. A program refuses a ledger that needs more than it knows, and works on any other, also a newer one.
 */
import { TroupeError } from '../../base/errors.ts';
import { keepingTables } from '../forgetting/rows.ts';
import { integer, type Row, text } from '../rows.ts';
import type { Connection, Database } from './connection.ts';

export interface Migration {
  readonly version: number;
  /** Raised only by a change that older programs cannot live with. */
  readonly needs: number;
  readonly sql: string;
}

/**
 * Sessions and runs get small numbers, and events refer to those; payloads are named by their hash. Rows that change with
 * every append keep room on their page, so that the change stays there. The numbers come from sequences, because an
 * append must know them before it writes.
 */
const TABLES = `
CREATE SEQUENCE session_id;
CREATE SEQUENCE run_id;
CREATE TABLE session (
  id bigint PRIMARY KEY, name text NOT NULL UNIQUE, head integer NOT NULL, chain bytea NOT NULL,
  sealed integer NOT NULL, seal bytea NOT NULL, inbound integer NOT NULL, pinned boolean NOT NULL,
  collected integer NOT NULL DEFAULT 0
) WITH (fillfactor = 70);
CREATE TABLE run (
  id bigint PRIMARY KEY, name text NOT NULL UNIQUE, session bigint NOT NULL, root bigint NOT NULL, first integer NOT NULL,
  parent bigint, agent text, role text, state text, started_at bigint, ended_at bigint
) WITH (fillfactor = 80);
CREATE INDEX run_of_session ON run (session);
CREATE INDEX run_newest ON run (started_at DESC, id DESC) WHERE started_at IS NOT NULL;
CREATE TABLE payload (ref bytea PRIMARY KEY, place smallint NOT NULL, bytes integer NOT NULL, body bytea);
CREATE TABLE event (
  session bigint NOT NULL, run bigint NOT NULL, at bigint NOT NULL, position integer NOT NULL, parent integer,
  version smallint NOT NULL, actor text NOT NULL, type text NOT NULL, tool text, step text,
  payload bytea NOT NULL, attachment bytea, chain bytea NOT NULL, PRIMARY KEY (session, position)
);
CREATE TABLE counter (name text PRIMARY KEY, value bigint NOT NULL) WITH (fillfactor = 50);
CREATE TABLE writer (
  id text PRIMARY KEY, pid integer NOT NULL, host text NOT NULL, machine text NOT NULL,
  lease_ms integer NOT NULL, batch bigint NOT NULL, beat timestamptz NOT NULL
) WITH (fillfactor = 50);
CREATE TABLE lease (run text PRIMARY KEY, session text NOT NULL, epoch integer NOT NULL, owner text);
CREATE INDEX lease_of_session ON lease (session);
CREATE INDEX lease_of_owner ON lease (owner) WHERE owner IS NOT NULL;
`;

const INDEXES = `
CREATE INDEX event_of_run ON event (run, type, position);
CREATE INDEX run_of_root ON run (root);
CREATE INDEX run_unfinished ON run (session) WHERE ended_at IS NULL;
`;

/**
 * The order of all events. Transactions do not end in the order in which they took their numbers, so an event's place is its
 * transaction and then its number: of transactions that began before every one that is under way, all is there. A trigger keeps
 * it, for programs of earlier versions too; what was there before is in it session by session. The lock of the trigger comes
 * first: nobody writes between what was there and what is kept.
 */
const FEED = `
CREATE TABLE feed (
  written xid8 NOT NULL, id bigint GENERATED ALWAYS AS IDENTITY, session bigint NOT NULL, position integer NOT NULL,
  PRIMARY KEY (written, id)
);
CREATE FUNCTION add_to_feed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO feed (written, session, position)
  SELECT pg_current_xact_id(), session, position FROM added ORDER BY session, position;
  RETURN NULL;
END $$;
CREATE TRIGGER event_in_feed AFTER INSERT ON event REFERENCING NEW TABLE AS added
FOR EACH STATEMENT EXECUTE FUNCTION add_to_feed();
INSERT INTO feed (written, session, position) SELECT '0'::xid8, session, position FROM event ORDER BY session, position;
`;

export const migrations: readonly Migration[] = [
  { version: 1, needs: 1, sql: TABLES },
  { version: 2, needs: 1, sql: INDEXES },
  { version: 3, needs: 1, sql: FEED },
  { version: 4, needs: 1, sql: keepingTables('bigint') },
];

/** What the server must have: versions before this one get no corrections any more. */
const SERVER_VERSION_MIN = 14;

/** Brings the tables to what this program knows. Two processes that open a new ledger at once take turns. */
export async function openSchema(
  database: Database,
  schema: string,
  readOnly: boolean,
  known: readonly Migration[] = migrations,
): Promise<void> {
  const { shown } = database;
  const newest = known.at(-1)?.version ?? 0;
  await database.transaction(async (connection) => {
    await refuseServer(connection, shown);
    const found = await versionOf(connection, schema);
    refuseNewer(found, newest, shown);
    if (found.version >= newest) return;
    if (readOnly) {
      if (found.version === 0) throw missing(shown);
      return;
    }
    await connection.query({
      text: "SELECT pg_advisory_xact_lock(hashtextextended('troupe schema ' || $1, 0))",
      values: [schema],
    });
    const now = await versionOf(connection, schema);
    refuseNewer(now, newest, shown);
    if (now.version === 0) await createSchema(connection, schema);
    for (const migration of known) if (migration.version > now.version) await apply(connection, migration);
  });
}

interface FoundVersion {
  /** 0: there are no tables yet. */
  readonly version: number;
  readonly needs: number;
}

/** Asks the catalogue as a table: `to_regclass` would remember, after waiting for a lock, that there was none before. */
async function versionOf(connection: Connection, schema: string): Promise<FoundVersion> {
  const tables = "SELECT 1 FROM pg_catalog.pg_tables WHERE schemaname = $1 AND tablename = 'schema_version'";
  const table = await connection.query({ text: tables, values: [schema] });
  if (table.rows.length === 0) return { version: 0, needs: 0 };
  const text = 'SELECT coalesce(max(version), 0) AS version, coalesce(max(needs), 0) AS needs FROM schema_version';
  const row: Row = (await connection.query({ text })).rows[0] ?? {};
  return { version: integer(row, 'version'), needs: integer(row, 'needs') };
}

/** Prompts and tool outputs are private: what everybody may do by default is taken back. */
async function createSchema(connection: Connection, schema: string): Promise<void> {
  await connection.query({ text: `CREATE SCHEMA IF NOT EXISTS ${schema}` });
  await connection.query({ text: `REVOKE ALL ON SCHEMA ${schema} FROM PUBLIC` });
  const columns = 'version integer PRIMARY KEY, needs integer NOT NULL, at timestamptz NOT NULL DEFAULT now()';
  await connection.query({ text: `CREATE TABLE schema_version (${columns})` });
}

async function apply(connection: Connection, { version, needs, sql }: Migration): Promise<void> {
  await connection.query({ text: sql });
  await connection.query({ text: 'INSERT INTO schema_version (version, needs) VALUES ($1, $2)', values: [version, needs] });
}

async function refuseServer(connection: Connection, shown: string): Promise<void> {
  const settings = "current_setting('server_version_num')::integer AS version, current_setting('server_encoding') AS encoding";
  const row: Row = (await connection.query({ text: `SELECT ${settings}` })).rows[0] ?? {};
  const version = Math.floor(integer(row, 'version') / 10_000);
  if (version < SERVER_VERSION_MIN) {
    throw new TroupeError('ledger_server', `The Postgres server is too old: version ${version} at ${shown}`, {
      fix: `Use a server of version ${SERVER_VERSION_MIN} or newer.`,
    });
  }
  if (text(row, 'encoding') !== 'UTF8') {
    throw new TroupeError('ledger_server', `The database of the ledger does not hold UTF-8: ${shown}`, {
      fix: 'Create a database with ENCODING UTF8.',
    });
  }
}

function refuseNewer({ version, needs }: FoundVersion, newest: number, shown: string): void {
  if (needs <= newest) return;
  const versions = `its tables have version ${version}, this Troupe knows ${newest}`;
  throw new TroupeError('ledger_newer', `A newer Troupe changed this ledger (${versions}): ${shown}`, {
    fix: 'Update Troupe, or name another ledger.',
  });
}

function missing(shown: string): TroupeError {
  const fix = 'Run an agent first, or name another ledger.';
  return new TroupeError('ledger_missing', `There is no ledger at ${shown}`, { fix });
}
