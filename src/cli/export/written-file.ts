/** Writes a file that holds what was said: whole or not at all, and only for its owner to read. */
import { open, rename, rm } from 'node:fs/promises';
import { messageOf } from '../../base/errors.ts';
import { usageError } from '../terminal/command.ts';

/** How many bytes were written. */
export async function writeFileOf(path: string, pieces: AsyncIterable<string | Uint8Array>): Promise<number> {
  const part = `${path}.${process.pid}.part`;
  const file = await open(part, 'wx', 0o600).catch((error: unknown) => refuse(path, error));
  let bytes = 0;
  try {
    for await (const piece of pieces) {
      const whole = typeof piece === 'string' ? Buffer.from(piece) : piece;
      await file.writeFile(whole);
      bytes += whole.length;
    }
    await file.close();
    await rename(part, path).catch((error: unknown) => refuse(path, error));
    return bytes;
  } catch (error) {
    await file.close().catch(() => undefined);
    await rm(part, { force: true });
    throw error;
  }
}

function refuse(path: string, error: unknown): never {
  throw usageError(`${path} cannot be written: ${messageOf(error)}`, 'name another file: -o');
}
