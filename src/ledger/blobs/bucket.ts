/**
 * Large payloads in a bucket of an S3-compatible server that all machines reach. Names are those of the shared folder,
 * `ab/cdef…` after the prefix, so that one can be copied to the other. The server must show what was written at once.
 */
import type { PayloadRef } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import { bucketAnswerError, bucketError, codeIn, tooManyPages } from './bucket-errors.ts';
import { type AskBucket, type BucketAccess, openBucketRequests } from './bucket-requests.ts';
import { checkedBlob, tooLarge } from './check.ts';
import { type ListingPage, readListing } from './listing.ts';
import type { BucketPlace } from './place.ts';
import type { BlobStore } from './store.ts';

export interface BlobBucketOptions extends BucketAccess {
  /** For tests: how many names a page has. */
  readonly pageKeys?: number;
}

/** Servers give the time of an object in whole seconds. */
const TIME_STEP_MS = 1_000;

/** Asks nothing of the server yet; that there are keys is checked here. */
export async function openBlobBucket(place: BucketPlace, options: BlobBucketOptions): Promise<BlobStore> {
  const ask = await openBucketRequests(place, options);
  const keyOf = (ref: PayloadRef): string => `${place.prefix}${ref.slice(0, 2)}/${ref.slice(2)}`;
  return {
    write: async (ref, body) => {
      const bytes = typeof body === 'string' ? Buffer.from(body) : body;
      if (bytes.byteLength > limits.payloadBytes) throw tooLarge(bytes.byteLength);
      if (await isThere(ask, keyOf(ref), bytes.byteLength)) return;
      const most = limits.bucketAnswerBytes;
      const put = { method: 'PUT', key: keyOf(ref), body: { bytes, hash: ref }, most, timeoutMs: limits.bucketBodyMs } as const;
      const answer = await ask(put);
      if (answer.status !== 200) throw bucketError(place, answer);
    },
    read: async (ref) => {
      const answer = await ask({ method: 'GET', key: keyOf(ref), most: limits.payloadBytes, timeoutMs: limits.bucketBodyMs });
      if (answer.status === 404 && codeIn(answer) !== 'NoSuchBucket') return undefined;
      if (answer.status !== 200) throw bucketError(place, answer);
      return checkedBlob(ref, answer.body, place.shown);
    },
    remove: async (ref) => {
      // Whoever collects holds a lock meanwhile, for a short time only: a removal must not come after it.
      const bounds = { timeoutMs: limits.bucketRemoveMs, patienceMs: limits.bucketRemoveMs, most: limits.bucketAnswerBytes };
      const answer = await ask({ method: 'DELETE', key: keyOf(ref), ...bounds });
      const isGone = answer.status === 404 && codeIn(answer) !== 'NoSuchBucket';
      if (answer.status !== 204 && answer.status !== 200 && !isGone) throw bucketError(place, answer);
    },
    olderThan: async function* (before) {
      for await (const { key, at } of objectsIn(place, ask, options.pageKeys ?? limits.bucketPageKeys)) {
        const ref = refIn(place, key);
        if (ref !== undefined && at + TIME_STEP_MS <= before) yield ref;
      }
    },
  };
}

/** The answer to this question has no body, so it cannot say what is wrong; the next request will. */
async function isThere(ask: AskBucket, key: string, bytes: number): Promise<boolean> {
  const answer = await ask({ method: 'HEAD', key, most: 0, timeoutMs: limits.bucketMs });
  return answer.status === 200 && answer.headers.get('content-length') === String(bytes);
}

async function* objectsIn(place: BucketPlace, ask: AskBucket, pageKeys: number): AsyncGenerator<ListingPage['objects'][number]> {
  let next: string | undefined;
  for (let page = 0; page < limits.bucketPages; page += 1) {
    const query = {
      'list-type': '2',
      'max-keys': String(pageKeys),
      prefix: place.prefix,
      ...present({ 'continuation-token': next }),
    };
    const answer = await ask({ method: 'GET', key: '', query, most: limits.bucketAnswerBytes, timeoutMs: limits.bucketMs });
    if (answer.status !== 200) throw bucketError(place, answer);
    const listing = readListing(Buffer.from(answer.body).toString());
    if (!listing.ok) throw bucketAnswerError(place, listing.error);
    yield* listing.value.objects;
    if (listing.value.next === undefined) return;
    if (listing.value.next === next) throw bucketAnswerError(place, 'its list does not go on');
    next = listing.value.next;
  }
  throw tooManyPages(place);
}

/** `undefined`: not ours. */
function refIn({ prefix }: BucketPlace, key: string): PayloadRef | undefined {
  if (!key.startsWith(prefix)) return undefined;
  const name = key.slice(prefix.length);
  return /^[0-9a-f]{2}\/[0-9a-f]{62}$/.test(name) ? (name.replace('/', '') as PayloadRef) : undefined;
}
