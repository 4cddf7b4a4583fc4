/**
 * Puts new text into a markdown file that people and other tools also write. Sections of the same heading are updated, new ones
 * are added, and every other section stays as it is, byte by byte.
 */
import { type MarkdownLine, markdownLines, markdownSections, plainWords, type Section } from '../text/markdown-sections.ts';
import { plainText } from './charter.ts';

export interface MergeOptions {
  /** How deep headings divide the file. */
  readonly deepest: number;
  /** Where sections go that were not there. */
  readonly added: 'top' | 'end';
  /** Whether text in front of the first section takes the place of what is there, or is added to it. */
  readonly opening: 'replace' | 'add';
}

const MARK = '\ufeff';

export const lineEnd = (text: string): string => (/\r\n/.test(text) ? '\r\n' : '\n');

export const withLineEnd = (text: string, end: string): string => text.replaceAll(/\r?\n/g, end);

export function mergeSections(existing: string, wanted: string, options: MergeOptions): string {
  if (plainText(existing) === plainText(wanted)) return existing;
  if (existing.startsWith(MARK)) return `${MARK}${mergeSections(existing.slice(1), wanted, options)}`;
  const end = lineEnd(existing);
  const had = split(existing, options.deepest);
  const want = split(plainText(wanted), options.deepest);
  const titles = new Map(numbered(had.sections).map(([key], index) => [key, index]));
  const sections = had.sections.map(({ raw }) => raw);
  const added: string[] = [];
  for (const [key, section] of numbered(want.sections)) {
    const at = titles.get(key);
    const old = at === undefined ? undefined : sections[at];
    if (at === undefined || old === undefined) {
      // A title that stands elsewhere is not a new section.
      if (!plainText(existing).includes(plainText(section.raw))) added.push(withLineEnd(section.raw.trim(), end));
    } else if (plainText(old) !== plainText(section.raw)) sections[at] = inPlaceOf(old, section.raw, end);
  }
  const opening = openingOf(had.opening, want.opening, options, end);
  if (options.opening === 'add' && opening.extra !== '') added.unshift(opening.extra);
  const whole = [opening.text, ...sections];
  if (added.length === 0) return whole.join('');
  const front =
    options.added === 'top'
      ? Math.max(1, had.sections.findIndex(({ level }) => level === deepestLevel(had.sections)) + 1)
      : whole.length;
  const before = spaced(whole.slice(0, front).join(''), end);
  const after = whole.slice(front).join('');
  return `${before}${added.join(end + end)}${end}${after === '' ? '' : end}${after}`;
}

interface Divided {
  /** The title of the file and what stands in front of the first section. */
  readonly opening: string;
  readonly sections: readonly Section[];
}

function split(text: string, deepest: number): Divided {
  const all = markdownSections(text, deepest);
  const first = all.findIndex(({ level }) => level > 1);
  const count = first === -1 ? all.length : first;
  return {
    opening: all
      .slice(0, count)
      .map(({ raw }) => raw)
      .join(''),
    sections: all.slice(count),
  };
}

const deepestLevel = (sections: readonly Section[]): number => Math.max(0, ...sections.map(({ level }) => level));

/** Two sections of the same heading are told apart by their order. */
function numbered(sections: readonly Section[]): readonly (readonly [string, Section])[] {
  const seen = new Map<string, number>();
  return sections.map((section) => {
    const title = `${section.level} ${plainWords(section.title).toLowerCase()}`;
    const count = (seen.get(title) ?? 0) + 1;
    seen.set(title, count);
    return [`${title} ${count}`, section] as const;
  });
}

/** Blank lines after it belong to the file, not to the section. */
function inPlaceOf(old: string, fresh: string, end: string): string {
  const space = /\s*$/.exec(old)?.[0] ?? '';
  return `${withLineEnd(fresh.trim(), end)}${space === '' ? end : space}`;
}

interface Opening {
  readonly text: string;
  /** What is to be added elsewhere. */
  readonly extra: string;
}

function openingOf(old: string, fresh: string, options: MergeOptions, end: string): Opening {
  const body = plainText(bodyOf(fresh));
  const isNewTitle = options.opening === 'replace' && isTitled(fresh) && titleLine(fresh).trim() !== titleLine(old).trim();
  if (!isNewTitle && (body === '' || body === plainText(bodyOf(old)))) return { text: old, extra: '' };
  if (options.opening === 'add') return { text: old, extra: plainText(old).includes(body) ? '' : withLineEnd(body, end) };
  if (old.trim() === '') return { text: `${withLineEnd(fresh.trim(), end)}${end}${end}`, extra: '' };
  const title = isTitled(fresh) ? '' : titleLine(old).trimEnd();
  return { text: inPlaceOf(old, title === '' ? fresh : `${title}\n\n${fresh.trim()}`, end), extra: '' };
}

const isTitle = (line: MarkdownLine): boolean => line.live && /^ {0,3}#[ \t]/.test(line.text);
const isTitled = (text: string): boolean => markdownLines(text).some(isTitle);
const titleLine = (text: string): string => markdownLines(text).find(isTitle)?.raw ?? '';
const bodyOf = (text: string): string =>
  markdownLines(text)
    .filter((line) => !isTitle(line))
    .map(({ raw }) => raw)
    .join('');

function spaced(text: string, end: string): string {
  if (text.trim() === '') return text;
  if (/\n[ \t]*\r?\n$/.test(text)) return text;
  return text.endsWith('\n') ? `${text}${end}` : `${text}${end}${end}`;
}
