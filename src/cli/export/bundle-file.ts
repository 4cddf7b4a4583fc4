/** Whether a file is a bundle: its first bytes say, packed or not. */
import { open } from 'node:fs/promises';
import { basename } from 'node:path';
import { isBundle, isPacked, unpacked } from '../../bundles/read.ts';

/** A bundle that is to be imported. */
export interface FoundBundle {
  readonly path: string;
  /** Its name, for people. */
  readonly name: string;
  readonly packed: boolean;
}

const HEAD_BYTES = 512;

/** `undefined` for everything else, and where there is nothing to read. */
export async function bundleAt(path: string): Promise<FoundBundle | undefined> {
  const begins = await headOf(path);
  const packed = isPacked(begins);
  const head = packed ? await firstUnpacked(begins) : begins;
  return isBundle(head) ? { path, name: basename(path), packed } : undefined;
}

async function headOf(path: string): Promise<Uint8Array> {
  try {
    await using file = await open(path, 'r');
    if (!(await file.stat()).isFile()) return new Uint8Array();
    const { buffer, bytesRead } = await file.read(Buffer.alloc(64 * HEAD_BYTES), 0, 64 * HEAD_BYTES, 0);
    return buffer.subarray(0, bytesRead);
  } catch {
    // Whoever looks for something else in it says why it cannot be read.
    return new Uint8Array();
  }
}

async function firstUnpacked(begins: Uint8Array): Promise<Uint8Array> {
  try {
    for await (const chunk of unpacked(once(begins), true)) return chunk;
  } catch {
    // Whatever it is, it is nothing that is known here.
  }
  return new Uint8Array();
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array, void> {
  yield bytes;
}
