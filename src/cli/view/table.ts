/** Columns under a heading, as wide as they need to be, the last one cut to fit. */
import type { Screen } from '../terminal/terminal.ts';
import { cutToWidth, padToWidth, textWidth } from '../terminal/text-width.ts';

const GAP = 2;

export function printTable(screen: Screen, heading: readonly string[], rows: readonly (readonly string[])[]): void {
  for (const [index, line] of tableLines(heading, rows, screen.isTty ? screen.width() : undefined).entries()) {
    screen.line(index === 0 ? screen.paint.dim(line) : line);
  }
}

/** Cells are already safe. Without a width nothing is cut: the reader is a program. */
export function tableLines(heading: readonly string[], rows: readonly (readonly string[])[], width?: number): readonly string[] {
  const widths = heading.map((title, column) => {
    return rows.reduce((widest, row) => Math.max(widest, textWidth(row[column] ?? '')), textWidth(title));
  });
  return [heading, ...rows].map((row) => {
    const line = row
      .map((cell, column) => padToWidth(cell, (widths[column] ?? 0) + GAP))
      .join('')
      .trimEnd();
    return width === undefined ? line : cutToWidth(line, width);
  });
}
