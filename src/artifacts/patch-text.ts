/**
 * One patch of what a run changed, made of the changes that were recorded. A file that was changed several times is there once,
 * from what it held before the first to what it holds now, where that can be told from the file; otherwise its changes follow
 * each other. What is not text is named with its checksums and left out: nothing pretends to hold it.
 */
import { createHash } from 'node:crypto';
import { limits } from '../base/limits.ts';
import type { Payloads } from '../events/catalogue.ts';
import { headOf } from '../tools/bounded.ts';
import { lineDiff, textBefore } from '../tools/files/line-diff.ts';

export interface RecordedChange extends Pick<Payloads['file.diff'], 'path' | 'before' | 'after'> {
  /** The whole of it, where that is known. */
  readonly diff: string;
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** `now` gives what a file holds; secrets are out of the recorded changes, and `redact` keeps them out of what is made anew. */
export function patchText(
  changes: readonly RecordedChange[],
  now: (path: string) => string | undefined,
  redact: (text: string) => string,
): string {
  const byPath = Map.groupBy(changes, ({ path }) => path);
  let text = '';
  let left = 0;
  for (const [path, own] of byPath) {
    const [first, last] = [own[0], own.at(-1)];
    if (first === undefined || last === undefined || first.before === last.after) continue;
    const part = partOf(path, own, now, redact);
    if (text.length + part.length <= limits.runPatchBytes) text += part;
    else left += 1;
  }
  return left === 0 ? text : `${headOf(text, limits.runPatchBytes)}# ${left} more files were changed than fit into this patch\n`;
}

function partOf(
  path: string,
  own: readonly RecordedChange[],
  now: (path: string) => string | undefined,
  redact: (text: string) => string,
): string {
  const [before, after] = [own[0]?.before ?? null, own.at(-1)?.after ?? null];
  if (own.some(({ diff }) => !HUNK.test(diff)) && own.some(({ diff }) => diff !== ''))
    return `# ${path} is not in this patch, it is no text or too large: ${named(before)} before, ${named(after)} after\n`;
  const composed = own.length === 1 ? undefined : composedDiff(path, own, now);
  const diffs = composed === undefined ? own.map(({ diff }) => diff) : [redact(composed)];
  return diffs.map((diff) => header(path, diff) + diff).join('');
}

const HUNK = /^@@ -\d+,\d+ \+\d+,\d+ @@$/m;
const named = (hash: string | null): string => (hash === null ? 'nothing' : `sha256:${hash}`);

/** What git wants to see before a change; names that it would write otherwise go without. */
function header(path: string, diff: string): string {
  if (diff === '' || !/^[\w@+,./ -]+$/.test(path)) return '';
  const made = diff.startsWith('--- /dev/null') ? 'new file mode 100644\n' : '';
  const gone = diff.includes('\n+++ /dev/null') ? 'deleted file mode 100644\n' : '';
  return `diff --git a/${path} b/${path}\n${made}${gone}`;
}

/** Back from what the file holds, change by change; each step must come to the checksum that was recorded. */
function composedDiff(
  path: string,
  own: readonly RecordedChange[],
  now: (path: string) => string | undefined,
): string | undefined {
  const last = own.at(-1);
  const held = last?.after === null ? '' : now(path);
  if (held === undefined || (last?.after !== null && sha256(held) !== last?.after)) return undefined;
  let text: string | undefined = held;
  for (const { before, diff } of own.toReversed()) {
    text = textBefore(text, diff);
    if (text === undefined || (before === null ? text !== '' : sha256(text) !== before)) return undefined;
  }
  const [from, to] = [own[0]?.before === null ? '/dev/null' : `a/${path}`, last?.after === null ? '/dev/null' : `b/${path}`];
  return `--- ${from}\n+++ ${to}\n${lineDiff(text, held).text}`;
}

type NamedText = readonly [name: string, text: string];

export const diffOfTexts = ([left, before]: NamedText, [right, after]: NamedText): string =>
  `--- ${left}\n+++ ${right}\n${lineDiff(before, after).text}`;
