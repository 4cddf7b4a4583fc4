/** What was done to a test that was there before: nothing old may be changed, and what is added has to be harmless. */
import { lineEdits } from '../../tools/files/line-diff.ts';
import { bareLine, exportedNames, harmfulLine, type ImportLine, importLine } from './harmless-lines.ts';

interface Line {
  text: string;
  readonly bare: string;
  added: boolean;
}

/** Why the test may prove less than before, if it may. */
export function oldTestDoubt(path: string, before: string, after: string): string | undefined {
  const left = linesOf(before);
  const lines: Line[] = [];
  const removed: string[] = [];
  const right = linesOf(after);
  let at = 0;
  for (const { kind } of lineEdits(left.map(bareLine), right.map(bareLine))) {
    if (kind !== '+') at += 1;
    if (kind === '-') removed.push(left[at - 1] ?? '');
    else {
      const text = right[lines.length] ?? '';
      lines.push({ text, bare: bareLine(text), added: kind === '+' });
    }
  }
  const widened = widenedImports(removed, lines);
  const gone = removed.find((line) => !widened.has(line) && counts(line));
  if (gone !== undefined) return `a line that was in it is gone or changed: ${gone.trim().slice(0, 80)}`;
  const harmful = harmfulRun(path, lines);
  return harmful === undefined
    ? undefined
    : `a line was added that may change what the old ones show (${harmful.trim().slice(0, 80)}): a person has to look at it`;
}

/** Blank lines mean nothing, and an import over several lines is one. */
function linesOf(text: string): readonly string[] {
  return text
    .replaceAll(/^(?:import|const|let|var)\b[^'"\n;{}()]*\{[^{}'"`();]*\}\s*(?:from|= require\()[^\n]*$/gm, (one) =>
      one.replaceAll(/\s+/g, ' '),
    )
    .replaceAll(/^from [\w.]+ import \(([^()]*)\)$/gm, (one) =>
      one.replaceAll(/[()]/g, '').replaceAll(/\s+/g, ' ').replace(/, ?$/, ''),
    )
    .split('\n')
    .filter((line) => line.trim() !== '');
}

/** Comments and lone brackets may go; the end of a comment may not. */
const counts = (line: string): boolean =>
  line.includes('*/') || (!/^\s*(?:\/\/|#(?!\[)|\*|\/\*)/.test(line) && !/^[)\]};,({[\s]+$/.test(line));

/** Imports that came back with more names; the lines that replace them are no longer looked at. */
function widenedImports(removed: readonly string[], lines: readonly Line[]): ReadonlySet<string> {
  const widened = new Set<string>();
  for (const text of removed) {
    const [old, exported] = [importLine(text), exportedNames(text)];
    const wider =
      lines.find((line) => line.added && old !== undefined && isWider(importLine(line.text), old, lines)) ??
      lines.find((line) => line.added && exported !== undefined && exportsMore(exportedNames(line.text), exported));
    if (wider === undefined) continue;
    wider.added = false;
    // A new name that is exported is used by nothing else.
    if (exported !== undefined) wider.text = text;
    widened.add(text);
  }
  return widened;
}

/** What is exported under the old names is what the old lines, which are looked at too, say. */
const exportsMore = (wide: readonly string[] | undefined, old: readonly string[]): boolean =>
  wide !== undefined && new Set(wide).size === wide.length && old.every((name) => wide.includes(name));

function isWider(wide: ImportLine | undefined, old: ImportLine, lines: readonly Line[]): boolean {
  if (wide === undefined || wide.module !== old.module || !old.names.every((name) => wide.names.includes(name))) return false;
  const rest = lines.filter(({ added }) => !added).map(({ bare }) => bare);
  const fresh = wide.names.filter((name) => !old.names.includes(name)).map((name) => /([\w$]+)$/.exec(name)?.[1] ?? name);
  return !fresh.some((name) => rest.some((line) => line.split(/[^\w$]+/).includes(name)));
}

function harmfulRun(path: string, lines: readonly Line[]): string | undefined {
  const rest = lines.flatMap(({ added, text }) => (added ? [] : [text])).join('\n');
  const added = lines.flatMap((line) => (line.added ? [line.text] : [])).join('\n');
  for (let start = 0; start < lines.length; start += 1) {
    if (lines[start]?.added !== true) continue;
    let end = start;
    while (lines[end + 1]?.added === true) end += 1;
    const problems = slides(lines, start, end).map((run) =>
      harmfulLine(
        run.map(({ text }) => text),
        { path, rest, added },
      ),
    );
    if (!problems.includes(undefined)) return problems[0];
    start = end;
  }
  return undefined;
}

/** The same addition as it can be read otherwise: one that begins with the line that follows it may begin one line later. */
function slides(lines: readonly Line[], start: number, end: number): readonly (readonly Line[])[] {
  const found = [lines.slice(start, end + 1)];
  for (let by = 1; lines[end + by]?.added === false && lines[end + by]?.bare === lines[start + by - 1]?.bare; by += 1)
    found.push(lines.slice(start + by, end + by + 1));
  for (let by = 1; lines[start - by]?.added === false && lines[start - by]?.bare === lines[end - by + 1]?.bare; by += 1)
    found.push(lines.slice(start - by, end - by + 1));
  return found;
}
