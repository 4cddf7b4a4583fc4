/** A change of a file whose whole text is known before and after it. */
import { createHash } from 'node:crypto';
import { lineDiff } from '../tools/files/line-diff.ts';
import type { TranscriptChange } from './items.ts';

const sha256 = (text: string | null): string | null => (text === null ? null : createHash('sha256').update(text).digest('hex'));

/** `null`: there is no such file. */
export function changeOfFile(path: string, before: string | null, after: string | null): TranscriptChange {
  const { added, removed, text } = lineDiff(before ?? '', after ?? '');
  const [from, to] = [before === null ? '/dev/null' : `a/${path}`, after === null ? '/dev/null' : `b/${path}`];
  const hashes = { before: sha256(before), after: sha256(after) };
  return { path, ...hashes, addedLines: added, removedLines: removed, diff: `--- ${from}\n+++ ${to}\n${text}` };
}
