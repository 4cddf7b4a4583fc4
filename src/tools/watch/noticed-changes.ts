/** What comparing a workspace with itself found, as evidence like that of the tools that change files. */

import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import { headOf } from '../bounded.ts';
import { lineDiff } from '../files/line-diff.ts';
import type { Evidence } from '../port.ts';
import type { WatchedChange, WatchedFile } from './watched-file.ts';

export function noticedChanges(
  changes: readonly WatchedChange[],
  by: 'command' | 'outside',
  redact: (text: string) => string,
): Evidence[] {
  const recorded = changes.slice(0, limits.noticedChanges);
  const more = changes.length - recorded.length;
  return recorded.map(({ path, before, after, program }, index): Evidence => {
    const change = textChange(before, after);
    const [from, to] = [before === undefined ? '/dev/null' : `a/${path}`, after === undefined ? '/dev/null' : `b/${path}`];
    const whole = change.text === '' ? '' : redact(`--- ${from}\n+++ ${to}\n${change.text}`);
    const diff = headOf(whole, limits.diffBytes);
    const payload = {
      path,
      before: before?.sha256 ?? null,
      after: after?.sha256 ?? null,
      addedLines: change.added,
      removedLines: change.removed,
      diff,
      by,
      ...present({ program }),
      ...(more > 0 && index === recorded.length - 1 ? { more } : {}),
    };
    const cut = diff.length < whole.length;
    return { type: 'file.diff', payload, ...(cut ? { attachment: headOf(whole, limits.toolOutputBytes) } : {}) };
  });
}

/** How many changes were too many to be recorded. */
export function unrecordedChanges(evidence: readonly Evidence[]): number {
  return evidence.reduce((sum, { type, payload }) => sum + (type === 'file.diff' ? (payload.more ?? 0) : 0), 0);
}

function textChange(before: WatchedFile | undefined, after: WatchedFile | undefined): ReturnType<typeof lineDiff> {
  const [from, to] = [textOf(before), textOf(after)];
  if (from !== undefined && to !== undefined) return lineDiff(from, to);
  const why = before?.binary === true || after?.binary === true ? 'not text' : 'too large to be compared';
  return { added: 0, removed: 0, text: `(${why})\n` };
}

function textOf(file: WatchedFile | undefined): string | undefined {
  return file === undefined ? '' : file.text;
}
