/**
 * A text as a caller is shown it, and the way back. Where a secret stands, the caller sees a mark; in what it writes, a mark is
 * the secret again, exactly as the file has it, if it is certain which one is meant. Nobody means the mark itself.
 */
import { fail, ok, type Result } from '../../base/result.ts';
import { marksIn } from '../../base/secrets/mark.ts';
import { type Hidden, withMarks } from '../../base/secrets/redact.ts';
import { decodeUtf8, type FileContent, looksBinary, numberedLines } from './file-content.ts';

/** Finds the secrets of a text. */
export interface FindsSecrets {
  hidden(text: string): readonly Hidden[];
}

/** A mark in a shown text. One that stands in the text itself is shown as what it is. */
interface ShownMark {
  readonly at: number;
  readonly mark: string;
  readonly value: string;
}

export interface ShownText {
  readonly text: string;
  readonly marks: readonly ShownMark[];
  /** What was hidden, as it stood in the text as it is. */
  readonly hidden: readonly Hidden[];
}

export function shownText(text: string, secrets: FindsSecrets | undefined): ShownText {
  const hidden = secrets?.hidden(text) ?? [];
  const shown = withMarks(text, hidden);
  const marks: ShownMark[] = [];
  let shift = 0;
  for (const { from, to, mark } of hidden) {
    marks.push({ at: from + shift, mark, value: text.slice(from, to) });
    shift += mark.length - (to - from);
  }
  const starts = new Set(marks.map(({ at }) => at));
  for (const { at, mark } of marksIn(shown)) if (!starts.has(at)) marks.push({ at, mark, value: mark });
  return { text: shown, marks: marks.sort((left, right) => left.at - right.at), hidden };
}

/** Where a place of the shown text lies in the text as it is; `undefined` within a mark. */
export function placeIn({ hidden }: ShownText, at: number): number | undefined {
  let shift = 0;
  for (const { from, to, mark } of hidden) {
    if (at <= from + shift) break;
    if (at < from + shift + mark.length) return undefined;
    shift += mark.length - (to - from);
  }
  return at - shift;
}

/** Every line has its number, also behind a secret over several: each of its lines is the mark. */
export function shownByLine(text: string, secrets: FindsSecrets | undefined): string {
  const hidden = secrets?.hidden(text) ?? [];
  const lined = hidden.map(({ from, to, mark }) => {
    const ends = text.slice(from, to).match(/\r?\n/g) ?? [];
    return { from, to, mark: mark + ends.map((end) => end + mark).join('') };
  });
  return withMarks(text, lined);
}

export interface ShownLine {
  readonly number: number;
  /** The last line that it stands for: further on where a secret over several ends. */
  readonly to: number;
  readonly line: string;
}

/** The lines as they are shown, by the numbers that they have in the file: a secret over several is one mark. */
export function linesShown(text: string, secrets: FindsSecrets | undefined): readonly ShownLine[] {
  const shown = shownText(text, secrets);
  const lines: ShownLine[] = [];
  let [number, at, next] = [1, 0, 0];
  for (const line of numberedLines(shown.text)) {
    at = shown.text.indexOf('\n', at) + 1 || shown.text.length + 1;
    let to = number;
    for (; (shown.marks[next]?.at ?? at) < at; next += 1) to += (shown.marks[next]?.value.match(/\n/g) ?? []).length;
    lines.push({ number, to, line });
    number = to + 1;
  }
  return lines;
}

/** How much before or behind a mark is looked at to tell which one it is. */
const LINES_AROUND = 5;
const CHARACTERS_AROUND = 1_000;

/** The text with secrets in the place of their marks. The first of `among` that knows which secret is meant says so. */
export function putBack(text: string, among: readonly ShownText[]): Result<string, string> {
  const marks = marksIn(text);
  const values = new Map<number, string>();
  for (const mark of new Set(marks.map((one) => one.mark))) {
    const places = marks.filter((one) => one.mark === mark).map(({ at }) => at);
    for (const shown of among)
      for (const [at, value] of meant(text, mark, places, shown)) if (!values.has(at)) values.set(at, value);
  }
  let [whole, last] = ['', 0];
  for (const { at, mark } of marks) {
    const value = values.get(at);
    if (value === undefined) return fail(notCertain(mark, text, at, among));
    whole += text.slice(last, at) + value;
    last = at + mark.length;
  }
  return ok(whole + text.slice(last));
}

function notCertain(mark: string, text: string, at: number, among: readonly ShownText[]): string {
  const line = text.slice(0, at).split('\n').length;
  const here = `line ${line} of what you give has ${mark} in it, `;
  const leave = 'Nothing was changed. Change only what is around it, with `edit`, and leave the mark out.';
  return among.some(({ marks }) => marks.some((one) => one.mark === mark))
    ? `${here}which stands for several secrets in this file, and it is not certain which one is meant there. ${leave}`
    : `${here}which stands for a secret that this file does not have; the mark itself is meant by nobody. ${leave}`;
}

/** Which secrets they are, as far as it is certain: the only one of its mark, or the one with the same before it or behind it. */
function meant(text: string, mark: string, places: readonly number[], shown: ShownText): ReadonlyMap<number, string> {
  const same = shown.marks.filter((one) => one.mark === mark);
  const [first] = same;
  if (first === undefined) return new Map();
  if (same.every(({ value }) => value === first.value)) return new Map(places.map((at) => [at, first.value]));
  const found = new Map<number, string>();
  for (const around of [before, behind]) {
    const lineThere = Map.groupBy(same, ({ at }) => around(shown.text, at, 0));
    const lineHere = Map.groupBy(places, (at) => around(text, at, 0));
    for (let lines = 0; lines <= LINES_AROUND; lines += 1) {
      const there = Map.groupBy(same, ({ at }) => around(shown.text, at, lines));
      for (const [context, [at, ...more]] of Map.groupBy(places, (place) => around(text, place, lines))) {
        const [only, ...others] = there.get(context) ?? [];
        if (at === undefined || more.length > 0 || only === undefined || others.length > 0 || found.has(at)) continue;
        // Of lines that are alike, nobody knows which one is gone.
        const line = around(text, at, 0);
        if (lineThere.get(line)?.length === lineHere.get(line)?.length) found.set(at, only.value);
      }
    }
  }
  return found;
}

/** The line up to a mark, with so many lines before it. */
function before(text: string, at: number, lines: number): string {
  const start = Math.max(0, at - CHARACTERS_AROUND);
  const whole = text.slice(start, at).split('\n');
  return whole
    .slice(-1 - lines)
    .join('\n')
    .replaceAll('\r\n', '\n');
}

function behind(text: string, at: number, lines: number): string {
  const whole = text.slice(at, at + CHARACTERS_AROUND).split('\n');
  return whole
    .slice(0, 1 + lines)
    .join('\n')
    .replaceAll('\r\n', '\n');
}

/**
 * What to tell a caller whose change would show what was hidden: the text around a secret may be what it is known by. Nothing of
 * the secret is in it.
 */
export function uncovers(before: FileContent | undefined, after: string, secrets: FindsSecrets | undefined): string | undefined {
  if (before === undefined || secrets === undefined) return undefined;
  const text = looksBinary(before.bytes) ? undefined : decodeUtf8(before.bytes);
  if (text === undefined) return undefined;
  const was = shownText(text, secrets);
  if (was.hidden.length === 0) return undefined;
  const is = shownText(after, secrets);
  for (const { mark, value } of was.marks) {
    if (value === mark || was.text.includes(value) || !is.text.includes(value)) continue;
    const leave = 'Nothing was changed. Leave what is right before and behind the mark as it is.';
    return `this would show the secret behind ${mark}, which is known by what stands around it. ${leave}`;
  }
  return undefined;
}
