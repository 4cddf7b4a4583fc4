/**
 * Pins, holds and forgetting in a file. What is forgotten goes in one transaction; then its files go, under the write lock, and
 * the database is written anew, so that neither its free space nor its log has the bytes. Whoever is cut off in between leaves
 * a mark, and what is asked for again is done to its end.
 */
import type { DatabaseSync } from 'node:sqlite';
import { messageOf } from '../../base/errors.ts';
import type { PayloadRef, SessionId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import type { PayloadFiles } from '../blobs/payload-files.ts';
import type { ForgetRequest, ForgottenOutcome, Keeping } from '../forgetting/port.ts';
import { asked, type ChosenRows, forgetRefusal, forgottenOutcome } from '../forgetting/request.ts';
import { FREE, holdOf, SELECT_FORGOTTEN, SELECT_HOLDS, selectHasForgotten, standingsOf, UNENDED } from '../forgetting/rows.ts';
import { bytes, hex, integer, type Row, text } from '../rows.ts';
import { payloadPlace } from '../rules/stored-event.ts';
import type { GroupCommit } from './group-commit.ts';

interface KeepingNeeds {
  readonly database: DatabaseSync;
  readonly writes: GroupCommit;
  readonly files: PayloadFiles;
  readonly inMemory: boolean;
  /** Nothing that is remembered of it outlives what is done meanwhile. */
  without<Outcome>(work: () => Promise<Outcome>): Promise<Outcome>;
}

/** Events that still need their payload do so wherever they are, unless they are forgotten themselves or were collected. */
const PARTS = `
WITH whole AS (SELECT id FROM session WHERE name IN (SELECT value FROM json_each(:whole))),
picked AS (
  SELECT session.id AS session, json_extract(asked.value, '$[1]') AS position
  FROM json_each(:picked) AS asked JOIN session ON session.name = json_extract(asked.value, '$[0]')
),
chosen AS (
  SELECT session, position, payload, attachment FROM event WHERE session IN whole
  UNION SELECT event.session, event.position, payload, attachment FROM event JOIN picked USING (session, position)
),
used AS (SELECT payload AS id FROM chosen UNION SELECT attachment FROM chosen WHERE attachment IS NOT NULL),
others AS (
  SELECT session.name AS session, event.payload AS payload, event.attachment AS attachment
  FROM event JOIN session ON session.id = event.session
  WHERE event.position > session.collected AND event.session NOT IN whole
    AND (event.session, event.position) NOT IN (SELECT session, position FROM picked)
    AND (event.payload IN used OR event.attachment IN used)
    AND NOT EXISTS (SELECT 1 FROM forgotten WHERE forgotten.session = session.name AND forgotten.position = event.position)
),
needed AS (
  SELECT session, payload AS id FROM others WHERE payload IN used
  UNION SELECT session, attachment FROM others WHERE attachment IN used
)`;
const CHOSEN_EVENTS = `${PARTS} SELECT count(*) AS count FROM chosen`;
const CHOSEN_PAYLOADS = `${PARTS}
SELECT id, ref, place, bytes FROM payload WHERE place <> ${payloadPlace.gone} AND id IN used
  AND id NOT IN (SELECT id FROM needed)`;
const SHARED = `${PARTS}
SELECT session, count(*) AS payloads FROM needed JOIN payload USING (id) WHERE place <> ${payloadPlace.gone}
GROUP BY session ORDER BY session`;
/** Of everything that was forgotten and not yet cleared away. */
const GONE_FILES = `
WITH cut AS (SELECT id FROM session WHERE name IN (SELECT session FROM forgotten WHERE finished = 0))
SELECT ref FROM payload WHERE place = ${payloadPlace.gone} AND id IN (
  SELECT payload FROM event WHERE session IN cut
  UNION SELECT attachment FROM event WHERE session IN cut AND attachment IS NOT NULL
)`;

export function createSqliteKeeping(needs: KeepingNeeds): Keeping {
  const { database, writes } = needs;
  const readHolds = () => database.prepare(SELECT_HOLDS).all().map(holdOf);
  const inForce = 'session = ? AND released_at IS NULL';
  const pin = database.prepare('UPDATE session SET pinned = ? WHERE name = ?');
  return {
    hold: (session, reason, { by, at }) =>
      writes.submit({
        weight: 1,
        power: true,
        apply: () =>
          database
            .prepare(
              `INSERT INTO hold (session, held_at, held_by, reason) SELECT name, ?, ?, ? FROM session
               WHERE name = ? AND NOT EXISTS (SELECT 1 FROM hold WHERE ${inForce})`,
            )
            .run(at, by, reason, session, session).changes === 1,
      }),
    unhold: (session, { by, at }) =>
      writes.submit({
        weight: 1,
        power: true,
        apply: () =>
          database.prepare(`UPDATE hold SET released_at = ?, released_by = ? WHERE ${inForce}`).run(at, by, session).changes > 0,
      }),
    holds: async () => readHolds(),
    standings: async () => {
      const pinned = database.prepare('SELECT name FROM session WHERE pinned <> 0').all();
      const names = pinned.map((row) => text(row, 'name') as SessionId);
      return standingsOf(names, readHolds(), database.prepare(SELECT_FORGOTTEN).all());
    },
    hasForgotten: async (session) => database.prepare(selectHasForgotten('?')).get(session) !== undefined,
    forget: (request) => needs.without(() => forget(needs, request)),
    pin: (session, pinned) => writes.submit({ weight: 1, power: false, apply: () => void pin.run(pinned ? 1 : 0, session) }),
  };
}

async function forget(needs: KeepingNeeds, request: ForgetRequest): Promise<ForgottenOutcome> {
  const { database, writes } = needs;
  const parts = asked(request);
  const given = { whole: JSON.stringify(parts.whole), picked: JSON.stringify(parts.picked) };
  const choose = (): ChosenRows => ({
    events: integer(database.prepare(CHOSEN_EVENTS).get(given) ?? {}, 'count'),
    payloads: database.prepare(CHOSEN_PAYLOADS).all(given),
    shared: database.prepare(SHARED).all(given),
  });
  const done = request.dryRun
    ? (refused(database, request) ?? forgottenOutcome(choose(), [], true))
    : await writes.submit<ForgottenOutcome>({
        weight: 1,
        power: true,
        apply: () => {
          const no = refused(database, request);
          if (no !== undefined) return no;
          const chosen = choose();
          bury(database, request, chosen.payloads);
          return forgottenOutcome(chosen, [], false);
        },
      });
  if (request.dryRun || done.kind !== 'forgotten') return done;
  await removeFiles(needs, database.prepare(GONE_FILES).all());
  const left = rewrite(needs);
  if (left.length === 0) {
    const finish = database.prepare('UPDATE forgotten SET finished = 1 WHERE finished = 0');
    await writes.submit({ weight: 1, power: true, apply: () => void finish.run() });
  }
  return { ...done, left };
}

function refused(database: DatabaseSync, { parts }: ForgetRequest): ForgottenOutcome | undefined {
  const find = database.prepare(`SELECT (${FREE}) AS free, (${UNENDED}) AS unfinished, pinned,
    (SELECT max(position) FROM event WHERE event.session = session.id) AS head FROM session WHERE name = ?`);
  const holds = database.prepare(SELECT_HOLDS).all().map(holdOf);
  for (const part of parts) {
    const refusal = forgetRefusal(part, find.get(part.session), holds);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

function bury(database: DatabaseSync, { parts, by, at }: ForgetRequest, payloads: readonly Row[]): void {
  const tombstone = database.prepare(`UPDATE payload SET place = ${payloadPlace.gone}, body = NULL WHERE id = ?`);
  for (const row of payloads) tombstone.run(integer(row, 'id'));
  const head = '(SELECT max(position) FROM event WHERE session = session.id)';
  const collected = database.prepare(
    'UPDATE session SET collected = (SELECT max(position) FROM event WHERE session = session.id) WHERE name = ?',
  );
  const clear = database.prepare('DELETE FROM forgotten WHERE session = ?');
  const whole = database.prepare(`INSERT INTO forgotten (session, position, up_to, gone_at, gone_by, stand_in, finished)
    SELECT name, 0, ${head}, ?, ?, NULL, 0 FROM session WHERE name = ?`);
  const one = database.prepare(`INSERT OR REPLACE INTO forgotten (session, position, up_to, gone_at, gone_by, stand_in, finished)
    VALUES (?, ?, ?, ?, ?, ?, 0)`);
  for (const { session, events } of parts) {
    if (events === undefined) {
      clear.run(session);
      collected.run(session);
      whole.run(at, by, session);
    } else for (const { position, payload } of events) one.run(session, position, position, at, by, payload);
  }
}

/** Somebody may store the same bytes again at this moment, and looks for the file under the same lock. */
async function removeFiles({ database, writes, files }: KeepingNeeds, gone: readonly Row[]): Promise<void> {
  const stillGone = database.prepare(`SELECT 1 FROM payload WHERE ref = ? AND place = ${payloadPlace.gone}`);
  await writes.submit({
    weight: 1,
    power: false,
    apply: () => {
      for (const row of gone) {
        const ref = bytes(row, 'ref');
        if (stillGone.get(ref) !== undefined) files.remove(hex(ref) as PayloadRef);
      }
    },
  });
}

/** Free pages are overwritten when they are freed; what is left in pages when rows move goes when all are written anew. */
function rewrite({ database, inMemory }: KeepingNeeds): readonly string[] {
  try {
    database.exec(`PRAGMA busy_timeout = ${limits.busyWaitMs}`);
    database.exec('VACUUM');
    const log = inMemory ? undefined : database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get();
    if (log !== undefined && integer(log, 'busy') !== 0) return ['the log of the database is read by another process'];
    return [];
  } catch (error) {
    return [`the database could not be written anew: ${messageOf(error)}`];
  } finally {
    database.exec(`PRAGMA busy_timeout = ${limits.busyBlockMs}`);
  }
}
