/** Opens the store for large payloads that an address names. What a bucket needs is loaded only when one is opened. */

import type { BucketAccess } from '../blobs/bucket-requests.ts';
import { createBlobDirectory } from '../blobs/directory.ts';
import type { BlobStore } from '../blobs/store.ts';
import type { PostgresAddress } from './address.ts';

interface OpenBlobsOptions extends BucketAccess {
  /** Keeps the temporary names of several processes apart. */
  readonly unique: string;
}

/** `undefined`: they are in the database. */
export async function openBlobs(
  { payloads, bucket }: Pick<PostgresAddress, 'payloads' | 'bucket'>,
  options: OpenBlobsOptions,
): Promise<BlobStore | undefined> {
  if (payloads !== undefined) return createBlobDirectory(payloads, options.unique);
  if (bucket === undefined) return undefined;
  const { openBlobBucket } = await import('../blobs/bucket.ts');
  return await openBlobBucket(bucket, options);
}
