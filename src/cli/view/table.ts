/** Columns under a heading, as wide as they need to be; where there is no room, the widest are cut. */
import type { Screen } from '../terminal/terminal.ts';
import { cutToWidth, padToWidth, textWidth } from '../terminal/text-width.ts';

const GAP = 2;

export function printTable(
  screen: Screen,
  heading: readonly string[],
  rows: readonly (readonly string[])[],
  /** Columns that people copy from or look for: they are not cut. */
  whole?: readonly string[],
  /** Columns that are left out, in this order, before one of those is cut. */
  spare?: readonly string[],
): void {
  for (const [index, line] of tableLines(heading, rows, screen.isTty ? screen.width() : undefined, whole, spare).entries()) {
    screen.line(index === 0 ? screen.paint.dim(line) : line);
  }
}

/** Cells are already safe. Without a width nothing is cut: the reader is a program. */
export function tableLines(
  heading: readonly string[],
  rows: readonly (readonly string[])[],
  width?: number,
  whole?: readonly string[],
  spare: readonly string[] = [],
): readonly string[] {
  const widths = heading.map((title, column) => {
    return rows.reduce((widest, row) => Math.max(widest, textWidth(row[column] ?? '')), textWidth(title));
  });
  const fitted = width === undefined ? widths : fittedTo(widths, heading, width, whole);
  const [first, ...others] = spare;
  if (width !== undefined && first !== undefined && totalOf(fitted) > width) {
    const kept = (row: readonly string[]): readonly string[] => row.filter((_cell, column) => heading[column] !== first);
    return tableLines(kept(heading), rows.map(kept), width, whole, others);
  }
  // A terminal too narrow for what is not cut breaks the line.
  const endsWhole = whole?.includes(heading.at(-1) ?? '') === true;
  return [heading, ...rows].map((row) => {
    const line = row
      .map((cell, column) => padToWidth(cutToWidth(cell, fitted[column] ?? 0), (fitted[column] ?? 0) + GAP))
      .join('')
      .trimEnd();
    return width === undefined || endsWhole ? line : cutToWidth(line, width);
  });
}

const totalOf = (widths: readonly number[]): number => widths.reduce((sum, one) => sum + one + GAP, -GAP);

/** Narrower than this a column says nothing any more. */
const COLUMN_MIN = 8;

function fittedTo(
  widths: readonly number[],
  heading: readonly string[],
  width: number,
  whole: readonly string[] = [],
): readonly number[] {
  const fitted = [...widths];
  const least = heading.map((title, column) =>
    whole.includes(title) ? (widths[column] ?? 0) : Math.max(COLUMN_MIN, textWidth(title)),
  );
  const over = (): number => totalOf(fitted) - width;
  while (over() > 0) {
    const spare = fitted.map((one, column) => one - (least[column] ?? 0));
    const widest = spare.indexOf(Math.max(...spare));
    if ((spare[widest] ?? 0) <= 0) return fitted;
    fitted[widest] = (fitted[widest] ?? 0) - 1;
  }
  return fitted;
}
