/** What a terminal shows: as much of one as the command line and readline make use of. */

const ESCAPE = '\u001b';
const PIECE = new RegExp(`${ESCAPE}\\[(\\??)([\\d;]*)([A-Za-z])|${ESCAPE}[^[]|[\\s\\S]`, 'gu');

export interface TerminalScreen {
  write(text: string): void;
  /** Everything from the first line that was ever printed, as it stands now; what scrolled away included. */
  lines(): readonly string[];
}

export function createTerminalScreen(columns: number, rows: number): TerminalScreen {
  const lines: string[][] = [[]];
  let row = 0;
  let column = 0;
  const lineAt = (at: number): string[] => {
    while (lines.length <= at) lines.push([]);
    return lines[at] ?? [];
  };
  const top = (): number => Math.max(0, lines.length - rows);
  const put = (sign: string): void => {
    if (column >= columns) {
      row += 1;
      column = 0;
    }
    const line = lineAt(row);
    while (line.length < column) line.push(' ');
    line[column] = sign;
    column += 1;
  };
  const control = (letter: string, given: string): void => {
    const count = Math.max(1, Number(given.split(';')[0]) || 1);
    if (letter === 'A') row = Math.max(top(), row - count);
    else if (letter === 'B') row = Math.min(lines.length - 1, row + count);
    else if (letter === 'C') column = Math.min(columns - 1, column + count);
    else if (letter === 'D') column = Math.max(0, column - count);
    else if (letter === 'G') column = count - 1;
    else if (letter === 'K') lineAt(row).length = Math.min(lineAt(row).length, column);
    else if (letter === 'J') {
      lineAt(row).length = Math.min(lineAt(row).length, column);
      lines.length = row + 1;
    }
  };
  return {
    write(text) {
      for (const [piece, mark, given = '', letter] of text.matchAll(PIECE)) {
        if (letter !== undefined) {
          if (mark === '') control(letter, given);
        } else if (piece === '\n') {
          row += 1;
          lineAt(row);
        } else if (piece === '\r') column = 0;
        else if (piece === '\b') column = Math.max(0, column - 1);
        else if (piece >= ' ') put(piece);
      }
    },
    lines: () => lines.map((line) => line.join('').trimEnd()),
  };
}
