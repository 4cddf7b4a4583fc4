/**
 * Words of all sessions, found again. The index is a file of its own beside the project's state and a cache: it holds where words
 * are and no text, follows the order of the ledger, and reads only what is new since somebody last searched. Whatever is wrong
 * with it, it is dropped and made anew.
 */
import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import type { SessionId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { DatabaseSync } from '../../base/sqlite.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import { feedEvents } from '../../ledger/pages.ts';
import type { FeedPlace, Ledger } from '../../ledger/port.ts';
import { searchableText } from './searchable-text.ts';

const LAYOUT = 1;
const TABLES = `
CREATE TABLE place (id INTEGER PRIMARY KEY CHECK (id = 1), layout INTEGER NOT NULL, ledger TEXT NOT NULL, place TEXT NOT NULL) STRICT;
CREATE TABLE said (id INTEGER PRIMARY KEY, session TEXT NOT NULL, position INTEGER NOT NULL) STRICT;
CREATE INDEX said_in ON said (session);
CREATE VIRTUAL TABLE words USING fts5(
  text, content = '', contentless_delete = 1, prefix = '2 3', tokenize = 'unicode61 remove_diacritics 2'
);
`;

export interface FoundPlace {
  /** Grows with every event that has words. */
  readonly id: number;
  readonly session: SessionId;
  readonly position: number;
}

export interface SessionIndex {
  /** Reads what is new, up to a bound; whether that was all. */
  follow(): Promise<'complete' | 'behind'>;
  /** The newest first, before this id. */
  find(query: string, before: number, limit: number): readonly FoundPlace[];
  /** Its words are gone from the ledger. */
  forget(session: SessionId): void;
  close(): void;
}

type Reading = Pick<Ledger, 'read' | 'feed'>;

/** `ledger` names what it is an index of: another one's is dropped. */
export function openSessionIndex(path: string, ledger: string, reading: Reading): SessionIndex {
  const database = openAnew(path, ledger);
  const readPlace = database.prepare('SELECT place FROM place');
  const setPlace = database.prepare('UPDATE place SET place = ?');
  const addPlace = database.prepare('INSERT INTO said (session, position) VALUES (?, ?)');
  const addWords = database.prepare('INSERT INTO words (rowid, text) VALUES (?, ?)');
  const find = database.prepare(
    'SELECT said.id, said.session, said.position FROM words JOIN said ON said.id = words.rowid ' +
      'WHERE words MATCH ? AND words.rowid < ? ORDER BY words.rowid DESC LIMIT ? + 0',
  );
  let following: Promise<'complete' | 'behind'> | undefined;
  const add = (from: FeedPlace, to: FeedPlace, events: readonly LedgerEvent[]): void => {
    database.exec('BEGIN IMMEDIATE');
    try {
      // Another process may have read the same meanwhile.
      if (String(readPlace.get()?.['place']) === from) {
        for (const event of events) {
          const text = searchableText(event);
          if (text !== '') addWords.run(Number(addPlace.run(event.session_id, event.position).lastInsertRowid), text);
        }
        setPlace.run(to);
      }
      database.exec('COMMIT');
    } catch (error) {
      database.exec('ROLLBACK');
      throw error;
    }
  };
  const follow = async (): Promise<'complete' | 'behind'> => {
    for (let pages = 0; pages < limits.searchPages; pages += 1) {
      const from = String(readPlace.get()?.['place']);
      const { entries } = await reading.feed({ after: from === '' ? undefined : from, limit: limits.readPageEvents });
      const last = entries.at(-1);
      if (last === undefined) return 'complete';
      const read = feedEvents(reading, entries);
      const events: LedgerEvent[] = [];
      for (const entry of entries) events.push(...(await read(entry).then((event) => (event === undefined ? [] : [event]))));
      add(from, last.place, events);
    }
    return 'behind';
  };
  return {
    follow: () => {
      following ??= follow().finally(() => {
        following = undefined;
      });
      return following;
    },
    find: (query, before, limit) =>
      find.all(matchOf(query), before, limit).map((row) => ({
        ...{ id: Number(row['id']), session: String(row['session']) as SessionId, position: Number(row['position']) },
      })),
    forget(session) {
      database.prepare('DELETE FROM words WHERE rowid IN (SELECT id FROM said WHERE session = ?)').run(session);
      database.prepare('DELETE FROM said WHERE session = ?').run(session);
    },
    close: () => database.close(),
  };
}

/** Every word, the last one also as a beginning; nothing of it is taken for an operator. */
export function matchOf(query: string): string {
  const words = wordsOf(query);
  return words.map((word, at) => (at === words.length - 1 ? `"${word}"*` : `"${word}"`)).join(' ');
}

export const wordsOf = (query: string): readonly string[] => query.match(/[\p{L}\p{N}]+/gu)?.slice(0, limits.searchWords) ?? [];

function openAnew(path: string, ledger: string): DatabaseSync {
  try {
    const database = open(path);
    const row = isThere(database) ? database.prepare('SELECT layout, ledger FROM place').get() : undefined;
    if (row?.['layout'] === LAYOUT && row['ledger'] === ledger) return database;
    database.close();
  } catch {
    // A cache that cannot be read is none.
  }
  if (path !== ':memory:') for (const end of ['', '-wal', '-shm']) rmSync(`${path}${end}`, { force: true });
  const database = open(path);
  database.exec(TABLES);
  database.prepare("INSERT INTO place VALUES (1, ?, ?, '')").run(LAYOUT, ledger);
  return database;
}

const isThere = (database: DatabaseSync): boolean =>
  database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'place'").get() !== undefined;

function open(path: string): DatabaseSync {
  if (path !== ':memory:') mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const database = new DatabaseSync(path, { timeout: limits.busyWaitMs });
  if (path !== ':memory:') chmodSync(path, 0o600);
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF');
  return database;
}
