/** Text that a command is given in a file or on stdin: bounded, and text only. */
import { createReadStream } from 'node:fs';
import { codeOf, messageOf } from '../../base/errors.ts';
import { limits } from '../../base/limits.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import { usageError } from './command.ts';
import type { Terminal } from './terminal.ts';

/** `-` is stdin. */
export async function readInput({ input }: Pick<Terminal, 'input'>, path: string): Promise<Result<string, Error>> {
  try {
    const bytes = await readAtMost(path === '-' ? input : createReadStream(path), limits.editedBytes);
    if (bytes === undefined) return fail(usageError(`${path} is larger than ${limits.editedBytes} bytes (limit editedBytes)`));
    return ok(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return fail(usageError(`There is no file ${path}`));
    return fail(usageError(`${path} cannot be read as text: ${messageOf(error)}`));
  }
}

/** `undefined` when there is more. */
export async function readAtMost(input: AsyncIterable<Uint8Array>, most: number): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of input) {
    size += chunk.length;
    if (size > most) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
