/**
 * The difference between two texts, line by line, as a unified diff. The work is bounded: equal lines at both ends are
 * skipped, and where more than `limits.diffEdits` lines differ in between, that middle counts as replaced as a whole.
 */
import { limits } from '../../base/limits.ts';

export interface LineDiff {
  readonly added: number;
  readonly removed: number;
  /** Hunks with three lines of context; empty when nothing changed. */
  readonly text: string;
}

export type Edit = { readonly kind: ' ' | '-' | '+'; readonly line: string };

const CONTEXT_LINES = 3;
const NO_NEWLINE = '\\ No newline at end of file';

export function lineDiff(before: string, after: string): LineDiff {
  const left = linesOfText(before);
  const right = linesOfText(after);
  const start = commonStart(left, right);
  const end = commonEnd(left, right, start);
  const middle = shortestEdits(left.slice(start, left.length - end), right.slice(start, right.length - end));
  const edits: Edit[] = [
    ...left.slice(Math.max(0, start - CONTEXT_LINES), start).map(kept),
    ...middle,
    ...left.slice(left.length - end, left.length - end + CONTEXT_LINES).map(kept),
  ];
  return {
    added: middle.filter(({ kind }) => kind === '+').length,
    removed: middle.filter(({ kind }) => kind === '-').length,
    text: hunksOf(edits, Math.max(0, start - CONTEXT_LINES)),
  };
}

/** The same as a list: every line of both texts, kept, removed or added. */
export function lineEdits(left: readonly string[], right: readonly string[]): readonly Edit[] {
  const start = commonStart(left, right);
  const end = commonEnd(left, right, start);
  const middle = shortestEdits(left.slice(start, left.length - end), right.slice(start, right.length - end));
  return [...left.slice(0, start).map(kept), ...middle, ...left.slice(left.length - end).map(kept)];
}

/** The text that a diff was made from; `undefined` when the diff does not fit the text or is not whole. */
export function textBefore(after: string, diff: string): string | undefined {
  const right = linesOfText(after);
  const left: string[] = [];
  let at = 0;
  for (const { start, edits } of hunksIn(diff)) {
    if (start < at || start > right.length) return undefined;
    left.push(...right.slice(at, start));
    at = start;
    for (const { kind, line } of edits) {
      if (kind !== '-' && right[at++] !== line) return undefined;
      if (kind !== '+') left.push(line);
    }
  }
  return [...left, ...right.slice(at)]
    .map((line) => (line.endsWith(NO_NEWLINE) ? line.slice(0, -NO_NEWLINE.length - 1) : `${line}\n`))
    .join('');
}

/** The parts of a diff, each with the line of the text after it that it begins at, from 0. */
export function hunksIn(diff: string): readonly { readonly start: number; readonly edits: readonly Edit[] }[] {
  const hunks: { start: number; edits: { kind: Edit['kind']; line: string }[] }[] = [];
  for (const text of diff.replace(/\n$/, '').split('\n')) {
    const head = /^@@ -\d+,\d+ \+(\d+),(\d+) @@$/.exec(text);
    const hunk = hunks.at(-1);
    if (head !== null) hunks.push({ start: Number(head[1]) - (head[2] === '0' ? 0 : 1), edits: [] });
    else if (hunk !== undefined && text === NO_NEWLINE) {
      const last = hunk.edits.at(-1);
      if (last !== undefined) last.line += `\n${text}`;
    } else if (hunk !== undefined) {
      const kind = text.slice(0, 1);
      if (kind === ' ' || kind === '-' || kind === '+') hunk.edits.push({ kind, line: text.slice(1) });
    }
  }
  return hunks;
}

/** A last line without a newline carries the mark that diffs use for it, so that it differs from one with. */
export function linesOfText(text: string): string[] {
  if (text === '') return [];
  const lines = text.split('\n');
  const last = lines.pop();
  if (last !== undefined && last !== '') lines.push(`${last}\n${NO_NEWLINE}`);
  return lines;
}

const kept = (line: string): Edit => ({ kind: ' ', line });

function commonStart(left: readonly string[], right: readonly string[]): number {
  const length = Math.min(left.length, right.length);
  let count = 0;
  while (count < length && left[count] === right[count]) count += 1;
  return count;
}

function commonEnd(left: readonly string[], right: readonly string[], start: number): number {
  const length = Math.min(left.length, right.length) - start;
  let count = 0;
  while (count < length && left[left.length - 1 - count] === right[right.length - 1 - count]) count += 1;
  return count;
}

/** Myers' greedy algorithm. `trace[d]` holds how far each diagonal came with `d` edits. */
function shortestEdits(left: readonly string[], right: readonly string[]): Edit[] {
  if (left.length === 0 || right.length === 0) return replacement(left, right);
  const most = Math.min(left.length + right.length, limits.diffEdits);
  const trace: Int32Array[] = [];
  const reached = new Int32Array(2 * most + 3);
  const middle = most + 1;
  for (let edits = 0; edits <= most; edits += 1) {
    trace.push(reached.slice(middle - edits - 1, middle + edits + 2));
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      const down = stepsDown(reached, middle, diagonal, edits);
      let x = down ? (reached[middle + diagonal + 1] ?? 0) : (reached[middle + diagonal - 1] ?? 0) + 1;
      while (x < left.length && x - diagonal < right.length && left[x] === right[x - diagonal]) x += 1;
      reached[middle + diagonal] = x;
      if (x >= left.length && x - diagonal >= right.length) return walkBack(trace, left, right);
    }
  }
  return replacement(left, right);
}

function stepsDown(reached: Int32Array, middle: number, diagonal: number, edits: number): boolean {
  if (diagonal === -edits) return true;
  if (diagonal === edits) return false;
  return (reached[middle + diagonal - 1] ?? 0) < (reached[middle + diagonal + 1] ?? 0);
}

function walkBack(trace: readonly Int32Array[], left: readonly string[], right: readonly string[]): Edit[] {
  const backwards: Edit[] = [];
  let x = left.length;
  let y = right.length;
  for (let edits = trace.length - 1; edits >= 0; edits -= 1) {
    const reached = trace[edits] ?? new Int32Array(0);
    const middle = edits + 1;
    const diagonal = x - y;
    const down = stepsDown(reached, middle, diagonal, edits);
    const previousX = reached[middle + diagonal + (down ? 1 : -1)] ?? 0;
    const startX = edits === 0 ? 0 : down ? previousX : previousX + 1;
    for (; x > startX; x -= 1, y -= 1) backwards.push(kept(left[x - 1] ?? ''));
    if (edits === 0) break;
    if (down) {
      y -= 1;
      backwards.push({ kind: '+', line: right[y] ?? '' });
    } else {
      x -= 1;
      backwards.push({ kind: '-', line: left[x] ?? '' });
    }
  }
  return backwards.reverse();
}

function replacement(left: readonly string[], right: readonly string[]): Edit[] {
  return [...left.map((line): Edit => ({ kind: '-', line })), ...right.map((line): Edit => ({ kind: '+', line }))];
}

function hunksOf(edits: readonly Edit[], skipped: number): string {
  const parts: string[] = [];
  let leftLine = skipped + 1;
  let rightLine = skipped + 1;
  let index = 0;
  while (index < edits.length) {
    const next = nextChange(edits, index);
    if (next === edits.length) break;
    const start = Math.max(index, next - CONTEXT_LINES);
    leftLine += start - index;
    rightLine += start - index;
    const end = hunkEnd(edits, next);
    const hunk = edits.slice(start, end);
    const leftCount = hunk.filter(({ kind }) => kind !== '+').length;
    const rightCount = hunk.filter(({ kind }) => kind !== '-').length;
    parts.push(`@@ -${range(leftLine, leftCount)} +${range(rightLine, rightCount)} @@`);
    for (const { kind, line } of hunk) parts.push(kind + line);
    leftLine += leftCount;
    rightLine += rightCount;
    index = end;
  }
  return parts.length === 0 ? '' : `${parts.join('\n')}\n`;
}

function range(line: number, count: number): string {
  return `${count === 0 ? line - 1 : line},${count}`;
}

function nextChange(edits: readonly Edit[], from: number): number {
  let index = from;
  while (index < edits.length && edits[index]?.kind === ' ') index += 1;
  return index;
}

/** A hunk goes on over short stretches of equal lines and ends three lines after its last change. */
function hunkEnd(edits: readonly Edit[], change: number): number {
  let last = change;
  for (let index = change; index < edits.length && index - last <= 2 * CONTEXT_LINES; index += 1) {
    if (edits[index]?.kind !== ' ') last = index;
  }
  return Math.min(edits.length, last + 1 + CONTEXT_LINES);
}
