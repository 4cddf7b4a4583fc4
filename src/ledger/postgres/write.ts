/**
 * Writes what a batch has changed and commits, all in one round trip: rows of a kind go in one statement, as arrays. When a
 * statement fails, the commit at the end is a rollback.
 */
import { TroupeError } from '../../base/errors.ts';
import { bytesOf } from '../rules/prepared-event.ts';
import { payloadPlace } from '../rules/stored-event.ts';
import { isLarge } from './append.ts';
import type { Connection, Statement } from './connection.ts';
import { allOf } from './load.ts';
import type { Writer } from './owner.ts';
import type { BatchState, PostgresRun, PostgresSession } from './state.ts';

/** Columns of a table with their types, so that a statement and its arrays cannot get out of step. */
interface Table {
  readonly name: string;
  readonly columns: readonly (readonly [name: string, type: string])[];
  /** What becomes of a row that is there already. */
  readonly conflict: string;
}

const replacing = (key: string, columns: readonly string[]): string =>
  `ON CONFLICT (${key}) DO UPDATE SET ${columns.map((name) => `${name} = excluded.${name}`).join(', ')}`;

export const SESSION: Table = {
  name: 'session',
  columns: [
    ['id', 'bigint'],
    ['name', 'text'],
    ['head', 'integer'],
    ['chain', 'bytea'],
    ['sealed', 'integer'],
    ['seal', 'bytea'],
    ['inbound', 'integer'],
    ['pinned', 'boolean'],
  ],
  conflict: replacing('id', ['head', 'chain', 'sealed', 'seal', 'inbound', 'pinned']),
};
export const RUN: Table = {
  name: 'run',
  columns: [
    ['id', 'bigint'],
    ['name', 'text'],
    ['session', 'bigint'],
    ['root', 'bigint'],
    ['first', 'integer'],
    ['parent', 'bigint'],
    ['agent', 'text'],
    ['role', 'text'],
    ['state', 'text'],
    ['started_at', 'bigint'],
    ['ended_at', 'bigint'],
  ],
  conflict: replacing('id', ['parent', 'agent', 'role', 'state', 'started_at', 'ended_at']),
};
export const EVENT: Table = {
  name: 'event',
  columns: [
    ['session', 'bigint'],
    ['run', 'bigint'],
    ['at', 'bigint'],
    ['position', 'integer'],
    ['parent', 'integer'],
    ['version', 'smallint'],
    ['actor', 'text'],
    ['type', 'text'],
    ['tool', 'text'],
    ['step', 'text'],
    ['payload', 'bytea'],
    ['attachment', 'bytea'],
    ['chain', 'bytea'],
  ],
  conflict: '',
};
const PAYLOAD: Table = {
  name: 'payload',
  columns: [
    ['ref', 'bytea'],
    ['place', 'smallint'],
    ['bytes', 'integer'],
    ['body', 'bytea'],
  ],
  conflict: 'ON CONFLICT (ref) DO NOTHING',
};
export const COUNTER: Table = {
  name: 'counter',
  columns: [
    ['name', 'text'],
    ['value', 'bigint'],
  ],
  conflict: replacing('name', ['value']),
};
const LEASE: Table = {
  name: 'lease',
  columns: [
    ['run', 'text'],
    ['session', 'text'],
    ['epoch', 'integer'],
    ['owner', 'text'],
  ],
  conflict: replacing('run', ['session', 'epoch', 'owner']),
};

export const REVIVE: Statement = {
  name: 'troupe-revive',
  text: `UPDATE payload SET place = $2, body = $3 WHERE ref = $1 AND place = ${payloadPlace.gone}`,
};
const FREE: Statement = {
  name: 'troupe-free',
  text: 'UPDATE lease SET owner = NULL WHERE run = $1 AND epoch = $2 AND owner = $3',
};
const GIVE_BACK: Statement = { name: 'troupe-give-back', text: 'UPDATE lease SET owner = NULL WHERE owner = $1' };
const FORGET: Statement = { name: 'troupe-forget', text: 'DELETE FROM writer WHERE id = $1' };
const SIGN: Statement = {
  name: 'troupe-sign',
  text: `INSERT INTO writer (id, pid, host, machine, lease_ms, batch, beat) VALUES ($1, $2, $3, $4, $5, $6, clock_timestamp())
         ON CONFLICT (id) DO UPDATE SET batch = excluded.batch, beat = excluded.beat`,
};
const NOTIFY: Statement = { name: 'troupe-notify', text: 'SELECT pg_notify($1, news) FROM unnest($2::text[]) AS told (news)' };

interface Destination {
  readonly connection: Connection;
  readonly schema: string;
  readonly writer: Writer;
  readonly hasBlobs: boolean;
}

/** Where news of all events, and of inbound ones only, is heard. */
export const channels = (schema: string): { readonly events: string; readonly inbound: string } => ({
  events: `troupe_events_${schema}`,
  inbound: `troupe_inbound_${schema}`,
});

export async function commitBatch(to: Destination, state: BatchState, batch: number): Promise<void> {
  const send = async ({ name, text }: Statement, values: unknown[]): Promise<string> =>
    (await to.connection.query({ name, text, values })).command;
  const sent = [
    ...payloadRows(to, state).map(({ statement, values }) => send(statement, values)),
    ...state.freed.map(({ run, epoch }) => send(FREE, [run, epoch, to.writer.id])),
    ...rowsOf(state).map(([table, rows]) => send(insertInto(table), columnsOf(table, rows))),
    ...newsOf(to.schema, state).map(([channel, news]) => send(NOTIFY, [channel, news])),
    ...signature(to.writer, state, batch).map(([statement, values]) => send(statement, values)),
    send({ name: 'troupe-commit', text: 'COMMIT' }, []),
  ];
  const commands = await allOf<string[]>(sent);
  if (commands.at(-1) !== 'COMMIT') throw new TroupeError('ledger_io', 'The database rolled a batch of appends back');
}

export function insertInto({ name, columns, conflict }: Table): Statement {
  const names = columns.map(([column]) => column).join(', ');
  const arrays = columns.map(([, type], index) => `$${index + 1}::${type}[]`).join(', ');
  const text = `INSERT INTO ${name} (${names}) SELECT ${names} FROM unnest(${arrays}) AS row (${names}) ORDER BY 1 ${conflict}`;
  return { name: `troupe-insert-${name}`, text };
}

/** Rows as one array per column. */
export function columnsOf({ columns }: Table, rows: readonly (readonly unknown[])[]): unknown[] {
  return columns.map((_, index) => rows.map((row) => row[index]));
}

type Rows = readonly (readonly unknown[])[];

function rowsOf(state: BatchState): readonly (readonly [Table, Rows])[] {
  const changed = [...state.leases.values()].filter((lease) => lease.changed);
  const all: readonly (readonly [Table, Rows])[] = [
    [SESSION, [...state.sessions.values()].filter((session) => session.changed).map(sessionRow)],
    [RUN, [...state.runs.values()].filter((run) => run.changed).map(runRow)],
    [EVENT, state.events.map(eventRow)],
    [LEASE, changed.map(({ run, session, epoch, owner }) => [run, session, epoch, owner?.id ?? null])],
    [COUNTER, [...state.changedCounters].map((name) => [name, state.counter(name)])],
  ];
  return all.filter(([, rows]) => rows.length > 0);
}

const binary = (text: string): Buffer => Buffer.from(text, 'hex');

function sessionRow(session: PostgresSession): readonly unknown[] {
  const { id, name, head, chain, sealed, seal, inbound, pinned } = session;
  return [id, name, head, binary(chain), sealed, binary(seal), inbound, pinned];
}

function runRow(run: PostgresRun): readonly unknown[] {
  const { id, name, session, root, first, parent, agent, role, state, startedAt, endedAt } = run;
  return [id, name, session, root, first, parent, agent, role, state, startedAt, endedAt];
}

export function eventRow({ session, run, fields, chain }: BatchState['events'][number]): readonly unknown[] {
  const { at, position, parent, version, actor, type, tool, step, payload, attachment } = fields;
  const attached = attachment === null ? null : binary(attachment);
  return [session, run, at, position, parent, version, actor, type, tool, step, binary(payload), attached, binary(chain)];
}

interface Sent {
  readonly statement: Statement;
  readonly values: unknown[];
}

/** Small payloads go together; each large one alone, as it is, because an array would double its bytes. */
function payloadRows({ hasBlobs }: Destination, state: BatchState): readonly Sent[] {
  const small: unknown[][] = [];
  const alone: Sent[] = [];
  for (const { body, revived } of state.bodies.values()) {
    const outside = hasBlobs && isLarge(body);
    const bytes = outside ? null : bytesOf(body.data);
    const where = outside ? payloadPlace.file : payloadPlace.inline;
    if (revived) alone.push({ statement: REVIVE, values: [binary(body.ref), where, bytes] });
    else if (isLarge(body)) alone.push({ statement: ONE_PAYLOAD, values: [binary(body.ref), where, body.bytes, bytes] });
    else small.push([binary(body.ref), where, body.bytes, bytes]);
  }
  return small.length === 0 ? alone : [{ statement: insertInto(PAYLOAD), values: columnsOf(PAYLOAD, small) }, ...alone];
}

export const ONE_PAYLOAD: Statement = {
  name: 'troupe-one-payload',
  text: 'INSERT INTO payload (ref, place, bytes, body) VALUES ($1, $2, $3, $4) ON CONFLICT (ref) DO NOTHING',
};

function newsOf(schema: string, state: BatchState): readonly (readonly [string, readonly string[]])[] {
  const appended = [...state.sessions.values()].filter((session) => session.changed && session.head > 0);
  const inbound = appended.filter((session) => session.inbound > session.inboundBefore);
  const { events, inbound: answers } = channels(schema);
  const all: readonly (readonly [string, readonly string[]])[] = [
    [events, appended.map(({ name, head }) => `${name} ${head}`)],
    [answers, inbound.map(({ name, inbound: position }) => `${name} ${position}`)],
  ];
  return all.filter(([, news]) => news.length > 0);
}

/** With the batch goes its number, so that after a lost connection the writer can ask whether it was committed. */
function signature(writer: Writer, state: BatchState, batch: number): readonly (readonly [Statement, unknown[]])[] {
  if (!state.goodbye) return [[SIGN, [writer.id, writer.pid, writer.host, writer.machine, writer.leaseMs, batch]]];
  return [
    [GIVE_BACK, [writer.id]],
    [FORGET, [writer.id]],
  ];
}
