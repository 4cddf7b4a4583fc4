/**
 * Where payloads live that are too large for the database. Content-addressed: a name is the hash of its bytes, so writing
 * is idempotent and nothing is ever changed. All machines of a ledger must see the same store: a shared folder or a
 * bucket. test/conformance/blobs/checks.ts is the list of what every store promises.
 */
import type { PayloadRef } from '../../base/ids.ts';

export interface BlobStore {
  /** Whole and durable when it resolves. Does nothing when the bytes are there already. */
  write(ref: PayloadRef, body: string | Uint8Array): Promise<void>;
  /** `undefined` when there is no such blob. Fails with `ledger_corrupt` when the bytes are not what their name says. */
  read(ref: PayloadRef): Promise<Uint8Array | undefined>;
  remove(ref: PayloadRef): Promise<void>;
  /** What was written before `before` (milliseconds since 1970): leftovers of commits that failed are among them. */
  olderThan(before: number): AsyncIterable<PayloadRef>;
}
