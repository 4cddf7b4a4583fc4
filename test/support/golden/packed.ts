/** Golden ledgers of sessions as they lie in the repository: packed, each with what is known of its sessions beside it. */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { gunzipSync, gzipSync } from 'node:zlib';
import { systemClock } from '../../../src/base/clock.ts';
import { createIds, type RunId, type SessionId } from '../../../src/base/ids.ts';
import { canonicalJson, type Json } from '../../../src/base/json.ts';
import { seededRandom } from '../../../src/base/random.ts';
import { readAll } from '../../../src/engine/record/read-all.ts';
import type { LedgerEvent } from '../../../src/events/envelope.ts';
import type { Ledger } from '../../../src/ledger/port.ts';
import { openSqliteLedger } from '../../../src/ledger/sqlite/store.ts';
import { kindsOf, type SessionKind } from './kinds.ts';

export const ledgersFolder = join(import.meta.dirname, '../../fixtures/ledgers');

/** More than any of them has. */
const SESSIONS = 1_000;

export interface KnownSession {
  readonly session: SessionId;
  /** Its root runs, the oldest first. */
  readonly runs: readonly RunId[];
  readonly kinds: readonly SessionKind[];
  readonly events: number;
  /** Of all its events as they are read. */
  readonly digest: string;
}

const digestOf = (events: readonly LedgerEvent[]): string =>
  createHash('sha256')
    .update(canonicalJson(events as unknown as Json))
    .digest('hex');

/** What a reader sees in it, session by session. */
export async function sessionsIn(ledger: Ledger): Promise<readonly KnownSession[]> {
  const rows = (await ledger.runs({ roots: true, limit: SESSIONS })).toReversed();
  const found: KnownSession[] = [];
  for (const [session, own] of Map.groupBy(rows, (row) => row.session)) {
    const events = await readAll(ledger, session);
    const runs = own.map(({ run }) => run);
    found.push({ session, runs, kinds: kindsOf(events), events: events.length, digest: digestOf(events) });
  }
  return found;
}

export const openedGolden = (path: string): Ledger =>
  openSqliteLedger({ path, clock: systemClock, ids: createIds(systemClock, seededRandom(1)), validate: true });

/** `path`: a ledger that nobody has open. */
export async function packed(path: string, release: string): Promise<void> {
  const database = new DatabaseSync(path);
  database.exec('PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE; VACUUM');
  database.close();
  const target = join(ledgersFolder, release, basename(path));
  writeFileSync(`${target}.gz`, gzipSync(readFileSync(path), { level: 9 }));
  const ledger = openedGolden(path);
  const lines = (await sessionsIn(ledger)).map((one) => JSON.stringify(one));
  await ledger.close();
  writeFileSync(`${target}.json`, `[\n${lines.join(',\n')}\n]\n`);
}

/** The ledger of that name as a file at `path`, and what is known of it. */
export function unpacked(release: string, name: string, path: string): readonly KnownSession[] {
  const source = join(ledgersFolder, release, name);
  writeFileSync(path, gunzipSync(readFileSync(`${source}.gz`)));
  return JSON.parse(readFileSync(`${source}.json`, 'utf8')) as readonly KnownSession[];
}
