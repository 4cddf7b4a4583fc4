/** Stores each distinct payload once: small texts in the database, large ones and those that are no text as files. */
import { isUtf8 } from 'node:buffer';
import type { DatabaseSync } from 'node:sqlite';
import { limits } from '../../base/limits.ts';
import type { PayloadFiles } from '../blobs/payload-files.ts';
import { integer } from '../rows.ts';
import { bytesOf, type PayloadBody, type PreparedEvent } from '../rules/prepared-event.ts';
import { payloadPlace } from '../rules/stored-event.ts';

export interface PayloadStore {
  /** Writes files that must exist before the transaction; `undefined` when there are none. */
  filesBefore(events: readonly PreparedEvent[]): (() => Promise<void>) | undefined;
  /** Inside the transaction: the number of the row that holds these bytes. */
  store(body: PayloadBody): number;
}

/** The column in the database is for text. */
export function isInline(data: string | Uint8Array): boolean {
  return Buffer.byteLength(data) <= limits.payloadInlineBytes && (typeof data === 'string' || isUtf8(data));
}

export function createPayloadStore(database: DatabaseSync, files: PayloadFiles): PayloadStore {
  const insert = database.prepare('INSERT OR IGNORE INTO payload (ref, place, bytes, body) VALUES (?, ?, ?, ?)');
  const find = database.prepare('SELECT id, place FROM payload WHERE ref = ?');
  const revive = database.prepare('UPDATE payload SET place = ?, body = ? WHERE id = ?');

  return {
    filesBefore: (events) => {
      const large = events
        .flatMap(({ body, attachment }) => [body, attachment ?? []].flat())
        .filter(({ data }) => !isInline(data));
      if (large.length === 0) return undefined;
      return async () => {
        for (const body of large) await files.write(body.ref, body.data);
      };
    },
    store: (body) => {
      const inFile = !isInline(body.data);
      if (inFile) files.ensure(body.ref, body.data);
      const where = inFile ? payloadPlace.file : payloadPlace.inline;
      const inline = inFile ? null : bytesOf(body.data).toString();
      const ref = Buffer.from(body.ref, 'hex');
      const added = insert.run(ref, where, body.bytes, inline);
      if (added.changes === 1) return Number(added.lastInsertRowid);
      const row = find.get(ref) ?? {};
      const id = integer(row, 'id');
      if (integer(row, 'place') === payloadPlace.gone) revive.run(where, inline, id);
      return id;
    },
  };
}
