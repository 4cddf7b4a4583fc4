/**
 * Reads one text file that a stranger may have put there: only regular files, only up to a size, only UTF-8 without NUL.
 * A pipe or device under the name cannot make the reader wait.
 */
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { codeOf, messageOf } from '../../base/errors.ts';
import { limits } from '../../base/limits.ts';
import { fail, ok, type Result } from '../../base/result.ts';

export interface ReadFailure {
  readonly message: string;
  readonly fix?: string;
  /** Nothing is there. */
  readonly isMissing?: true;
}

// Windows has no such flag.
const WITHOUT_WAITING = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/** `keepMark` leaves a byte-order mark in the text, for who writes the file again. */
export async function readText(
  path: string,
  options: { readonly keepMark?: boolean } = {},
): Promise<Result<string, ReadFailure>> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(path, WITHOUT_WAITING);
    return await readHandle(handle, options.keepMark === true);
  } catch (error) {
    return fail(openFailure(error));
  } finally {
    await handle?.close();
  }
}

async function readHandle(handle: FileHandle, keepMark: boolean): Promise<Result<string, ReadFailure>> {
  const limit = limits.agentFileBytes;
  const status = await handle.stat();
  if (!status.isFile()) return fail({ message: 'is not a regular file' });
  const bytes = Buffer.alloc(Math.min(status.size, limit) + 1);
  let length = 0;
  // The file may grow while it is read; the buffer does not.
  while (length < bytes.length) {
    const { bytesRead } = await handle.read(bytes, length, bytes.length - length, length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  if (status.size > limit || length > limit) {
    return fail({
      message: `is larger than ${limit} bytes (limit agentFileBytes)`,
      fix: 'Keep prompts short; put reference material where the agent can read it with a tool.',
    });
  }
  return decode(bytes.subarray(0, length), keepMark);
}

function decode(bytes: Uint8Array, keepMark: boolean): Result<string, ReadFailure> {
  if (bytes.includes(0)) return fail({ message: 'is a binary file (it contains a NUL byte)', fix: 'Save it as UTF-8 text.' });
  try {
    return ok(new TextDecoder('utf-8', { fatal: true, ignoreBOM: keepMark }).decode(bytes));
  } catch {
    return fail({ message: 'is not valid UTF-8', fix: 'Save it as UTF-8 text.' });
  }
}

function openFailure(error: unknown): ReadFailure {
  switch (codeOf(error)) {
    case 'ENOENT':
    case 'ENOTDIR':
      return { message: 'does not exist', isMissing: true };
    case 'EACCES':
    case 'EPERM':
      return { message: 'may not be read', fix: 'Check the permissions of the file.' };
    case 'EISDIR':
      return { message: 'is not a regular file' };
    default:
      return { message: `cannot be read: ${messageOf(error)}` };
  }
}
