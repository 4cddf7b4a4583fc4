/** Packing and unpacking as it is read: no more is held than the two ends have room for. */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { createGzip } from 'node:zlib';

/** What goes wrong on either side is thrown where it is read. */
export async function* through(
  chunks: AsyncIterable<Uint8Array>,
  transform: ReturnType<typeof createGzip>,
): AsyncGenerator<Uint8Array, void> {
  const failed: unknown[] = [];
  const feeding = pipeline(Readable.from(chunks, { objectMode: false }), transform).catch((error: unknown) => failed.push(error));
  try {
    yield* transform as AsyncIterable<Uint8Array>;
  } catch (error) {
    await feeding;
    throw failed[0] ?? error;
  } finally {
    transform.destroy();
  }
  await feeding;
  if (failed.length > 0) throw failed[0];
}
