/**
 * Lines drawn in place at the bottom of a terminal, and below them one that is being typed. The next picture takes the place of
 * the last one, also when the window has another width by then.
 */
import { stripVTControlCharacters } from 'node:util';
import { safeText } from '../terminal/safe-text.ts';
import { HIDE_CURSOR, type Screen, SHOW_CURSOR } from '../terminal/terminal.ts';
import { aroundCursor, cutToWidth, textWidth } from '../terminal/text-width.ts';
import type { LinePrompt, TypedLine } from './run-view.ts';

/** So much of what is typed is always seen: of a narrow screen a good part, whatever the question leaves. */
const typedColumns = (width: number): number => (width < 60 ? 12 : 6);

export interface Canvas {
  /** Nothing is written where nothing is different. */
  paint(lines: readonly string[], typed: TypedLine | undefined): void;
  /** Lines that stay, in the place of what was drawn. */
  say(lines: readonly string[]): void;
  /** What is drawn stays as it is, with the cursor below it; the next picture begins there. */
  leave(): void;
  /**
   * The picture goes, for somebody who wants the whole screen, until the returned function is called: then what was to be said
   * meanwhile is said, and `back` draws what there is by then.
   */
  lend(back: () => void): () => void;
  /** Until `release` nothing is drawn, and what is said is kept: where it would stand is not known. */
  hold(): void;
  release(): void;
}

export function createCanvas(screen: Screen): Canvas {
  let drawn: readonly string[] = [];
  let drawnTyped = '';
  /** The column of the cursor in the line that is being typed. */
  let column = 0;
  /** Why nothing is drawn now, and what is to be said afterwards. */
  const away = new Set<'lent' | 'held'>();
  let late: string[] = [];
  let hidden = false;
  /** From where the cursor stands, below the lines or in the one that is being typed, to the first line that was drawn. */
  const toFirst = (): string => {
    const width = screen.width();
    const above = rowsOf(drawn, width) + (drawnTyped !== '' && screen.breaksCursorLine ? Math.floor(column / width) : 0);
    const up = above === 0 ? '' : `\u001b[${above}A`;
    return drawn.length === 0 ? `${HIDE_CURSOR}${up}${drawnTyped === '' ? '' : '\r'}` : `${up}\r`;
  };
  const wipe = (text: string): void => {
    screen.write(`${toFirst()}\u001b[J${text}`);
    hidden ||= drawn.length === 0;
    drawn = [];
    drawnTyped = '';
  };
  const comeBack = (from: 'lent' | 'held'): void => {
    away.delete(from);
    if (away.size > 0 || (from === 'held' && late.length === 0)) return;
    const said = late;
    late = [];
    wipe(ended(said));
  };
  const ended = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');
  return {
    paint(lines, typed) {
      if (away.size > 0) return;
      const typing = typed === undefined ? undefined : typedLine(typed, screen.width());
      const below = typing?.text ?? '';
      if (below === drawnTyped && lines.length === drawn.length && lines.every((line, index) => line === drawn[index])) return;
      const cursor = typed !== undefined ? SHOW_CURSOR : drawnTyped === '' ? '' : HIDE_CURSOR;
      // Erased before they are written: behind a line that fills its row, the last sign would go.
      screen.write(`${toFirst()}${lines.map((line) => `\u001b[K${line}\n`).join('')}\u001b[J${below}${cursor}`);
      drawn = lines;
      drawnTyped = below;
      column = typing?.column ?? 0;
      hidden = typed === undefined;
    },
    say(lines) {
      if (away.size === 0) wipe(ended(lines));
      else late.push(...lines);
    },
    hold: () => void away.add('held'),
    release: () => comeBack('held'),
    lend(back) {
      wipe(SHOW_CURSOR);
      hidden = false;
      away.add('lent');
      return () => {
        comeBack('lent');
        back();
      };
    },
    leave() {
      if (drawn.length === 0 && drawnTyped === '' && !hidden) return;
      screen.write(`${drawnTyped === '' ? '' : '\n'}${SHOW_CURSOR}`);
      hidden = false;
      drawn = [];
      drawnTyped = '';
    },
  };
}

/** The line that is being typed, within one row, and the cursor where it belongs; of a long text the part around it. */
function typedLine(
  { prompt: whole, text, cursor }: TypedLine,
  width: number,
): { readonly text: string; readonly column: number } {
  // Two rows of it would be counted as one when the window has another width.
  const seen = typedColumns(width);
  const form = promptWithin(whole, width - seen);
  const prompt = textWidth(form) < width - seen ? form : `${cutToWidth(form, width - seen)} `;
  const room = Math.max(seen - 2, width - textWidth(prompt) - 2);
  const inOneLine = (part: string): string => safeText(part).replaceAll('\n', ' ');
  const typed = { before: inOneLine(text.slice(0, cursor)), behind: inOneLine(text.slice(cursor)) };
  const { before, behind } = aroundCursor(typed, room);
  const upToCursor = `${prompt}${before}`;
  // Written once more, the cursor is where the terminal itself has put the end of it, however wide it takes the signs to be.
  return { text: `${upToCursor}${behind === '' ? '' : `${behind}\r${upToCursor}`}`, column: textWidth(upToCursor) };
}

/** The longest form that is narrower than this; the shortest where none is. */
export function promptWithin(prompt: LinePrompt, width: number): string {
  const forms = typeof prompt === 'string' ? [prompt] : prompt;
  return forms.find((form) => textWidth(form) < width) ?? forms.at(-1) ?? '';
}

/** How many rows lines take that were drawn when the window may have been wider: terminals break them anew. */
export function rowsOf(lines: readonly string[], width: number): number {
  return lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(textWidth(stripVTControlCharacters(line)) / width)), 0);
}
