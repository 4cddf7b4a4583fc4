/** Where each cell of a message stands on the screen: rows that never fill the last column, and the place of the cursor. */
import { splitToWidth, textWidth } from '../terminal/text-width.ts';
import type { ChatDraft } from './draft.ts';

export const CHAT_PROMPT = '› ';
const INDENT = '  ';
const PROMPT_WIDTH = 2;

export interface DraftLayout {
  readonly rows: readonly string[];
  /** The columns that each row takes. */
  readonly widths: readonly number[];
  readonly row: number;
  readonly column: number;
}

interface Place {
  readonly row: number;
  readonly column: number;
}

interface Placed {
  readonly rows: readonly string[];
  readonly widths: readonly number[];
  /** Where each cell stands, and behind the last one where the next would. */
  readonly places: readonly Place[];
}

function placed({ cells }: ChatDraft, width: number): Placed {
  // A row that is full to its last column leaves the cursor in a place that terminals do not agree on.
  const room = Math.max(PROMPT_WIDTH + 2, width - 1);
  const rows: string[] = [CHAT_PROMPT];
  const widths: number[] = [PROMPT_WIDTH];
  const places: Place[] = [];
  const begin = (): void => {
    rows.push(INDENT);
    widths.push(PROMPT_WIDTH);
  };
  for (const cell of cells) {
    const last = rows.length - 1;
    if (cell.text === '\n') {
      places.push({ row: last, column: widths[last] ?? 0 });
      begin();
      continue;
    }
    // Of a paste that is wider than the screen the beginning is enough.
    const fits = (widths[last] ?? 0) + cell.width <= room;
    if (!fits && (widths[last] ?? 0) > PROMPT_WIDTH) begin();
    const row = rows.length - 1;
    const column = widths[row] ?? 0;
    const shown = cell.width > room - PROMPT_WIDTH ? (splitToWidth(cell.shown, room - PROMPT_WIDTH)[0] ?? '') : cell.shown;
    places.push({ row, column });
    rows[row] += shown;
    widths[row] = column + textWidth(shown);
  }
  const row = rows.length - 1;
  if ((widths[row] ?? 0) >= room) begin();
  places.push({ row: rows.length - 1, column: widths[rows.length - 1] ?? 0 });
  return { rows, widths, places };
}

/** At most `height` rows, those around the cursor. */
export function draftLayout(draft: ChatDraft, width: number, height: number): DraftLayout {
  const { rows, widths, places } = placed(draft, width);
  const { row, column } = places[draft.cursor] ?? { row: 0, column: PROMPT_WIDTH };
  const room = Math.max(1, height);
  const from = Math.max(0, Math.min(row - Math.floor(room / 2), rows.length - room));
  return { rows: rows.slice(from, from + room), widths: widths.slice(from, from + room), row: row - from, column };
}

/** All of it, as it stays on the screen once it is said. */
export function draftRows(draft: ChatDraft, width: number): readonly string[] {
  return placed(draft, width).rows;
}

/** The cursor a row above or below; `undefined` when there is none. */
export function movedByRow(draft: ChatDraft, width: number, by: -1 | 1): ChatDraft | undefined {
  const { places, rows } = placed(draft, width);
  const here = places[draft.cursor];
  const row = (here?.row ?? 0) + by;
  if (here === undefined || row < 0 || row >= rows.length) return undefined;
  const there = places.findLastIndex((place) => place.row === row && place.column <= here.column);
  const first = places.findIndex((place) => place.row === row);
  if (first === -1) return undefined;
  return { ...draft, cursor: there === -1 ? first : there };
}
