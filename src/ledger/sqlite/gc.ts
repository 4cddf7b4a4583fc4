/**
 * Collecting what is no longer wanted. Events stay for ever; the payloads of old sessions go, and a tombstone keeps each
 * one's hash so that the chain still verifies. Kept: pinned sessions, sessions with unfinished runs or a lease, every
 * payload that a kept session uses too, and attachments that have a longer time of their own.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { PayloadRef, SessionId } from '../../base/ids.ts';
import type { PayloadFiles } from '../blobs/payload-files.ts';
import { FREE } from '../forgetting/rows.ts';
import type { GcReport, RetentionPolicy } from '../port.ts';
import { bytes, hex, integer, type Row, text } from '../rows.ts';
import { askedRetention } from '../rules/attachment-retention.ts';
import { payloadPlace } from '../rules/stored-event.ts';
import type { GroupCommit } from './group-commit.ts';
import type { Memo } from './memo.ts';

/** `collected` is a session's last position when it was last collected: only what came later can still be collected. */
const OLD_SESSIONS = `
SELECT id, name FROM session
WHERE pinned = 0 AND (:only IS NULL OR name IN (SELECT value FROM json_each(:only)))
  AND (SELECT at FROM event WHERE event.session = session.id AND position > collected ORDER BY position DESC LIMIT 1) < :before
  AND ${FREE}
ORDER BY id`;

/** Sessions that were looked at, nobody works on, and that have no more of what was looked for since. */
const STILL = `
SELECT session.id FROM session JOIN json_each(:seen) AS seen ON seen.key = session.name
WHERE pinned = 0 AND ${FREE}
  AND NOT EXISTS (SELECT 1 FROM event WHERE event.session = session.id AND event.position > seen.value
                  AND event.type IN (SELECT value FROM json_each(:records)))`;

const ONLY_IN_OLD = `
WITH old AS (SELECT value AS id FROM json_each(:old)),
still AS (${STILL}),
droppable AS (SELECT id FROM payload WHERE ref IN (SELECT unhex(value) FROM json_each(:drop))),
kept AS (
  SELECT event.payload AS id FROM event JOIN session ON session.id = event.session
  WHERE event.session NOT IN old AND event.position > session.collected
  UNION SELECT event.attachment FROM event JOIN session ON session.id = event.session
  WHERE event.session NOT IN old AND event.position > session.collected AND event.attachment IS NOT NULL
    AND NOT (event.attachment IN droppable AND event.session IN still
             AND event.type IN (SELECT value FROM json_each(:types)))
  UNION SELECT payload FROM event WHERE type IN (SELECT value FROM json_each(:records))
  UNION SELECT id FROM payload WHERE ref IN (SELECT unhex(value) FROM json_each(:keep))
),
used AS (
  SELECT payload AS id FROM event WHERE session IN old
  UNION SELECT attachment FROM event WHERE session IN old AND attachment IS NOT NULL
  UNION SELECT id FROM droppable
)
SELECT id, ref, place, bytes FROM payload WHERE place <> ${payloadPlace.gone} AND id IN used AND id NOT IN kept`;

/** A file that nothing refers to yet may belong to a commit under way; after this time it does not. */
const LEFTOVER_MS = 60 * 60 * 1000;

interface GcOptions {
  readonly database: DatabaseSync;
  readonly writes: GroupCommit;
  readonly memo: Memo;
  readonly files: PayloadFiles;
}

export async function collectGarbage(options: GcOptions, policy: RetentionPolicy): Promise<GcReport> {
  const { database, writes } = options;
  const asked = parametersOf(policy);
  const choose = (): { readonly sessions: Row[]; readonly payloads: Row[] } => {
    const sessions = database
      .prepare(OLD_SESSIONS)
      .all({ before: policy.now - policy.olderThanMs, only: policy.only === undefined ? null : JSON.stringify(policy.only) });
    const { types, records, keep, drop, seen } = asked;
    if (sessions.length === 0 && drop === NOTHING) return { sessions, payloads: [] };
    const old = JSON.stringify(sessions.map((row) => integer(row, 'id')));
    return { sessions, payloads: database.prepare(ONLY_IN_OLD).all({ old, seen, types, records, keep, drop }) };
  };
  const chosen = policy.dryRun
    ? choose()
    : await writes.submit({
        weight: 1,
        power: true,
        apply: () => {
          const found = choose();
          bury(database, found.sessions, found.payloads);
          return found;
        },
      });
  if (!policy.dryRun) {
    await removeFiles(options, chosen.payloads, policy.now);
    giveSpaceBack(database);
  }
  return {
    sessions: chosen.sessions.map((row) => text(row, 'name') as SessionId),
    payloads: chosen.payloads.length,
    bytes: chosen.payloads.reduce((sum, row) => sum + integer(row, 'bytes'), 0),
    dryRun: policy.dryRun,
  };
}

const NOTHING = '[]';

function parametersOf(policy: RetentionPolicy) {
  const { types, records, keep, drop, sessions, heads } = askedRetention(policy);
  const list = (refs: readonly Buffer[]): string => JSON.stringify(refs.map((ref) => ref.toString('hex')));
  return {
    types: JSON.stringify(types),
    records: JSON.stringify(records),
    keep: list(keep),
    drop: list(drop),
    seen: JSON.stringify(Object.fromEntries(sessions.map((name, index) => [name, heads[index]]))),
  };
}

function bury(database: DatabaseSync, sessions: readonly Row[], payloads: readonly Row[]): void {
  const tombstone = database.prepare(`UPDATE payload SET place = ${payloadPlace.gone}, body = NULL WHERE id = ?`);
  const collected = database.prepare(
    'UPDATE session SET collected = (SELECT max(position) FROM event WHERE session = session.id) WHERE id = ?',
  );
  for (const row of payloads) tombstone.run(integer(row, 'id'));
  for (const row of sessions) collected.run(integer(row, 'id'));
}

/**
 * Files go after the tombstones are durable, and under the write lock: somebody may store the same bytes again at this
 * moment, and whoever does so looks for the file under the same lock.
 */
async function removeFiles({ database, writes, files }: GcOptions, payloads: readonly Row[], now: number): Promise<void> {
  // A file that a tombstone stands for was to be removed by somebody who was cut off.
  const known = database.prepare(`SELECT 1 FROM payload WHERE ref = ? AND place = ${payloadPlace.file}`);
  const stillGone = database.prepare(`SELECT 1 FROM payload WHERE id = ? AND place = ${payloadPlace.gone}`);
  await writes.submit({
    weight: 1,
    power: false,
    apply: () => {
      for (const row of payloads) {
        if (integer(row, 'place') !== payloadPlace.file || stillGone.get(integer(row, 'id')) === undefined) continue;
        files.remove(hex(bytes(row, 'ref')) as PayloadRef);
      }
      files.sweep(now - LEFTOVER_MS, (ref) => known.get(Buffer.from(ref, 'hex')) !== undefined);
    },
  });
}

/** Shrinks the file. A reader or writer elsewhere may be in the way: then the free pages are used by what comes next. */
function giveSpaceBack(database: DatabaseSync): void {
  try {
    database.exec('PRAGMA incremental_vacuum; PRAGMA wal_checkpoint(TRUNCATE)');
  } catch {
    return;
  }
}
