/**
 * Replaces a file as a whole or not at all, and gives the proof of it: what changed, and the SHA-256 of before and after.
 * The new bytes go to a file beside the target, reach the disk, and are renamed over it; all of that in the folder that was held
 * open when it began.
 */
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { codeOf } from '../../base/errors.ts';
import { type HeldFolder, heldMessage, holdFolder, NO_LINK } from '../../base/files/held-folder.ts';
import { limits } from '../../base/limits.ts';
import type { Random } from '../../base/random.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import { headOf } from '../bounded.ts';
import type { Evidence } from '../port.ts';
import { decodeUtf8, type FileContent, looksBinary } from './file-content.ts';
import { type LineDiff, lineDiff } from './line-diff.ts';
import type { InsidePath } from './workspace.ts';

const NEW_FILE_MODE = 0o666;

export async function replaceFile(
  path: InsidePath,
  text: string,
  mode: number | undefined,
  random: Random,
): Promise<Result<void, string>> {
  try {
    using folder = holdFolder({ root: path.root, absolute: dirname(path.absolute) }, true);
    await replaceIn(folder, basename(path.absolute), { text, mode, nonce: Buffer.from(random.bytes(8)).toString('hex') });
    return ok(undefined);
  } catch (error) {
    return fail(`${path.relative}: ${explain(error)}`);
  }
}

interface Replacement {
  readonly text: string;
  readonly mode: number | undefined;
  readonly nonce: string;
}

async function replaceIn(folder: HeldFolder, name: string, { text, mode, nonce }: Replacement): Promise<void> {
  const temporary = folder.at(`.${nonce}.tmp`);
  try {
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | NO_LINK;
    const file = await open(temporary, flags, mode ?? NEW_FILE_MODE);
    try {
      await file.writeFile(text);
      if (mode !== undefined) await file.chmod(mode);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, folder.at(name));
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {});
    throw error;
  }
}

/** What a replacement did, as evidence. `before` is absent for a new file. */
export function changeEvidence(
  path: string,
  before: FileContent | undefined,
  after: string,
  redact: (text: string) => string,
  shown: (text: string) => string = (text) => text,
): Extract<Evidence, { type: 'file.diff' }> {
  const oldText = before === undefined ? '' : looksBinary(before.bytes) ? undefined : decodeUtf8(before.bytes);
  const change =
    oldText === undefined ? { added: 0, removed: 0, text: '(the file was binary before)\n' } : shownDiff(oldText, after, shown);
  const whole =
    change.text === '' ? '' : redact(`--- ${before === undefined ? '/dev/null' : `a/${path}`}\n+++ b/${path}\n${change.text}`);
  const diff = headOf(whole, limits.diffBytes);
  return {
    type: 'file.diff',
    payload: {
      path,
      before: before === undefined ? null : sha256(before.bytes),
      after: sha256(after),
      addedLines: change.added,
      removedLines: change.removed,
      diff,
    },
    ...(diff.length < whole.length ? { attachment: headOf(whole, limits.toolOutputBytes) } : {}),
  };
}

/** Secrets are taken out of both texts before they are compared: of one over many lines, a diff has pieces that nobody knows. */
function shownDiff(before: string, after: string, shown: (text: string) => string): LineDiff {
  const real = lineDiff(before, after);
  const [left, right] = [shown(before), shown(after)];
  if (left === before && right === after) return real;
  const { text } = lineDiff(left, right);
  return { ...real, text: text === '' && real.text !== '' ? '(only what is redacted is another)\n' : text };
}

export function sha256(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

function explain(error: unknown): string {
  const code = codeOf(error);
  if (code === 'ENOSPC') return 'the disk is full; nothing was changed.';
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') return 'permission denied; nothing was changed.';
  if (code === 'EISDIR') return 'is a folder.';
  if (code === 'ENOTDIR' || code === 'EEXIST') return 'a part of the path is a link or a file, not a folder.';
  if (code === 'ELOOP') return 'its folder was replaced by a link meanwhile.';
  return heldMessage(error);
}
