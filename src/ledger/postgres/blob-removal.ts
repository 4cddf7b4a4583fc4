/**
 * For collecting. A blob is removed under a lock that the server gives up when its transaction stands still, as it does
 * while a bucket is slow; so each removal asks first whether the transaction, and with it the lock, is still there.
 */
import { EventEmitter } from 'node:events';
import type { BlobStore } from '../blobs/store.ts';
import type { Connection, Database } from './connection.ts';

export function underLock(
  database: Database,
  blobs: BlobStore | undefined,
): { readonly database: Database; readonly blobs: BlobStore | undefined } {
  let holder: Connection | undefined;
  const transaction: Database['transaction'] = (work) =>
    database.transaction(async (connection) => {
      holder = connection;
      // The driver ends the process when a connection is lost while nobody listens; the next question will say so too.
      const client = connection instanceof EventEmitter ? connection : undefined;
      client?.on('error', ignore);
      try {
        const value = await work(connection);
        client?.off('error', ignore);
        return value;
      } finally {
        holder = undefined;
      }
    });
  const remove: BlobStore['remove'] = async (ref) => {
    await holder?.query({ text: 'SELECT 1' });
    await blobs?.remove(ref);
  };
  return { database: { ...database, transaction }, blobs: blobs === undefined ? undefined : { ...blobs, remove } };
}

const ignore = (): void => undefined;
