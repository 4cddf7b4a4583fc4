/**
 * Notices that the file of an open ledger is gone: an agent's command may delete its whole workspace, the ledger included.
 * SQLite would go on writing into the deleted file and everything would end with the process. Instead, what the ledger
 * holds is put back at its place, and nothing more is written through this connection.
 */
import { rmSync, statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { messageOf, TroupeError } from '../../base/errors.ts';
import { createPrivately } from './schema.ts';

/** Returns a check that throws once the file is no longer the one that was opened. */
export function createPresence(database: DatabaseSync, path: string): () => void {
  const opened = identity(path);
  return () => {
    const found = identity(path);
    if (found === opened) return;
    throw new TroupeError('ledger_gone', found === undefined ? putBack(database, path) : `Another file took its place: ${path}`, {
      fix: 'Resume the run. Keep the ledger where agents cannot delete it: `ledger` in troupe.yaml, or TROUPE_HOME.',
    });
  };
}

function identity(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? undefined : `${found.dev} ${found.ino}`;
}

function putBack(database: DatabaseSync, path: string): string {
  const gone = `The ledger was deleted while it was in use: ${path}`;
  try {
    // A log that belongs to the deleted file would be applied to the new one.
    for (const suffix of ['-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true });
    createPrivately(path);
    database.prepare('VACUUM INTO ?').run(path);
    return `${gone}. What it held was put back.`;
  } catch (error) {
    return `${gone}, and could not be put back (${messageOf(error)})`;
  }
}
