/** A message drawn in place while it is typed, with hints below it, and the cursor where it belongs. */
import type { Screen } from '../terminal/terminal.ts';
import { cutToWidth } from '../terminal/text-width.ts';
import { type ChatDraft, draftAt } from './draft.ts';
import { type DraftLayout, draftLayout, draftRows } from './layout.ts';

export interface DrawnLine {
  draw(draft: ChatDraft, hints: readonly string[]): void;
  /** The terminal has broken the rows anew. */
  resized(): void;
  /** The next picture begins wherever the cursor stands then. */
  forget(): void;
  /** Stays as it was said. */
  commit(draft: ChatDraft): void;
  erase(): void;
}

interface Drawn extends Pick<DraftLayout, 'widths' | 'row' | 'column'> {
  /** Rows below the one with the cursor. */
  readonly below: number;
}

/** Of the screen, for what is being typed. */
const SHARE = 0.5;

export function createDrawnLine(screen: Screen): DrawnLine {
  let drawn: Drawn | undefined;
  const backToStart = (): string => {
    const up = drawn?.row ?? 0;
    return `${up === 0 ? '' : `\u001b[${up}A`}\r\u001b[J`;
  };
  return {
    draw(draft, hints) {
      const layout = draftLayout(draft, screen.width(), Math.floor(screen.height() * SHARE));
      const shown = hints.map((hint) => screen.paint.dim(cutToWidth(hint, screen.width() - 1)));
      const below = layout.rows.length - 1 - layout.row + shown.length;
      const cursor = `${below === 0 ? '' : `\u001b[${below}A`}\r\u001b[${layout.column}C`;
      screen.write(`${backToStart()}${[...layout.rows, ...shown].join('\n')}${cursor}`);
      drawn = { widths: layout.widths, row: layout.row, column: layout.column, below };
    },
    resized() {
      if (drawn === undefined) return;
      // The cursor is as many rows further down as those above it take now.
      const width = screen.width();
      const above = drawn.widths.slice(0, drawn.row).reduce((sum, one) => sum + Math.max(1, Math.ceil(one / width)), 0);
      drawn = { ...drawn, row: above + (screen.breaksCursorLine ? Math.floor(drawn.column / width) : 0) };
    },
    forget: () => {
      drawn = undefined;
    },
    commit(draft) {
      const rows = draftRows(draftAt(draft, draft.cells.length), screen.width());
      screen.write(`${backToStart()}${rows.join('\n')}\n`);
      drawn = undefined;
    },
    erase() {
      screen.write(backToStart());
      drawn = undefined;
    },
  };
}
