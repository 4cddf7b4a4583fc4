/**
 * Connections to the server: a few for reading, one that writes, one that listens. The driver is loaded with the first.
 * A lost connection is opened again; whoever reads waits for it, up to a limit, so that a restart of the server is a pause.
 */
import type { Client, ClientConfig, Pool, PoolClient } from 'pg';
import { atMost } from '../../base/at-most.ts';
import { type Clock, sleep } from '../../base/clock.ts';
import { TroupeError } from '../../base/errors.ts';
import { limits } from '../../base/limits.ts';
import type { Row } from '../rows.ts';
import type { PostgresAddress } from './address.ts';
import { isLostConnection, isStarting, postgresError } from './errors.ts';

/** A statement that the server parses once per connection. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/** Whatever can be asked: a connection, or one of a pool. */
export interface Connection {
  query(config: { readonly name?: string; readonly text: string; readonly values?: unknown[] }): Promise<{
    readonly rows: Row[];
    readonly command: string;
  }>;
}

export interface Database {
  readonly shown: string;
  /** Reads. Over a lost connection it asks again. */
  rows(statement: Statement, values: readonly unknown[]): Promise<readonly Row[]>;
  /** A transaction on one of the reading connections. It is not repeated. */
  transaction<Value>(work: (connection: Connection) => Promise<Value>): Promise<Value>;
  /** A connection of its own, under this name in `pg_stat_activity`. The caller ends it. */
  connect(name: string, pipeline: boolean): Promise<Client>;
  close(): Promise<void>;
}

/** Whatever the server is set to, a commit is on its disk when it is reported. A stronger setting stays. */
export const FLUSHING =
  "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'";

const BIGINT = 20;
const RETRY_MS = { first: 50, most: 1_000 } as const;

interface DatabaseOptions {
  readonly clock: Clock;
  readonly readOnly: boolean;
  /** How long a transaction may stand still before the server ends it. */
  readonly idleMs?: number;
  /** How long the server may take to accept a connection. */
  readonly connectMs?: number;
}

export async function openDatabase(address: PostgresAddress, options: DatabaseOptions): Promise<Database> {
  const { clock, readOnly, idleMs = limits.databaseIdleMs, connectMs = limits.databaseConnectMs } = options;
  const { default: pg } = await import('pg');
  const config: ClientConfig = {
    connectionString: address.url,
    connectionTimeoutMillis: connectMs,
    // What a process that was paused or cut off left open must not keep others waiting for long.
    idle_in_transaction_session_timeout: idleMs,
    lock_timeout: limits.databaseLockMs,
    keepAlive: true,
    options: `${address.options} -c search_path=${address.schema}${readOnly ? ' -c default_transaction_read_only=on' : ''}`,
    types: {
      // Every number that is stored fits: positions, times in milliseconds, counters that are checked to be safe integers.
      getTypeParser: (type, format) => (Number(type) === BIGINT ? Number : pg.types.getTypeParser(Number(type), format)),
    },
  };
  const pool = new pg.Pool({ ...config, application_name: 'troupe reader', max: limits.databaseReaders, allowExitOnIdle: true });
  // A connection that is lost while nobody uses it is replaced when it is needed.
  pool.on('error', () => undefined);
  // Waiting for a reader is no trouble of the server's: nobody waits in the pool, whose time-out is for connecting.
  const inTurn = atMost(limits.databaseReaders);
  const { shown } = address;
  const database: Database = {
    shown,
    rows: ({ name, text }, values) =>
      persevering(clock, shown, isLostConnection, () => inTurn(async () => (await pool.query(asked(name, text, values))).rows)),
    transaction: (work) => inTurn(() => inTransaction(pool, shown, work)),
    connect: async (name, pipeline) => {
      const client = new pg.Client({ ...config, application_name: name, pipeline, query_timeout: limits.databaseQueryMs });
      client.on('error', () => undefined);
      await client.connect();
      return client;
    },
    close: () => pool.end(),
  };
  try {
    await persevering(clock, shown, isStarting, async () => (await pool.connect()).release());
    return database;
  } catch (error) {
    await pool.end();
    throw error;
  }
}

/** A server that does not answer at all is given up like one that has hung up. */
const asked = (name: string, text: string, values: readonly unknown[]) => ({
  name,
  text,
  values: [...values],
  query_timeout: limits.databaseQueryMs,
});

/** Tries again after a moment while `isPassing` says so, up to `limits.databaseRetryMs`. */
export async function persevering<Value>(
  clock: Clock,
  shown: string,
  isPassing: (error: unknown) => boolean,
  attempt: () => Promise<Value>,
): Promise<Value> {
  const deadline = clock.elapsed() + limits.databaseRetryMs;
  for (let pause: number = RETRY_MS.first; ; pause = Math.min(pause * 2, RETRY_MS.most)) {
    try {
      return await attempt();
    } catch (error) {
      if (!isPassing(error) || clock.elapsed() >= deadline) throw postgresError(error, shown);
      await sleep(clock, pause);
    }
  }
}

const ignore = (): void => undefined;

async function inTransaction<Value>(pool: Pool, shown: string, work: (connection: Connection) => Promise<Value>): Promise<Value> {
  let client: PoolClient | undefined;
  try {
    client = await pool.connect();
    // The server may hang up while nothing is being asked: the next question tells.
    client.on('error', ignore);
    await client.query('BEGIN ISOLATION LEVEL READ COMMITTED');
    await client.query(FLUSHING);
    const value = await work(client);
    const { command } = await client.query('COMMIT');
    if (command !== 'COMMIT') throw new TroupeError('ledger_io', `A transaction was rolled back: ${shown}`);
    client.off('error', ignore);
    client.release();
    return value;
  } catch (error) {
    // A connection that may be in the middle of something is not used again; the server undoes what it had begun.
    client?.release(true);
    throw postgresError(error, shown);
  }
}
