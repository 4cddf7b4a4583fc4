/** What a change would do to a file as it is now: a unified diff, for whoever is to allow it. */

import { isThere } from '../../base/files/held-folder.ts';
import { ok, type Result } from '../../base/result.ts';
import { judgedName } from '../../base/visible-text.ts';
import { groupDigits } from '../bounded.ts';
import { decodeUtf8, type FileContent, looksBinary, readContent } from './file-content.ts';
import { lineDiff } from './line-diff.ts';
import { type InsidePath, resolveAnywhere } from './workspace.ts';

/** `undefined` when there is no difference to show; then the arguments say what there is to say. */
export async function previewChange(
  workspace: string,
  path: string,
  next: (target: InsidePath, before: FileContent | undefined) => Result<string, string>,
): Promise<string | undefined> {
  const target = await resolveAnywhere(workspace, path);
  if (!target.ok) return undefined;
  const there = isThere(target.value) ? await readContent(target.value) : ok(undefined);
  if (!there.ok) return undefined;
  const before = there.value;
  const after = next(target.value, before);
  if (!after.ok) return undefined;
  const text = before === undefined ? '' : looksBinary(before.bytes) ? undefined : decodeUtf8(before.bytes);
  const diff = lineDiff(text ?? '', after.value);
  const changed = `+${diff.added} -${diff.removed} lines`;
  const what =
    before === undefined
      ? `new file, ${changed}`
      : text === undefined
        ? `takes the place of ${groupDigits(before.bytes.length)} bytes that are not text, ${changed}`
        : diff.text === ''
          ? 'stays as it is'
          : changed;
  const name = judgedName(target.value.relative);
  return `${name} (${what})\n${diff.text}`.replace(/\n$/, '');
}
