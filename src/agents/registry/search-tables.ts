/**
 * The tables of the search index. They live in the ledger's own file, beside its tables and never touching them, or in
 * memory where there is no such file to write to. The index is a cache: whatever is wrong with it, it is dropped and made anew
 * from the agent files.
 *
 * `agent_entry` holds what is known of each agent, so that the next process need not read a file that has not changed.
 * `agent_search` finds them: it stores no text, only where words are. `agent_index` says which layout this is and, by one hash,
 * what it holds: whoever finds another hash than its own knows that another process has other agents, and writes its own.
 */
import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { z } from 'zod';
import { parseJson } from '../../base/json.ts';
import { limits } from '../../base/limits.ts';
import { DatabaseSync } from '../../base/sqlite.ts';
import { LEDGER_MARK } from '../../events/ledger-mark.ts';
import { indexedName, indexedText } from './search-text.ts';

/** Everything about an agent that is shown in lists or found by searching. */
export interface SearchEntry {
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly examples: readonly string[];
  readonly origin: 'project' | 'claude' | 'opencode' | 'user';
  /** The file it was read from; empty where there is none. */
  readonly file: string;
  /** Of the file as it was read; empty when it must be read again. */
  readonly stamp: string;
}

/** Of the tables and of how text is put into them. */
const LAYOUT = 1;

const DROP = ['agent_search', 'agent_entry', 'agent_index'].map((name) => `DROP TABLE IF EXISTS ${name};`).join('');
const CREATE = `
CREATE TABLE agent_index (id INTEGER PRIMARY KEY CHECK (id = 1), layout INTEGER NOT NULL, holds TEXT NOT NULL) STRICT;
CREATE TABLE agent_entry (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, hash TEXT NOT NULL, entry TEXT NOT NULL) STRICT;
CREATE VIRTUAL TABLE agent_search USING fts5(
  name, tags, description, examples,
  content = '', contentless_delete = 1, prefix = '2 3', tokenize = 'porter unicode61 remove_diacritics 2'
);
INSERT INTO agent_index VALUES (1, ${LAYOUT}, '');
`;

const entrySchema = z.object({
  name: z.string(),
  description: z.string(),
  tags: z.array(z.string()),
  examples: z.array(z.string()),
  origin: z.enum(['project', 'claude', 'opencode', 'user']),
  file: z.string(),
  stamp: z.string(),
});

/** The ledger's file, if there is one that can be written: nothing is written into anybody else's database. */
export function openLedgerFile(path: string): DatabaseSync | undefined {
  if (!existsSync(path)) return undefined;
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { timeout: limits.busyBlockMs });
    const found = database.prepare('PRAGMA application_id').get();
    if (found?.['application_id'] === LEDGER_MARK) {
      database.exec('PRAGMA synchronous = NORMAL');
      return database;
    }
  } catch {
    // Whatever is wrong with it is for the ledger to say; agents can be found without it.
  }
  database?.close();
  return undefined;
}

export const openMemory = (): DatabaseSync => new DatabaseSync(':memory:');

/** Whether there is an index of this layout. Throws when it is broken. */
export function hasIndex(database: DatabaseSync): boolean {
  if (database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'agent_index'").get() === undefined) return false;
  return database.prepare('SELECT layout FROM agent_index').get()?.['layout'] === LAYOUT;
}

/** Tells the hash of what the index holds; `undefined` when it is of another layout. Throws when there is none. */
export function createHolds(database: DatabaseSync): () => string | undefined {
  const holds = database.prepare('SELECT layout, holds FROM agent_index');
  return () => {
    const row = holds.get();
    return row?.['layout'] === LAYOUT ? String(row['holds']) : undefined;
  };
}

/** Within a transaction of the caller's. */
export function makeTables(database: DatabaseSync): void {
  database.exec(DROP);
  database.exec(CREATE);
}

export function readEntries(database: DatabaseSync): readonly SearchEntry[] {
  return database
    .prepare('SELECT entry FROM agent_entry')
    .all()
    .flatMap((row) => {
      const parsed = parseJson(String(row['entry']));
      const entry = parsed.ok ? entrySchema.safeParse(parsed.value) : undefined;
      return entry?.success === true ? [entry.data] : [];
    });
}

/** An entry with its hash, and as it is stored. */
interface HashedEntry {
  readonly entry: SearchEntry;
  readonly text: string;
  readonly hash: string;
}

/** Entries in the order of their names, and one hash for all of them. */
export interface Content {
  readonly entries: readonly HashedEntry[];
  readonly hash: string;
}

export function contentOf(entries: readonly SearchEntry[]): Content {
  const hashed = entries.map(hashedEntry);
  return { entries: hashed, hash: shortHash(hashed.map((one) => one.hash).join()) };
}

/** An entry that stays the same from one time to the next is hashed once. */
const hashedEntries = new WeakMap<SearchEntry, HashedEntry>();

function hashedEntry(entry: SearchEntry): HashedEntry {
  const known = hashedEntries.get(entry);
  if (known !== undefined) return known;
  const text = JSON.stringify(entry);
  const hashed = { entry, text, hash: shortHash(text) };
  hashedEntries.set(entry, hashed);
  return hashed;
}

const HASH_CHARACTERS = 22;
const shortHash = (text: string): string => hash('sha256', text, 'base64url').slice(0, HASH_CHARACTERS);

/**
 * Makes the tables hold exactly this, writing only what differs. `before` is what they hold, where that is known. Within a
 * transaction of the caller's.
 */
export function writeContent(database: DatabaseSync, content: Content, before?: Content): void {
  const stored = before === undefined ? storedHashes(database) : hashesOf(before);
  const wanted = hashesOf(content);
  const remove = createRemove(database);
  const insert = createInsert(database);
  for (const [name, known] of stored) if (wanted.get(name) !== known) remove(name);
  for (const one of content.entries) if (stored.get(one.entry.name) !== one.hash) insert(one);
  database.prepare('UPDATE agent_index SET holds = ?').run(content.hash);
}

/** By name. */
type Hashes = ReadonlyMap<string, string>;

const hashesOf = ({ entries }: Content): Hashes => new Map(entries.map((one) => [one.entry.name, one.hash]));

function storedHashes(database: DatabaseSync): Hashes {
  const rows = database.prepare('SELECT name, hash FROM agent_entry').all();
  return new Map(rows.map((row) => [String(row['name']), String(row['hash'])]));
}

function createRemove(database: DatabaseSync): (name: string) => void {
  const words = database.prepare('DELETE FROM agent_search WHERE rowid = (SELECT id FROM agent_entry WHERE name = ?)');
  const entry = database.prepare('DELETE FROM agent_entry WHERE name = ?');
  return (name) => {
    words.run(name);
    entry.run(name);
  };
}

function createInsert(database: DatabaseSync): (one: HashedEntry) => void {
  const row = database.prepare('INSERT INTO agent_entry (name, hash, entry) VALUES (?, ?, ?)');
  const words = database.prepare('INSERT INTO agent_search (rowid, name, tags, description, examples) VALUES (?, ?, ?, ?, ?)');
  return ({ entry, hash: known, text }) => {
    const { lastInsertRowid } = row.run(entry.name, known, text);
    const { tags, description, examples } = entry;
    words.run(
      lastInsertRowid,
      indexedName(entry.name),
      indexedText(tags.join('\n')),
      indexedText(description),
      indexedText(examples.join('\n')),
    );
  };
}
