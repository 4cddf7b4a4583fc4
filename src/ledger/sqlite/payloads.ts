/** Stores each distinct payload once: small ones in the database, large ones as files. */
import type { DatabaseSync } from 'node:sqlite';
import { limits } from '../../base/limits.ts';
import type { PayloadFiles } from '../blobs/payload-files.ts';
import { integer } from '../rows.ts';
import type { PayloadBody, PreparedEvent } from '../rules/prepared-event.ts';
import { payloadPlace } from '../rules/stored-event.ts';

export interface PayloadStore {
  /** Writes files that must exist before the transaction; `undefined` when there are none. */
  filesBefore(events: readonly PreparedEvent[]): (() => Promise<void>) | undefined;
  /** Inside the transaction: the number of the row that holds these bytes. */
  store(body: PayloadBody): number;
}

/** `files` is `undefined` for a ledger in memory, which keeps everything inside. */
export function createPayloadStore(database: DatabaseSync, files: PayloadFiles | undefined): PayloadStore {
  const insert = database.prepare('INSERT OR IGNORE INTO payload (ref, place, bytes, body) VALUES (?, ?, ?, ?)');
  const find = database.prepare('SELECT id, place FROM payload WHERE ref = ?');
  const revive = database.prepare('UPDATE payload SET place = ?, body = ? WHERE id = ?');
  const isLarge = (body: PayloadBody | null): body is PayloadBody => body !== null && body.bytes > limits.payloadInlineBytes;

  return {
    filesBefore: (events) => {
      if (files === undefined || !events.some(({ body, attachment }) => isLarge(body) || isLarge(attachment))) return undefined;
      const large = events.flatMap(({ body, attachment }) => [body, attachment]).filter(isLarge);
      return async () => {
        for (const body of large) await files.write(body.ref, body.text);
      };
    },
    store: (body) => {
      const inFile = files !== undefined && isLarge(body);
      if (inFile) files.ensure(body.ref, body.text);
      const where = inFile ? payloadPlace.file : payloadPlace.inline;
      const ref = Buffer.from(body.ref, 'hex');
      const added = insert.run(ref, where, body.bytes, inFile ? null : body.text);
      if (added.changes === 1) return Number(added.lastInsertRowid);
      const row = find.get(ref) ?? {};
      const id = integer(row, 'id');
      if (integer(row, 'place') === payloadPlace.gone) revive.run(where, inFile ? null : body.text, id);
      return id;
    },
  };
}
