/** Files that Codex changed, where its transcript has all of what they held before and after. */
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { limits } from '../../base/limits.ts';
import { changeOfFile } from '../change.ts';
import { objectIn, textIn } from '../fields.ts';
import type { TranscriptChange } from '../items.ts';

export function codexChanges(seen: JsonObject | undefined): readonly TranscriptChange[] {
  const changes = objectIn(seen, 'changes');
  if (changes === undefined || seen?.['status'] === 'failed' || seen?.['success'] === false) return [];
  return Object.entries(changes)
    .slice(0, limits.transcriptFiles)
    .flatMap(([path, change]) => (isJsonObject(change) ? changeOf(path, change) : []));
}

/** Of a change in the middle of a file only the lines around it are known, which no checksum can be made of. */
function changeOf(path: string, change: JsonObject): readonly TranscriptChange[] {
  const content = textIn(change, 'content') ?? textIn(objectIn(change, 'add') ?? objectIn(change, 'delete'), 'content');
  const kind = textIn(change, 'type') ?? Object.keys(change)[0];
  if (content === undefined || (kind !== 'add' && kind !== 'delete')) return [];
  return [kind === 'add' ? changeOfFile(path, null, content) : changeOfFile(path, content, null)];
}
