/** A SQLite ledger as a place to copy from or to. */
import { resolve } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import type { Clock } from '../../base/clock.ts';
import type { PayloadRef, RunId, SessionId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { createPayloadFiles, type PayloadFiles } from '../blobs/payload-files.ts';
import type { LeaseOwner } from '../port.ts';
import { integer, text, textOrNull } from '../rows.ts';
import { chainedEvent } from '../rules/read-events.ts';
import { type ChainedEvent, payloadPlace } from '../rules/stored-event.ts';
import { liveness } from '../sqlite/leases.ts';
import { isInline } from '../sqlite/payloads.ts';
import { openFile } from '../sqlite/schema.ts';
import { copiedRun, copiedSession, keepingStatements, valuesOf } from './rows.ts';
import type { CopiedPayload, CopiedRun, CopiedSession, CopyStore, PayloadSize, WholeSession } from './store.ts';

const SESSIONS = `
SELECT name FROM session WHERE id > coalesce((SELECT id FROM session WHERE name = ?), 0) ORDER BY id LIMIT ${limits.copyPageNames}`;
const SESSION = `
SELECT session.name, event.position AS head, event.chain, sealed, seal, inbound, collected, pinned
FROM session JOIN event ON event.session = session.id WHERE session.name = ? ORDER BY event.position DESC LIMIT 1`;
const RUNS = `
SELECT run.name, root.name AS root, run.first, parent.name AS parent, run.agent, run.role, run.state, run.started_at, run.ended_at
FROM run JOIN run AS root ON root.id = run.root LEFT JOIN run AS parent ON parent.id = run.parent
WHERE run.session = (SELECT id FROM session WHERE name = ?) ORDER BY run.id`;
const EVENTS = `
SELECT event.position, run.name AS run, event.parent, event.at, event.actor, event.tool, event.type, event.step, event.version,
       event.chain, payload.ref, attachment.ref AS attachment
FROM event JOIN run ON run.id = event.run JOIN payload ON payload.id = event.payload
LEFT JOIN payload AS attachment ON attachment.id = event.attachment
WHERE event.session = (SELECT id FROM session WHERE name = ?) AND event.position > ? ORDER BY event.position LIMIT ?`;
const OWNERS = `
SELECT lease.owner, owner.pid, owner.host, owner.beat FROM lease JOIN owner ON owner.id = lease.owner WHERE lease.session = ?`;
const COUNTERS = `SELECT name, value FROM counter WHERE name > ? ORDER BY name LIMIT ${limits.copyPageNames}`;

const KEEPING = keepingStatements(() => '?');

export interface SqliteCopyOptions {
  readonly path: string;
  readonly clock: Clock;
  readonly self: LeaseOwner;
  readonly readOnly: boolean;
}

export function openSqliteCopy({ path: given, clock, self, readOnly }: SqliteCopyOptions): CopyStore {
  const path = resolve(given);
  const { database } = openFile(path, readOnly);
  database.exec(`PRAGMA busy_timeout = ${limits.busyWaitMs}`);
  const files = createPayloadFiles(`${path}-payloads`, self.id);
  const isLive = liveness(clock, self);
  return {
    shown: path,
    sessionsAfter: async (last) =>
      database
        .prepare(SESSIONS)
        .all(last ?? '')
        .map((row) => text(row, 'name') as SessionId),
    session: async (name) => {
      const row = database.prepare(SESSION).get(name);
      return row === undefined ? undefined : copiedSession(row);
    },
    liveOwner: async (name) => {
      const row = database.prepare(OWNERS).all(name).find(isLive);
      return row === undefined ? undefined : { id: text(row, 'owner'), pid: integer(row, 'pid'), host: text(row, 'host') };
    },
    runs: async (name) => database.prepare(RUNS).all(name).map(copiedRun),
    events: async (name, after, limit) =>
      database
        .prepare(EVENTS)
        .all(name, after, limit)
        .map((row) => chainedEvent(name, row)),
    sizes: async (refs) => sizesOf(database, refs),
    body: async (ref) => {
      const row = database.prepare('SELECT body FROM payload WHERE ref = ?').get(Buffer.from(ref, 'hex'));
      const body = row === undefined ? null : textOrNull(row, 'body');
      return body === null ? await files.read(ref) : Buffer.from(body);
    },
    countersAfter: async (name) =>
      database
        .prepare(COUNTERS)
        .all(name)
        .map((row) => ({ name: text(row, 'name'), value: integer(row, 'value') })),
    writePayloads: async (payloads) => {
      for (const { ref, body } of payloads) {
        if (body !== undefined && !isInline(body)) await files.write(ref, body);
      }
      inTransaction(database, () => writePayloads(database, files, payloads));
    },
    writeEvents: async (session, runs, events) => inTransaction(database, () => writeEvents(database, session, runs, events)),
    keeping: async (name) => ({
      holds: database.prepare(KEEPING.holds).all(name),
      forgotten: database.prepare(KEEPING.forgotten).all(name),
    }),
    writeKeeping: async (_name, { holds, forgotten }) =>
      inTransaction(database, () => {
        for (const { hold, identity } of holds.map(valuesOf)) {
          database.prepare(KEEPING.dropHold).run(...identity);
          database.prepare(KEEPING.addHold).run(...hold);
        }
        for (const row of forgotten.map(valuesOf)) database.prepare(KEEPING.addForgotten).run(...row.forgotten);
      }),
    writeWhole: async (sessions) => {
      const there: { name: SessionId | RunId | undefined } = { name: undefined };
      inTransaction(database, () => {
        there.name = thereAlready(database, sessions);
        if (there.name !== undefined) return;
        for (const { session, runs, events } of sessions) writeEvents(database, session, runs, events);
      });
      return { there: there.name };
    },
    writeCounters: async (counters) =>
      inTransaction(database, () => {
        const write = database.prepare(
          'INSERT INTO counter (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = max(value, excluded.value)',
        );
        for (const { name, value } of counters) write.run(name, value);
      }),
    close: async () => database.close(),
  };
}

function inTransaction(database: DatabaseSync, work: () => void): void {
  database.exec('BEGIN IMMEDIATE');
  try {
    work();
    database.exec('COMMIT');
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

function thereAlready(database: DatabaseSync, sessions: readonly WholeSession[]): SessionId | RunId | undefined {
  const session = database.prepare('SELECT 1 AS is_there FROM session WHERE name = ?');
  const run = database.prepare('SELECT 1 AS is_there FROM run WHERE name = ?');
  for (const { session: row, runs } of sessions) {
    if (session.get(row.session) !== undefined) return row.session;
    const taken = runs.find((one) => run.get(one.run) !== undefined);
    if (taken !== undefined) return taken.run;
  }
  return undefined;
}

function sizesOf(database: DatabaseSync, refs: readonly PayloadRef[]): readonly PayloadSize[] {
  const find = database.prepare('SELECT place, bytes FROM payload WHERE ref = ?');
  return refs.flatMap((ref) => {
    const row = find.get(Buffer.from(ref, 'hex'));
    return row === undefined ? [] : [{ ref, bytes: integer(row, 'bytes'), gone: integer(row, 'place') === payloadPlace.gone }];
  });
}

/** A tombstone gets its bytes back when they come. */
function writePayloads(database: DatabaseSync, files: PayloadFiles, payloads: readonly CopiedPayload[]): void {
  const write = database.prepare(
    `INSERT INTO payload (ref, place, bytes, body) VALUES (?, ?, ?, ?)
     ON CONFLICT (ref) DO UPDATE SET place = excluded.place, body = excluded.body WHERE place = ${payloadPlace.gone}`,
  );
  for (const { ref, bytes: size, body } of payloads) {
    const large = body !== undefined && !isInline(body);
    if (large) files.ensure(ref, body);
    const where = body === undefined ? payloadPlace.gone : large ? payloadPlace.file : payloadPlace.inline;
    const inline = body === undefined || large ? null : Buffer.from(body).toString();
    write.run(Buffer.from(ref, 'hex'), where, size, inline);
  }
}

function writeEvents(
  database: DatabaseSync,
  session: CopiedSession,
  runs: readonly CopiedRun[],
  events: readonly ChainedEvent[],
): void {
  database.prepare('INSERT INTO session (name) VALUES (?) ON CONFLICT (name) DO NOTHING').run(session.session);
  const id = integer(database.prepare('SELECT id FROM session WHERE name = ?').get(session.session) ?? {}, 'id');
  const { sealed, seal, inbound, collected, pinned } = session;
  database
    .prepare('UPDATE session SET sealed = ?, seal = ?, inbound = ?, collected = ?, pinned = ? WHERE id = ?')
    .run(sealed, Buffer.from(seal, 'hex'), inbound, collected, pinned ? 1 : 0, id);
  writeRuns(database, id, runs);
  const write = database.prepare(
    `INSERT INTO event (session, position, run, parent, at, actor, tool, type, step, payload, attachment, version, chain)
     VALUES (?, ?, (SELECT id FROM run WHERE name = ?), ?, ?, ?, ?, ?, ?,
             (SELECT id FROM payload WHERE ref = ?), (SELECT id FROM payload WHERE ref = ?), ?, ?)`,
  );
  for (const { fields, chain } of events) {
    const { position, run, parent, at, actor, tool, type, step, payload, attachment, version } = fields;
    const attached = attachment === null ? null : Buffer.from(attachment, 'hex');
    const envelope = [id, position, run, parent, at, actor, tool, type, step] as const;
    write.run(...envelope, Buffer.from(payload, 'hex'), attached, version, Buffer.from(chain, 'hex'));
  }
}

/** Numbers first, then what refers to them. */
function writeRuns(database: DatabaseSync, session: number, runs: readonly CopiedRun[]): void {
  const make = database.prepare('INSERT INTO run (name, session, root, first) VALUES (?, ?, 0, ?) ON CONFLICT (name) DO NOTHING');
  const fill = database.prepare(
    `UPDATE run SET root = (SELECT id FROM run WHERE name = ?), parent = (SELECT id FROM run WHERE name = ?),
     agent = ?, role = ?, state = ?, started_at = ?, ended_at = ? WHERE name = ?`,
  );
  for (const { run, first } of runs) make.run(run, session, first);
  for (const { run, root, parent, agent, role, state, startedAt, endedAt } of runs) {
    fill.run(root, parent, agent, role, state, startedAt, endedAt, run);
  }
}
