/** What SQLite says when it fails, turned into an error with a stable code and something to do about it. */
import { messageOf, TroupeError } from '../../base/errors.ts';
import { readOnlyError } from '../write-queue.ts';

/** SQLite's primary result codes; an extended code holds its primary one in the low byte. */
const BUSY = 5;
const LOCKED = 6;
const READONLY = 8;
const IO = 10;
const CORRUPT = 11;
const FULL = 13;
const CANNOT_OPEN = 14;
const NOT_A_DATABASE = 26;

function resultCode(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null || !('errcode' in error)) return undefined;
  return typeof error.errcode === 'number' ? error.errcode & 0xff : undefined;
}

/** Somebody else is writing: worth another try. */
export function isBusy(error: unknown): boolean {
  const code = resultCode(error);
  return code === BUSY || code === LOCKED;
}

/** The file or its folder cannot be written, while it may still be readable. */
export function isNotWritable(error: unknown): boolean {
  const code = resultCode(error);
  return code === READONLY || code === CANNOT_OPEN;
}

export function ledgerError(error: unknown, path: string): TroupeError {
  if (error instanceof TroupeError) return error;
  const say = (code: string, what: string, fix: string): TroupeError =>
    new TroupeError(code, `${what}: ${path} (${messageOf(error)})`, { fix, cause: error });
  switch (resultCode(error)) {
    case FULL:
      return say('ledger_full', 'The disk is full, nothing was written to the ledger', 'Free some space and resume the run.');
    case READONLY:
      return readOnlyError(path, error);
    case BUSY:
    case LOCKED:
      return say('ledger_busy', 'Another process kept the ledger locked', 'Try again, or end the process that holds it.');
    case CORRUPT:
    case NOT_A_DATABASE:
      return corruptError(path, messageOf(error), error);
    case IO:
    case CANNOT_OPEN:
      return say('ledger_io', 'The ledger cannot be read or written', 'Check the disk, the folder and its permissions.');
    default:
      return say('ledger_io', 'The ledger failed', 'Run `troupe doctor`, and `troupe ledger verify` to check the file.');
  }
}

export function corruptError(path: string, why: string, cause?: unknown): TroupeError {
  return new TroupeError('ledger_corrupt', `This is not a sound ledger: ${path} (${why})`, {
    fix: 'Restore the file from a backup, or move it away to start a new ledger.',
    cause,
  });
}
