/** Begins a transaction: takes the locks and reads the rows that a batch needs, in one round trip. */
import { createHash } from 'node:crypto';
import type { PayloadRef, RunId, SessionId } from '../../base/ids.ts';
import { CHAIN_START } from '../../events/envelope.ts';
import { bytes, hex, integer, integerOrNull, type Row, text, textOrNull } from '../rows.ts';
import type { Connection, Statement } from './connection.ts';
import { isLiveOwner, leaseOwner, OWNER_COLUMNS } from './owner.ts';
import { type BatchRows, type BatchState, createBatchState, type LeaseState, type Needs, type PostgresRun } from './state.ts';

/** A name that has no row yet gets its number here, in the order it was asked for. */
const SESSIONS: Statement = {
  name: 'troupe-sessions',
  text: `SELECT wanted.name, coalesce(session.id, nextval('session_id')) AS id, head, chain, sealed, seal, inbound, pinned
         FROM unnest($1::text[]) AS wanted (name) LEFT JOIN session USING (name)`,
};
const RUN_COLUMNS = 'session, root, first, parent, agent, role, state, started_at, ended_at';
const RUNS: Statement = {
  name: 'troupe-runs',
  text: `SELECT name, CASE WHEN id IS NULL AND makes THEN nextval('run_id') ELSE id END AS id, ${RUN_COLUMNS}
         FROM (SELECT wanted.name, wanted.makes, run.id, ${RUN_COLUMNS}
               FROM unnest($1::text[], $2::boolean[]) WITH ORDINALITY AS wanted (name, makes, number)
               LEFT JOIN run USING (name) ORDER BY wanted.number) AS found`,
};
const UNFINISHED: Statement = {
  name: 'troupe-unfinished',
  text: `SELECT run.name, run.id, ${RUN_COLUMNS} FROM run
         WHERE session IN (SELECT id FROM session WHERE name = ANY($1::text[]))
           AND root = id AND started_at IS NOT NULL AND ended_at IS NULL ORDER BY id`,
};
const LEASES: Statement = {
  name: 'troupe-leases',
  text: `SELECT lease.run, lease.session, lease.epoch, ${OWNER_COLUMNS}
         FROM lease LEFT JOIN writer ON writer.id = lease.owner
         WHERE lease.run = ANY($1::text[]) OR lease.session = ANY($2::text[])`,
};
const COUNTERS: Statement = {
  name: 'troupe-counters',
  text: 'SELECT name, value FROM counter WHERE name = ANY($1::text[])',
};
const PAYLOADS: Statement = {
  name: 'troupe-payloads',
  text: 'SELECT ref, place FROM payload WHERE ref = ANY($1::bytea[])',
};
const LAST_BATCH: Statement = { name: 'troupe-last-batch', text: 'SELECT batch FROM writer WHERE id = $1' };

/** Everybody who appends holds it together; a collection holds it alone. */
export const COLLECTING = 'collecting';

/** The number of an advisory lock. Two names with the same number only wait for each other without need. */
export function lockKey(schema: string, name: string): string {
  return createHash('sha256').update(`troupe ${schema} ${name}`).digest().readBigInt64BE().toString();
}

/** How many locks a job brings. */
export const locksOf = (needs: Needs): readonly string[] => [
  ...[...(needs.sessions ?? []), ...(needs.leasing ?? [])].map((name) => `session ${name}`),
  ...(needs.counters ?? []).map((name) => `counter ${name}`),
];

/** `writer` is locked too: a transaction of ours whose connection was lost has then ended, one way or the other. */
export async function beginBatch(
  connection: Connection,
  schema: string,
  writer: string,
  needs: readonly Needs[],
): Promise<BatchState> {
  const list = <Name>(of: (needs: Needs) => readonly Name[] | undefined): Name[] => [
    ...new Set(needs.flatMap((one) => of(one) ?? [])),
  ];
  const leasing = list((one) => one.leasing);
  const sessions = [...new Set([...list((one) => one.sessions), ...leasing])];
  const runs = list((one) => one.runs);
  const looked = list((one) => one.parents).filter((name) => !runs.includes(name));
  const leases = list((one) => one.leases);
  const counters = list((one) => one.counters);
  const refs = list((one) => one.bodies?.map((body) => body.ref));
  const ask = async (statement: Statement, wanted: number, values: unknown[]): Promise<readonly Row[]> =>
    wanted === 0 ? [] : (await connection.query({ ...statement, values })).rows;
  const made = [...runs.map(() => true), ...looked.map(() => false)];
  const names = list(locksOf);
  const [, foundSessions, foundRuns, unfinished, foundLeases, foundCounters, places, last] = await allOf([
    connection.query({ text: beginning(schema, [`writer ${writer}`, ...names]) }).then(() => []),
    ask(SESSIONS, sessions.length, [sessions]),
    ask(RUNS, made.length, [[...runs, ...looked], made]),
    ask(UNFINISHED, leasing.length, [leasing]),
    ask(LEASES, leases.length + leasing.length, [leases, leasing]),
    ask(COUNTERS, counters.length, [counters]),
    ask(PAYLOADS, refs.length, [refs.map((ref) => Buffer.from(ref, 'hex'))]),
    ask(LAST_BATCH, 1, [writer]),
  ]);
  return createBatchState({
    sessions: sessionStates(foundSessions),
    runs: runStates([...foundRuns, ...unfinished]),
    leases: new Map(foundLeases.map((row) => [text(row, 'run') as RunId, leaseState(row)])),
    counters: new Map(foundCounters.map((row) => [text(row, 'name'), integer(row, 'value')])),
    places: new Map(places.map((row) => [hex(bytes(row, 'ref')) as PayloadRef, integer(row, 'place')])),
    lastBatch: last[0] === undefined ? 0 : integer(last[0], 'batch'),
  });
}

/** Waits for all of what was sent, then reports the first failure: what comes after it only failed because of it. */
export async function allOf<Values extends readonly unknown[]>(
  sent: {
    readonly [Index in keyof Values]: Promise<Values[Index]>;
  },
): Promise<Values> {
  await Promise.allSettled(sent);
  return (await Promise.all(sent)) as unknown as Values;
}

/** One text for all: numbers only, so nothing has to be escaped. Each statement sees what was committed before it began. */
function beginning(schema: string, names: readonly string[]): string {
  const keys = [...new Set(names.map((name) => lockKey(schema, name)))].sort();
  const taken = `SELECT pg_advisory_xact_lock(key) FROM unnest('{${keys.join(',')}}'::bigint[]) AS wanted (key)`;
  return `BEGIN ISOLATION LEVEL READ COMMITTED; SELECT pg_advisory_xact_lock_shared(${lockKey(schema, COLLECTING)}); ${taken}`;
}

function sessionStates(rows: readonly Row[]): BatchRows['sessions'] {
  const states = rows.map((row) => {
    const name = text(row, 'name') as SessionId;
    const fresh = row['head'] === null;
    return {
      id: integer(row, 'id'),
      name,
      head: integerOrNull(row, 'head') ?? 0,
      chain: fresh ? CHAIN_START : hex(bytes(row, 'chain')),
      sealed: integerOrNull(row, 'sealed') ?? 0,
      seal: fresh ? CHAIN_START : hex(bytes(row, 'seal')),
      inbound: integerOrNull(row, 'inbound') ?? 0,
      inboundBefore: integerOrNull(row, 'inbound') ?? 0,
      pinned: row['pinned'] === true,
      changed: false,
    };
  });
  return new Map(states.map((state) => [state.name, state]));
}

function runStates(rows: readonly Row[]): BatchRows['runs'] {
  const states = new Map<RunId, PostgresRun>();
  for (const row of rows) {
    if (row['id'] === null) continue;
    const name = text(row, 'name') as RunId;
    states.set(name, {
      id: integer(row, 'id'),
      name,
      session: integerOrNull(row, 'session') ?? 0,
      root: integerOrNull(row, 'root') ?? 0,
      first: integerOrNull(row, 'first') ?? 0,
      parent: integerOrNull(row, 'parent'),
      agent: textOrNull(row, 'agent'),
      role: textOrNull(row, 'role'),
      state: textOrNull(row, 'state'),
      startedAt: integerOrNull(row, 'started_at'),
      endedAt: integerOrNull(row, 'ended_at'),
      changed: false,
    });
  }
  return states;
}

function leaseState(row: Row): LeaseState {
  return {
    run: text(row, 'run') as RunId,
    session: text(row, 'session') as SessionId,
    epoch: integer(row, 'epoch'),
    owner: leaseOwner(row),
    live: isLiveOwner(row),
    changed: false,
  };
}
