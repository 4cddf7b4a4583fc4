/**
 * Markdown as lines, sections and tables, close to the letter: every piece keeps its own text, so that a file can be put
 * together again byte by byte around what was changed. Code fences and comments are text, never headings or tables.
 */
export interface MarkdownLine {
  /** With its line ending. */
  readonly raw: string;
  readonly text: string;
  /** Whether the line counts: false inside code and comments. */
  readonly live: boolean;
}

export interface Section {
  /** 0 before the first heading. */
  readonly level: number;
  readonly title: string;
  /** With its heading. */
  readonly raw: string;
}

export interface Table {
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** The lines of the table: `from` is the header, `to` is the line after the last row. */
  readonly from: number;
  readonly to: number;
}

export function markdownLines(text: string): readonly MarkdownLine[] {
  let fence: string | undefined;
  let comment = false;
  return (text.match(/[^\n]*\n|[^\n]+$/g) ?? []).map((raw) => {
    const line = raw.replace(/\r?\n$/, '').replace(/^\ufeff/, '');
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence !== undefined) {
      if (mark?.startsWith(fence) === true && /^\s*[`~]+\s*$/.test(line)) fence = undefined;
      return { raw, text: line, live: false };
    }
    const wasComment = comment || /^\s*<!--/.test(line);
    comment = wasComment && !line.includes('-->');
    if (!wasComment) fence = mark;
    return { raw, text: line, live: !wasComment && mark === undefined };
  });
}

const HEADING = /^ {0,3}(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$/;

/** Cuts in front of every heading down to this level. Joined together, the sections are the text. */
export function markdownSections(text: string, deepest: number): readonly Section[] {
  const sections: { level: number; title: string; raw: string }[] = [];
  for (const line of markdownLines(text)) {
    const heading = line.live ? HEADING.exec(line.text) : null;
    const level = heading?.[1]?.length ?? 0;
    const last = sections.at(-1);
    if (level > 0 && level <= deepest) sections.push({ level, title: heading?.[2] ?? '', raw: line.raw });
    else if (last === undefined) sections.push({ level: 0, title: '', raw: line.raw });
    else last.raw += line.raw;
  }
  return sections;
}

export function markdownTables(lines: readonly MarkdownLine[]): readonly Table[] {
  const tables: Table[] = [];
  for (let index = 0; index + 1 < lines.length; index += 1) {
    const header = cellsOf(lines[index]);
    const rule = cellsOf(lines[index + 1]);
    if (header === undefined || rule === undefined || !rule.every((cell) => /^:?-+:?$/.test(cell))) continue;
    const from = index;
    const rows: (readonly string[])[] = [];
    for (index += 2; index < lines.length; index += 1) {
      const row = cellsOf(lines[index]);
      if (row === undefined) break;
      rows.push(row);
    }
    tables.push({ header, rows, from, to: index });
  }
  return tables;
}

function cellsOf(line: MarkdownLine | undefined): readonly string[] | undefined {
  if (line === undefined || !line.live || !/^\s*\|/.test(line.text)) return undefined;
  const inner = line.text
    .trim()
    .replace(/^\|/, '')
    .replace(/(?<!\\)\|$/, '');
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'));
}

/** A cell that stays one cell, whatever is in it. */
export function tableRow(cells: readonly string[]): string {
  const safe = cells.map((cell) => cell.replaceAll(/\s+/g, ' ').trim().replaceAll('|', '\\|'));
  return `| ${safe.join(' | ')} |`;
}

/** The words of a cell or a bullet without emphasis, code marks and links. */
export function plainWords(text: string): string {
  return text
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/\*\*|`/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
}
