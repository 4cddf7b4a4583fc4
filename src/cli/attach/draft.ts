/** A line that is being written, key by key. Pure: the caller keeps it and draws it. */
import { graphemesOf } from '../../agents/text/cut-text.ts';
import type { KeyPress } from '../terminal/full-screen.ts';
import { safeText } from '../terminal/safe-text.ts';
import { aroundCursor, textWidth } from '../terminal/text-width.ts';

export interface TypedDraft {
  readonly text: string;
  /** Before which character of the text the cursor stands. */
  readonly cursor: number;
}

export const EMPTY: TypedDraft = { text: '', cursor: 0 };

export const typedDraft = (text: string): TypedDraft => ({ text, cursor: text.length });

/** What becomes of it with this key; the same when it means nothing here. */
export function afterKey({ text, cursor }: TypedDraft, key: KeyPress): TypedDraft {
  const before = text.slice(0, cursor);
  const behind = text.slice(cursor);
  if (key.text !== '') return { text: before + key.text + behind, cursor: cursor + key.text.length };
  switch (key.ctrl ? `ctrl ${key.name}` : key.name) {
    case 'backspace':
      return { text: before.slice(0, leftOf(before)) + behind, cursor: leftOf(before) };
    case 'delete':
      return { text: before + behind.slice(rightOf(behind)), cursor };
    case 'left':
      return { text, cursor: leftOf(before) };
    case 'right':
      return { text, cursor: cursor + rightOf(behind) };
    case 'home':
    case 'ctrl a':
      return { text, cursor: 0 };
    case 'end':
    case 'ctrl e':
      return { text, cursor: text.length };
    case 'ctrl u':
      return { text: behind, cursor: 0 };
    case 'ctrl k':
      return { text: before, cursor };
    case 'ctrl w': {
      const kept = before.replace(/\S+\s*$/, '');
      return { text: kept + behind, cursor: kept.length };
    }
    default:
      return { text, cursor };
  }
}

/** A line that was pasted goes on behind the next: it is one message. */
export const withNewline = (draft: TypedDraft): TypedDraft =>
  afterKey(draft, { name: '', text: '\n', ctrl: false, shift: false });

const leftOf = (before: string): number => before.length - ([...graphemesOf(before)].at(-1)?.segment.length ?? 0);
const rightOf = (behind: string): number => [...graphemesOf(behind)].at(0)?.segment.length ?? 0;

/** As one row: of a long text the part around the cursor. */
export function draftRow(
  prompt: string,
  { text, cursor }: TypedDraft,
  width: number,
): { readonly row: string; readonly column: number } {
  const flat = (part: string): string => safeText(part.replaceAll('\n', '⏎'));
  const room = Math.max(4, width - textWidth(prompt) - 1);
  const { before, behind } = aroundCursor(
    { before: flat(text.slice(0, cursor)), behind: flat(text.slice(cursor)) },
    room,
    room - 1,
  );
  return { row: prompt + before + behind, column: textWidth(prompt + before) };
}
