/** The lines of a text, and which of them are code. A fence that is never closed is taken for an ordinary line. */

export interface Line {
  readonly text: string;
  /** In a code block, or the fence around it. */
  readonly fenced: boolean;
  /** Lines of one code block, or of the text around them, have the same number. */
  readonly block: number;
}

const FENCE = /^[ \t]*(`{3,}|~{3,})(.*)$/;

export function linesOf(text: string): Line[] {
  const lines = text.split(/\r\n|\n|\r/);
  const closes = closingLines(lines);
  const found: Line[] = [];
  let blocks = 0;
  for (let index = 0; index < lines.length; index += 1) {
    const end = closes.get(index);
    if (end === undefined) {
      found.push({ text: lines[index] ?? '', fenced: false, block: 0 });
      continue;
    }
    blocks += 1;
    for (; index <= end; index += 1) {
      const inside = index !== end && !closes.has(index);
      found.push({ text: lines[index] ?? '', fenced: true, block: inside ? blocks : -blocks });
    }
    index -= 1;
  }
  return found;
}

/** For each line that opens a code block, the line that closes it. */
function closingLines(lines: readonly string[]): Map<number, number> {
  const closes = new Map<number, number>();
  let open: { readonly at: number; readonly mark: string } | undefined;
  for (const [index, line] of lines.entries()) {
    const [, mark = '', info = ''] = FENCE.exec(line) ?? [];
    if (mark === '') continue;
    if (open === undefined) open = { at: index, mark };
    else if (mark.startsWith(open.mark) && info.trim() === '') {
      closes.set(open.at, index);
      open = undefined;
    }
  }
  return closes;
}
