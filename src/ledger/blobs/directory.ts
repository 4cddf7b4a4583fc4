/** Large payloads in a folder that all machines share, such as a network file system. */
import { opendir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../../base/errors.ts';
import type { PayloadRef } from '../../base/ids.ts';
import { checkedBlob } from './check.ts';
import { createPayloadFiles } from './payload-files.ts';
import type { BlobStore } from './store.ts';

/** `unique` keeps the temporary names of several processes apart. */
export function createBlobDirectory(folder: string, unique: string): BlobStore {
  const files = createPayloadFiles(folder, unique);
  // Two writes of the same bytes would share a temporary name: the second waits for the first.
  const underWay = new Map<PayloadRef, Promise<void>>();
  return {
    write: (ref, body) => {
      const write = underWay.get(ref) ?? files.write(ref, body).finally(() => underWay.delete(ref));
      underWay.set(ref, write);
      return write;
    },
    read: async (ref) => checkedBlob(ref, await files.read(ref), folder),
    remove: async (ref) => files.remove(ref),
    olderThan: async function* (before) {
      for await (const { ref, path } of blobsIn(folder)) {
        const found = await stat(path).catch(() => undefined);
        if (found !== undefined && found.mtimeMs < before) yield ref;
      }
    },
  };
}

async function* blobsIn(folder: string): AsyncGenerator<{ readonly ref: PayloadRef; readonly path: string }> {
  try {
    for await (const entry of await opendir(folder, { recursive: true })) {
      const path = join(entry.parentPath, entry.name);
      const ref = path.slice(-65).replace(/[\\/]/, '');
      if (entry.isFile() && /^[0-9a-f]{64}$/.test(ref)) yield { ref: ref as PayloadRef, path };
    }
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
}
