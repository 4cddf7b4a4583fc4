/**
 * Rate limits of accounts, shared by all who use one Postgres ledger. A claim is one short transaction that holds the row of its
 * account; the server's clock counts for everybody. Nothing here has to be kept: an empty table is a fresh start.
 */
import type { Clock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import { parsePostgresAddress } from '../ledger/postgres/address.ts';
import { type Connection, type Database, openDatabase } from '../ledger/postgres/connection.ts';
import { createListening } from '../ledger/postgres/listen.ts';
import { integer, type Row, text } from '../ledger/rows.ts';
import type { QuotaClaim, QuotaShare, QuotaStore } from './port.ts';
import { type Holder, settleClaim } from './rules.ts';

export interface PostgresQuotaOptions {
  readonly url: string;
  readonly clock: Clock;
  /** Tells processes apart. */
  readonly worker: string;
  /** How many calls may be under way on an account before its provider says that it is too many. */
  readonly concurrency?: number;
}

const TABLES = `
CREATE TABLE IF NOT EXISTS quota_account (
  name text PRIMARY KEY, allowed double precision NOT NULL, paused_until bigint NOT NULL
) WITH (fillfactor = 50);
CREATE TABLE IF NOT EXISTS quota_part (
  account text NOT NULL, worker text NOT NULL, needed integer NOT NULL, used integer NOT NULL, held integer NOT NULL,
  until bigint NOT NULL, PRIMARY KEY (account, worker)
) WITH (fillfactor = 50);
`;
const LOCK = 'SELECT allowed, paused_until FROM quota_account WHERE name = $1 FOR UPDATE';
const FIRST = 'INSERT INTO quota_account (name, allowed, paused_until) VALUES ($1, $2, 0) ON CONFLICT DO NOTHING';
/** The time is read after the lock was given. */
const SHARES = `SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now, worker, needed, used, held, until
  FROM (SELECT 1) AS one LEFT JOIN quota_part ON account = $1`;
const KEEP_ACCOUNT = 'UPDATE quota_account SET allowed = $2, paused_until = $3 WHERE name = $1';
const KEEP_PART = `INSERT INTO quota_part (account, worker, needed, used, held, until) VALUES ($1, $2, $3, $4, $5, $6)
  ON CONFLICT (account, worker) DO UPDATE
  SET needed = excluded.needed, used = excluded.used, held = excluded.held, until = excluded.until`;
const CLEAR = 'DELETE FROM quota_part WHERE account = $1 AND (until <= $2 OR worker = $3)';

/** Connects with the first claim. */
export function createPostgresQuota(options: PostgresQuotaOptions): QuotaStore {
  const address = parsePostgresAddress(options.url);
  const channel = `troupe_quota_${address.schema}`;
  let tell = (_account: string | undefined): void => undefined;
  let opening: Promise<Opened> | undefined;

  const opened = (): Promise<Opened> => {
    opening ??= open(options, address, channel, (account) => tell(account)).catch((error) => {
      opening = undefined;
      throw error;
    });
    return opening;
  };
  return {
    async claim(claim) {
      const { database } = await opened();
      return await database.transaction((connection) => claimIn(connection, options, channel, claim));
    },
    onRefusal: (callback) => {
      tell = callback;
    },
    async close() {
      const last = await opening?.catch(() => undefined);
      await last?.listening.close();
      await last?.database.close();
    },
  };
}

interface Opened {
  readonly database: Database;
  readonly listening: ReturnType<typeof createListening>;
}

async function open(
  { clock, worker }: PostgresQuotaOptions,
  address: ReturnType<typeof parsePostgresAddress>,
  channel: string,
  tell: (account: string | undefined) => void,
): Promise<Opened> {
  const database = await openDatabase(address, { clock, readOnly: false });
  try {
    await createTables(database, address.schema);
  } catch (error) {
    await database.close();
    throw error;
  }
  const listening = createListening({
    database,
    clock,
    name: `troupe quota ${worker}`,
    onNews: (_channel, payload) => {
      const [from = '', account = ''] = splitOnce(payload);
      if (from !== worker) tell(account);
    },
    onConnected: () => tell(undefined),
  });
  listening.want(channel);
  return { database, listening };
}

/** Processes that come at once take turns: two that create the same table would be in each other's way. */
async function createTables(database: Database, schema: string): Promise<void> {
  await database.transaction(async (connection) => {
    const known = "SELECT 1 FROM pg_catalog.pg_tables WHERE schemaname = $1 AND tablename = 'quota_part'";
    if ((await connection.query({ text: known, values: [schema] })).rows.length > 0) return;
    const lock = "SELECT pg_advisory_xact_lock(hashtextextended('troupe quota ' || $1, 0))";
    await connection.query({ text: lock, values: [schema] });
    await connection.query({ text: TABLES });
  });
}

async function claimIn(
  connection: Connection,
  { worker, concurrency = limits.accountConcurrency }: PostgresQuotaOptions,
  channel: string,
  claim: QuotaClaim,
): Promise<QuotaShare> {
  const { account: name } = claim;
  const run = async (text: string, ...values: readonly unknown[]): Promise<readonly Row[]> =>
    (await connection.query({ text, values: [...values] })).rows;
  let [row] = await run(LOCK, name);
  if (row === undefined) {
    await run(FIRST, name, concurrency);
    [row] = await run(LOCK, name);
  }
  const before = { allowed: integer(row ?? {}, 'allowed'), pausedUntil: integer(row ?? {}, 'paused_until') };
  const shares = await run(SHARES, name);
  const now = integer(shares[0] ?? {}, 'now');
  const kept = shares.filter((share) => share['worker'] !== null);
  const live = kept.filter((share) => integer(share, 'until') > now && text(share, 'worker') !== worker);
  const { account, holder, share, isNews } = settleClaim(before, live.map(holderOf), worker, claim, now, concurrency);
  if (account.allowed !== before.allowed || account.pausedUntil !== before.pausedUntil)
    await run(KEEP_ACCOUNT, name, account.allowed, account.pausedUntil);
  const isKept = holder.needed > 0 || holder.held > 0;
  if (kept.some((other) => integer(other, 'until') <= now) || !isKept) await run(CLEAR, name, now, worker);
  if (isKept) await run(KEEP_PART, name, worker, holder.needed, holder.used, holder.held, now + limits.quotaLeaseMs);
  if (isNews) await run('SELECT pg_notify($1, $2)', channel, `${worker} ${name}`);
  return share;
}

const holderOf = (row: Row): Holder => ({
  worker: text(row, 'worker'),
  needed: integer(row, 'needed'),
  used: integer(row, 'used'),
  held: integer(row, 'held'),
});

function splitOnce(payload: string): readonly [string, string] {
  const at = payload.indexOf(' ');
  return [payload.slice(0, at), payload.slice(at + 1)];
}
