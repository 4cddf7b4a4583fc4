/**
 * The tables, and opening the file that holds them.
 *
 * Names are long and repeat, so sessions and runs get small integers and events refer to those. Payloads are apart, each
 * once. `session.seal` repeats the chain hash of the event at `sealed` (a run's end), so that a cut-off end is noticed.
 * Two pragmas mark the file as ours and say which version wrote it; a newer file is refused, never guessed at.
 */
import { chmodSync, closeSync, existsSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { codeOf, TroupeError } from '../../base/errors.ts';
import { limits } from '../../base/limits.ts';
import { DatabaseSync } from '../../base/sqlite.ts';
import { LEDGER_MARK } from '../../events/ledger-mark.ts';
import { makeFolder, systemDisk } from '../blobs/disk.ts';
import { keepingTables } from '../forgetting/rows.ts';
import { integer } from '../rows.ts';
import { readOnlyError } from '../write-queue.ts';
import { corruptError, isBusy, isNotWritable, ledgerError } from './errors.ts';

const FILE_VERSION = 1;

const TABLES = `
CREATE TABLE session (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,
  sealed INTEGER NOT NULL DEFAULT 0, seal BLOB, inbound INTEGER NOT NULL DEFAULT 0,
  collected INTEGER NOT NULL DEFAULT 0, pinned INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE run (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, session INTEGER NOT NULL, root INTEGER NOT NULL,
  first INTEGER NOT NULL, parent INTEGER, agent TEXT, role TEXT, state TEXT, started_at INTEGER, ended_at INTEGER
) STRICT;
CREATE INDEX run_of_session ON run (session);
CREATE TABLE payload (
  id INTEGER PRIMARY KEY, ref BLOB NOT NULL UNIQUE, place INTEGER NOT NULL, bytes INTEGER NOT NULL, body TEXT
) STRICT;
CREATE TABLE event (
  session INTEGER NOT NULL, position INTEGER NOT NULL, run INTEGER NOT NULL, parent INTEGER, at INTEGER NOT NULL,
  actor TEXT NOT NULL, tool TEXT, type TEXT NOT NULL, step TEXT, payload INTEGER NOT NULL, attachment INTEGER,
  version INTEGER NOT NULL, chain BLOB NOT NULL, PRIMARY KEY (session, position)
) STRICT, WITHOUT ROWID;
CREATE TABLE counter (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE owner (
  id TEXT PRIMARY KEY, pid INTEGER NOT NULL, host TEXT NOT NULL, beat INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE lease (
  run TEXT PRIMARY KEY, session TEXT NOT NULL, epoch INTEGER NOT NULL, owner TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX lease_of_session ON lease (session);
`;

/** Some came after the tables, so they are added to a file that has none. */
const INDEXES = `
CREATE INDEX IF NOT EXISTS event_of_run ON event (run, type, position);
CREATE INDEX IF NOT EXISTS run_of_root ON run (root);
CREATE INDEX IF NOT EXISTS run_unfinished ON run (session) WHERE ended_at IS NULL;
`;

/**
 * The order of all events. A trigger keeps it, so that an earlier release that writes to the file keeps it as well; what was
 * there before is in it session by session.
 */
const FEED = `
CREATE TABLE feed (id INTEGER PRIMARY KEY, session INTEGER NOT NULL, position INTEGER NOT NULL) STRICT;
INSERT INTO feed (session, position) SELECT session, position FROM event ORDER BY session, position;
CREATE TRIGGER event_in_feed AFTER INSERT ON event BEGIN
  INSERT INTO feed (session, position) VALUES (NEW.session, NEW.position);
END;
`;

export interface OpenFile {
  readonly database: DatabaseSync;
  readonly writable: boolean;
}

/** Opens or creates the file. When it cannot be written, it is opened for reading, and the first write says so. */
export function openFile(path: string, readOnly: boolean): OpenFile {
  try {
    if (!readOnly) {
      try {
        return { database: openPatiently(path), writable: true };
      } catch (error) {
        if (!isNotWritable(error) && !isPermission(error)) throw error;
        if (!existsSync(path)) throw readOnlyError(path, error);
      }
    }
    return { database: openReadable(path), writable: false };
  } catch (error) {
    throw ledgerError(error, path);
  }
}

/** Of two that make the file at the same moment SQLite turns one away at once: switching to its log it waits for nobody. */
function openPatiently(path: string): DatabaseSync {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return openWritable(path);
    } catch (error) {
      if (!isBusy(error) || attempt >= limits.openAttempts) throw error;
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, limits.openPauseMs);
  }
}

function openWritable(path: string): DatabaseSync {
  if (path !== ':memory:') createPrivately(path);
  const database = new DatabaseSync(path, { timeout: limits.busyWaitMs });
  return closingOnFailure(database, () => {
    refuseForeign(database, path);
    database.exec('PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL; PRAGMA secure_delete = ON');
    database.exec('BEGIN IMMEDIATE');
    if (versionOf(database) === 0) {
      database.exec(TABLES);
      database.exec(`PRAGMA application_id = ${LEDGER_MARK}; PRAGMA user_version = ${FILE_VERSION}`);
    }
    database.exec(INDEXES);
    database.exec(keepingTables('integer', ' WITHOUT ROWID'));
    if (!hasFeed(database)) database.exec(FEED);
    database.exec(`COMMIT; PRAGMA busy_timeout = ${limits.busyBlockMs}`);
  });
}

function openReadable(path: string): DatabaseSync {
  if (!existsSync(path)) throw missing(path);
  try {
    return openWith(path, path);
  } catch (error) {
    // A write-ahead ledger in a folder that cannot be written: readable as it stands once nothing is pending in its log.
    if (!isNotWritable(error) || pendingLog(path)) throw error;
    const address = pathToFileURL(path);
    address.search = '?immutable=1';
    return openWith(address, path);
  }
}

function openWith(address: string | URL, path: string): DatabaseSync {
  // Whoever opens a file first after a kill puts its log in order, and whoever leaves it last clears the log away.
  const database = new DatabaseSync(address, { readOnly: true, timeout: limits.busyWaitMs });
  return closingOnFailure(database, () => {
    const { version, tables } = refuseForeign(database, path);
    // Tables and version come in one commit: without either, whoever makes the file has not got there, or was killed before.
    if (version === 0) throw tables === 0 ? missing(path) : corruptError(path, 'it has no version');
    database.prepare('SELECT count(*) FROM session').get();
    standIn(database);
    database.exec(`PRAGMA busy_timeout = ${limits.busyBlockMs}`);
  });
}

function closingOnFailure(database: DatabaseSync, prepare: () => void): DatabaseSync {
  try {
    prepare();
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function refuseForeign(database: DatabaseSync, path: string): Marks {
  const marks = marksOf(database);
  if (marks.application !== LEDGER_MARK && (marks.application !== 0 || marks.tables > 0))
    throw corruptError(path, 'another program made it');
  if (marks.version > FILE_VERSION) {
    throw new TroupeError(
      'ledger_newer',
      `A newer Troupe wrote this ledger (file version ${marks.version}, this one knows ${FILE_VERSION}): ${path}`,
      { fix: 'Update Troupe, or name another ledger.' },
    );
  }
  return marks;
}

function missing(path: string): TroupeError {
  const fix = 'Run an agent first, or name another ledger.';
  return new TroupeError('ledger_missing', `There is no ledger at ${path}`, { fix });
}

/** What says whose file it is. */
interface Marks {
  readonly application: number;
  readonly version: number;
  readonly tables: number;
}

/** In one transaction: somebody may be making the file in this moment, and half of it would look like another program's. */
function marksOf(database: DatabaseSync): Marks {
  const number = (sql: string, column: string): number => integer(database.prepare(sql).get() ?? {}, column);
  database.exec('BEGIN');
  try {
    return {
      tables: number('SELECT count(*) AS count FROM sqlite_schema', 'count'),
      application: number('PRAGMA application_id', 'application_id'),
      version: versionOf(database),
    };
  } finally {
    if (database.isTransaction) database.exec('COMMIT');
  }
}

/** In a file of an earlier release, which is only read, nobody has held or forgotten anything. */
function standIn(database: DatabaseSync): void {
  if (database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'forgotten'").get() !== undefined) return;
  for (const table of keepingTables('integer', ' WITHOUT ROWID').match(/CREATE TABLE[^;]+;/g) ?? [])
    database.exec(table.replace('CREATE TABLE', 'CREATE TEMP TABLE'));
}

/** A file of an earlier release that is only read has none. */
export function hasFeed(database: DatabaseSync): boolean {
  return database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'feed'").get() !== undefined;
}

function versionOf(database: DatabaseSync): number {
  return integer(database.prepare('PRAGMA user_version').get() ?? {}, 'user_version');
}

/** Prompts and tool outputs are private: the folder and the file are for their owner only. */
export function createPrivately(path: string): void {
  for (const step of makeFolder(dirname(path))) systemDisk.carryOutNow(step);
  if (existsSync(path)) return;
  closeSync(openSync(path, 'a', 0o600));
  chmodSync(path, 0o600);
  systemDisk.carryOutNow({ kind: 'flush', what: 'folder', path: dirname(path) });
}

function pendingLog(path: string): boolean {
  const log = statSync(`${path}-wal`, { throwIfNoEntry: false });
  return log !== undefined && log.size > 0;
}

function isPermission(error: unknown): boolean {
  const code = codeOf(error);
  return code === 'EACCES' || code === 'EPERM' || code === 'EROFS';
}
