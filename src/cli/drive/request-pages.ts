/** A request cut into screenfuls, so that whoever approves it has had all of it before their eyes. */
import { safeText } from '../terminal/safe-text.ts';
import { hardWrap, wrapToWidth } from '../terminal/text-width.ts';

const MARK = '  | ';
/** Before the rest of a line that is wider than the screen: it is not taken for a line of its own. */
const MARK_OF_REST = '  ¦ ';
/** Room for the question below and the line above. */
const OTHER_LINES = 3;

export const requestLines = (request: string, width: number): readonly string[] =>
  safeText(request)
    .split('\n')
    .flatMap((line) => linesOf(line, width));

/** Screenfuls of them. */
export function pagesOf(lines: readonly string[], height: number): readonly (readonly string[])[] {
  const room = Math.max(1, height - OTHER_LINES);
  const pages: string[][] = [];
  for (let start = 0; start < lines.length; start += room) pages.push(lines.slice(start, start + room));
  return pages;
}

function linesOf(line: string, width: number): readonly string[] {
  if (!line.startsWith(MARK)) return wrapToWidth(line, width);
  return hardWrap(line.slice(MARK.length), width - MARK.length).map((part, index) => (index === 0 ? MARK : MARK_OF_REST) + part);
}
