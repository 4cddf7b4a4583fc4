/** The database of opencode, opened to be read and nothing else: its conversations, their messages, and the parts of each. */
import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { messageOf, TroupeError } from '../../base/errors.ts';
import { isJsonObject, type JsonObject, parseJson } from '../../base/json.ts';
import { limits } from '../../base/limits.ts';
import { DatabaseSync } from '../../base/sqlite.ts';
import type { Transcript, TranscriptHead } from '../items.ts';
import type { StoredConversation, StoredMessage } from './read.ts';
import { readOpencode } from './read.ts';

const MAGIC = 'SQLite format 3\u0000';

export async function isDatabase(path: string): Promise<boolean> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MAGIC.length), 0, MAGIC.length, 0);
    return buffer.toString('latin1', 0, bytesRead) === MAGIC;
  } finally {
    await file.close();
  }
}

interface SessionRow {
  readonly id: string;
  readonly title: string;
  readonly directory: string;
  readonly version: string;
  readonly time_created: number;
}

/** The conversations that are nobody's sub-agents, the newest first; without `folder` those of every folder. */
export async function opencodeTranscripts(path: string, folder: string | undefined): Promise<readonly Transcript[]> {
  return reading(path, (database) => {
    const rows = database
      .prepare(
        `SELECT id, title, directory, version, time_created FROM session
         WHERE parent_id IS NULL AND (?1 IS NULL OR directory = ?1) ORDER BY time_created DESC, id LIMIT ?2`,
      )
      .all(folder ?? null, limits.transcriptFiles) as unknown as SessionRow[];
    return rows.map((row) => transcriptOf(path, row, database));
  });
}

function transcriptOf(path: string, row: SessionRow, database: DatabaseSync): Transcript {
  const head: TranscriptHead = {
    ...{ program: 'opencode', id: String(row.id).slice(0, limits.transcriptNameCharacters), folder: String(row.directory) },
    ...{ version: String(row.version).slice(0, limits.transcriptNameCharacters), at: Number(row.time_created) || 0 },
    title: String(row.title).slice(0, limits.transcriptNameCharacters),
  };
  const { bytes, sha256 } = digestOf(database, row.id);
  return { head, path, bytes, sha256, items: () => itemsOf(path, row.id) };
}

async function* itemsOf(path: string, id: string) {
  const database = opened(path);
  try {
    database.exec('BEGIN');
    yield* readOpencode(conversation(database, id), (of) => conversation(database, of));
  } catch (error) {
    throw unreadable(path, error);
  } finally {
    database.close();
  }
}

/** One of its messages at a time. */
function conversation(database: DatabaseSync, id: string): StoredConversation {
  const messages = database.prepare('SELECT id, time_created, data FROM message WHERE session_id = ? ORDER BY time_created, id');
  const parts = database.prepare('SELECT id, data FROM part WHERE message_id = ? ORDER BY id');
  const below = database.prepare('SELECT id FROM session WHERE parent_id = ? ORDER BY time_created, id LIMIT ?');
  return {
    id,
    *messages(): Iterable<StoredMessage> {
      for (const row of messages.iterate(id)) {
        const own = [...parts.iterate(String(row['id']))].map(({ id: part, data }) => ({ id: String(part), ...stored(data) }));
        yield { id: String(row['id']), at: Number(row['time_created']), ...stored(row['data']), parts: own };
      }
    },
    children: () => below.all(id, limits.transcriptFiles).map((row) => String(row['id'])),
  };
}

function stored(data: unknown): { readonly value: JsonObject | undefined; readonly text: string } {
  const text = typeof data === 'string' ? data : '';
  const parsed = text.length > limits.transcriptLineBytes ? undefined : parseJson(text);
  return { text, value: parsed?.ok === true && isJsonObject(parsed.value) ? parsed.value : undefined };
}

function digestOf(database: DatabaseSync, id: string): { readonly bytes: number; readonly sha256: string } {
  const hash = createHash('sha256');
  let bytes = 0;
  const rows = database.prepare(
    `WITH RECURSIVE below(id) AS (SELECT ?1 UNION SELECT session.id FROM session JOIN below ON session.parent_id = below.id)
     SELECT part.id AS id, part.data AS data FROM part JOIN below ON part.session_id = below.id
     UNION ALL SELECT message.id, message.data FROM message JOIN below ON message.session_id = below.id ORDER BY 1`,
  );
  for (const row of rows.iterate(id)) {
    const data = String(row['data']);
    hash.update(JSON.stringify([row['id'], data]));
    bytes += Buffer.byteLength(data);
  }
  return { bytes, sha256: hash.digest('hex') };
}

const opened = (path: string): DatabaseSync => new DatabaseSync(path, { readOnly: true });

function reading<Found>(path: string, read: (database: DatabaseSync) => Found): Found {
  let database: DatabaseSync | undefined;
  try {
    database = opened(path);
    return read(database);
  } catch (error) {
    throw unreadable(path, error);
  } finally {
    database?.close();
  }
}

function unreadable(path: string, error: unknown): TroupeError {
  if (error instanceof TroupeError) return error;
  return new TroupeError('transcript_unreadable', `${path} cannot be read as a database of opencode: ${messageOf(error)}`, {
    fix: 'Give it the opencode.db of opencode 1.18 or a version that keeps its sessions alike.',
  });
}
