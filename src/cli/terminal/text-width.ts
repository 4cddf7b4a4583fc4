/** How many columns a text takes on a terminal, and how to make it fit. Input is already safe and without colours. */

import { stripVTControlCharacters } from 'node:util';
import { graphemesOf } from '../../agents/text/cut-text.ts';

const PLAIN = /^[\u0020-\u007e]*$/;
const WIDE =
  /(?!\p{Regional_Indicator})(?:[\u1100-\u115f\u2329\u232a\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}|[\u{16fe0}-\u{18dff}\u{1aff0}-\u{1b2ff}\u{1f200}-\u{1f265}\u{20000}-\u{3fffd}])/u;
/** Joiners, marks above and below, and the parts of a Korean syllable that stand within its first one. */
const ZERO = /\p{Mn}|\p{Me}|\u200c|\u200d|[\u1160-\u11ff]|[\ud7b0-\ud7ff]/u;
/** Drawn as a picture whatever its first sign is alone: one that is asked to be, half a flag. */
const PICTURE = /\ufe0f|\p{Regional_Indicator}/u;

export function textWidth(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemesOf(text)) width += segmentWidth(segment);
  return width;
}

/** At most `width` columns, with an ellipsis where something was cut. */
export function cutToWidth(text: string, width: number): string {
  if (width <= 0) return '';
  if (textWidth(text) <= width) return text;
  let kept = '';
  let used = 0;
  for (const { segment } of graphemesOf(text)) {
    const more = segmentWidth(segment);
    if (used + more > width - 1) break;
    kept += segment;
    used += more;
  }
  return `${kept}…`;
}

export function padToWidth(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - textWidth(text)));
}

/** Text behind a head: where a line has no room, the rest of it is indented. Without a width nothing is broken. */
export function proseLines(
  text: string,
  width: number | undefined,
  { head = '', indent = 2 }: { readonly head?: string; readonly indent?: number },
): readonly string[] {
  return text.split('\n').flatMap((line, index) => {
    const before = index === 0 ? head : '';
    const taken = textWidth(stripVTControlCharacters(before));
    if (width === undefined || taken + textWidth(line) <= width) return [`${before}${line}`];
    const [first = ''] = wrapToWidth(line, Math.max(10, width - taken));
    const rest = wrapToWidth(line.slice(first.length).trimStart(), Math.max(10, width - indent));
    return [`${before}${first}`, ...rest.map((part) => `${' '.repeat(indent)}${part}`)];
  });
}

/** Lines of at most `width` columns, broken between words where that is possible. */
export function wrapToWidth(text: string, width: number): readonly string[] {
  const room = Math.max(1, width);
  return text.split('\n').flatMap((line) => wrapLine(line, room));
}

/** One line as lines of at most `width` columns, broken wherever one is full: nothing is left out, spaces included. */
export function hardWrap(line: string, width: number): readonly string[] {
  const room = Math.max(2, width);
  const lines: string[] = [];
  let current = '';
  let used = 0;
  for (const { segment } of graphemesOf(line)) {
    const more = segmentWidth(segment);
    if (used + more > room && used > 0) {
      lines.push(current);
      current = '';
      used = 0;
    }
    current += segment;
    used += more;
  }
  return [...lines, current];
}

function wrapLine(line: string, width: number): readonly string[] {
  if (textWidth(line) <= width) return [line];
  const lines: string[] = [];
  let current = '';
  let used = 0;
  for (const word of line.split(/(?<= )/)) {
    const size = textWidth(word);
    if (used + textWidth(word.trimEnd()) > width && used > 0) {
      lines.push(current.trimEnd());
      current = '';
      used = 0;
    }
    if (size <= width) {
      current += word;
      used += size;
      continue;
    }
    const pieces = splitToWidth(word, width);
    lines.push(...pieces.slice(0, -1));
    current = pieces.at(-1) ?? '';
    used = textWidth(current);
  }
  lines.push(current.trimEnd());
  return lines;
}

/** Pieces of at most `width` columns, wherever that cuts. */
export function splitToWidth(text: string, width: number): readonly string[] {
  const pieces: string[] = [];
  let current = '';
  let used = 0;
  for (const { segment } of graphemesOf(text)) {
    const more = segmentWidth(segment);
    if (used + more > width && used > 0) {
      pieces.push(current);
      current = '';
      used = 0;
    }
    current += segment;
    used += more;
  }
  return [...pieces, current];
}

/** What is typed, as much of it around the cursor as there is room for. */
export interface AroundCursor {
  readonly before: string;
  readonly behind: string;
}

/** Far more than a sign takes that people type: what stands further away need not be looked at with every key. */
const UNITS_EACH = 32;

/** Of one line at most `width` columns: before the cursor at most `most` of them, behind it what is left. */
export function aroundCursor({ before, behind }: AroundCursor, width: number, most = width): AroundCursor {
  const near = before.length > width * UNITS_EACH ? before.slice(-width * UNITS_EACH).toWellFormed() : before;
  let from = near.length;
  let used = 0;
  for (const { segment, index } of [...graphemesOf(near)].toReversed()) {
    if (used + segmentWidth(segment) > most) break;
    used += segmentWidth(segment);
    from = index;
  }
  let to = 0;
  for (const { segment, index } of graphemesOf(behind)) {
    used += segmentWidth(segment);
    if (used > width) break;
    to = index + segment.length;
  }
  return { before: near.slice(from), behind: behind.slice(0, to) };
}

/**
 * Terminals do not agree on what is made of several signs, a family say: some draw one, some all of them beside each other. The
 * most that one takes is counted: a row with room left looks well, one that is too long tears what is drawn in place.
 */
function segmentWidth(segment: string): number {
  let width = 0;
  for (const sign of segment) width += ZERO.test(sign) ? 0 : WIDE.test(sign) ? 2 : 1;
  return PICTURE.test(segment) ? Math.max(2, width) : width;
}
