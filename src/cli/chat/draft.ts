/**
 * A message while it is being typed: a row of cells, each what a person sees as one character, and a cursor between them. A long
 * paste is one cell. What was pasted is remembered as such: it is never a command, and never names a file to send along.
 */
import { graphemesOf } from '../../agents/text/cut-text.ts';
import { limits } from '../../base/limits.ts';
import { counted } from '../../base/wording.ts';
import { safeText } from '../terminal/safe-text.ts';
import { textWidth } from '../terminal/text-width.ts';
import type { Key, KeyName } from './keys.ts';

export interface Cell {
  readonly text: string;
  /** What is drawn for it. */
  readonly shown: string;
  readonly width: number;
  readonly pasted: boolean;
}

export interface ChatDraft {
  readonly cells: readonly Cell[];
  /** Before which cell the cursor stands. */
  readonly cursor: number;
}

/** What was said once, as it comes back to the line. */
export type Recalled = () => ChatDraft;

export const emptyDraft: ChatDraft = { cells: [], cursor: 0 };
/** Beyond either of these a paste is one cell. */
const PASTE_LINES_SHOWN = 10;
const PASTE_CHARACTERS_SHOWN = 2_000;
const UNWANTED = /[^\P{Cc}\n\t]/gu;
const SPACE = /^\s+$/;

export const isEmptyDraft = ({ cells }: ChatDraft): boolean => cells.length === 0;
export const draftText = ({ cells }: Pick<ChatDraft, 'cells'>): string => cells.map(({ text }) => text).join('');
export const draftShown = ({ cells }: Pick<ChatDraft, 'cells'>): string =>
  cells.map(({ text, shown }) => (text === '\n' ? '↵' : shown)).join('');

/** With the cursor at its end. */
export function draftOf(text: string, pasted = false): ChatDraft {
  const cells = cellsOf(text, pasted);
  return { cells, cursor: cells.length };
}

/** `undefined`: there is no room for it (limit promptBytes). */
export function typedInto(draft: ChatDraft, key: Extract<Key, { readonly text: string }>): ChatDraft | undefined {
  const { cells, cursor } = draft;
  const pasted = key.kind === 'paste';
  const text = key.text.replace(/\r\n?/g, '\n').replace(UNWANTED, '');
  const size = cells.reduce((sum, cell) => sum + cell.text.length, 0);
  if (size + text.length > limits.promptBytes || (pasted && key.cut)) return undefined;
  if (pasted) return inserted(draft, isLong(text) ? [chip(text)] : cellsOf(text, true));
  // A mark that belongs to the character before it comes as a key of its own.
  const before = cells[cursor - 1];
  if (before === undefined || before.pasted || before.text === '\n') return inserted(draft, cellsOf(text, false));
  return inserted(without(draft, cursor - 1, cursor), cellsOf(before.text + text, false));
}

/** What a key does to the text; keys that do something else do nothing here. */
export function editedDraft(draft: ChatDraft, name: KeyName): ChatDraft {
  const { cells, cursor } = draft;
  switch (name) {
    case 'newline':
      return inserted(draft, cellsOf('\n', false));
    case 'left':
      return draftAt(draft, cursor - 1);
    case 'right':
      return draftAt(draft, cursor + 1);
    case 'home':
      return draftAt(draft, lineStart(cells, cursor));
    case 'end':
      return draftAt(draft, lineEnd(cells, cursor));
    case 'word left':
      return draftAt(draft, wordStart(cells, cursor));
    case 'word right':
      return draftAt(draft, wordEnd(cells, cursor));
    case 'backspace':
      return without(draft, cursor - 1, cursor);
    case 'delete':
      return without(draft, cursor, cursor + 1);
    case 'delete word':
      return without(draft, wordStart(cells, cursor), cursor);
    case 'delete before': {
      const start = lineStart(cells, cursor);
      return without(draft, start === cursor ? start - 1 : start, cursor);
    }
    case 'delete after': {
      const end = lineEnd(cells, cursor);
      return without(draft, cursor, end === cursor ? end + 1 : end);
    }
    default:
      return draft;
  }
}

export const draftAt = ({ cells }: ChatDraft, cursor: number): ChatDraft => ({
  cells,
  cursor: Math.max(0, Math.min(cells.length, cursor)),
});

/** In the place of the cells from `from` to the cursor. */
export function draftReplaced(draft: ChatDraft, from: number, text: string): ChatDraft {
  return inserted(without(draft, from, draft.cursor), cellsOf(text, false));
}

function inserted({ cells, cursor }: ChatDraft, more: readonly Cell[]): ChatDraft {
  return { cells: [...cells.slice(0, cursor), ...more, ...cells.slice(cursor)], cursor: cursor + more.length };
}

function without({ cells }: ChatDraft, from: number, to: number): ChatDraft {
  const start = Math.max(0, from);
  return { cells: [...cells.slice(0, start), ...cells.slice(to)], cursor: start };
}

function cellsOf(text: string, pasted: boolean): readonly Cell[] {
  return [...graphemesOf(text)].map(({ segment }) => {
    const shown = segment === '\n' ? '' : safeText(segment);
    return { text: segment, shown, width: textWidth(shown), pasted };
  });
}

const isLong = (text: string): boolean =>
  text.length > PASTE_CHARACTERS_SHOWN || text.split('\n', PASTE_LINES_SHOWN + 1).length > PASTE_LINES_SHOWN;

function chip(text: string): Cell {
  let lines = 1;
  for (const sign of text) if (sign === '\n') lines += 1;
  const shown = `[pasted: ${counted(lines, 'line')}, ${counted(text.length, 'character')}]`;
  return { text, shown, width: textWidth(shown), pasted: true };
}

function lineStart(cells: readonly Cell[], cursor: number): number {
  return cells.slice(0, cursor).findLastIndex(({ text }) => text === '\n') + 1;
}

function lineEnd(cells: readonly Cell[], cursor: number): number {
  const end = cells.findIndex(({ text }, index) => index >= cursor && text === '\n');
  return end === -1 ? cells.length : end;
}

const isSpace = (cell: Cell | undefined): boolean => cell !== undefined && SPACE.test(cell.text);

function wordStart(cells: readonly Cell[], cursor: number): number {
  let start = cursor;
  while (start > 0 && isSpace(cells[start - 1])) start -= 1;
  while (start > 0 && !isSpace(cells[start - 1])) start -= 1;
  return start;
}

function wordEnd(cells: readonly Cell[], cursor: number): number {
  let end = cursor;
  while (end < cells.length && isSpace(cells[end])) end += 1;
  while (end < cells.length && !isSpace(cells[end])) end += 1;
  return end;
}
