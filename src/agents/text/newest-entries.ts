/**
 * Fits a file that grows by entries into a prompt: whole entries only, the newest first to be kept, in the order of the file.
 * The newest are told by the dates in headings, else by their numbers, else by the end at which such files grow.
 */
import { cutText } from './cut-text.ts';
import { markdownSections } from './markdown-sections.ts';

/** `undated` says which end matters when nothing in the text does. */
export function newestEntries(text: string, characters: number, undated: 'top' | 'end' = 'end'): string {
  if (text.length <= characters) return text;
  const entries = entriesOf(text);
  const kept = new Set<number>();
  let size = 0;
  for (const index of byNewest(entries, undated)) {
    const length = entries[index]?.length ?? 0;
    if (size + length > characters) break;
    kept.add(index);
    size += length;
  }
  if (kept.size > 0) return entries.filter((_, index) => kept.has(index)).join('');
  const newest = byNewest(entries, undated)[0] ?? 0;
  return cutText(entries[newest] ?? '', characters);
}

/** Joined together, they are the text. */
function entriesOf(text: string): readonly string[] {
  const sections = markdownSections(text, 3).map(({ raw }) => raw);
  return sections.length > 2 ? sections : text.split(/(?<=\n[ \t]*\r?\n)(?=\S)/);
}

function byNewest(entries: readonly string[], undated: 'top' | 'end'): readonly number[] {
  const ages = agesOf(entries);
  const grownAt = grows(ages) ?? undated;
  return [...entries.keys()].sort((left, right) => {
    const [one = '', other = ''] = [ages[left], ages[right]];
    if (one !== other) return one > other ? -1 : 1;
    return grownAt === 'top' ? left - right : right - left;
  });
}

/** A word per entry that is greater for a newer one. An entry without its own goes with the one before it. */
function agesOf(entries: readonly string[]): readonly string[] {
  const titles = entries.map((entry) => entry.split('\n', 1)[0] ?? '');
  const dates = titles.map((title) => /\b\d{4}-\d{2}-\d{2}\b/.exec(title)?.[0]);
  const numbers = titles.map((title) => /^#+\s+#?(\d{1,9})[.):]/.exec(title)?.[1]?.padStart(9, '0'));
  const own = dates.some((date) => date !== undefined) ? dates : numbers;
  let last = own.find((age) => age !== undefined) ?? '';
  return own.map((age) => {
    last = age ?? last;
    return last;
  });
}

/** At which end a file grows, as far as its headings tell. */
export const growsAt = (text: string): 'top' | 'end' | undefined => grows(agesOf(entriesOf(text)));

/** Judged by most of the neighbours: real files are not strictly sorted. */
function grows(ages: readonly string[]): 'top' | 'end' | undefined {
  let down = 0;
  for (const [index, age] of ages.entries()) {
    const next = ages[index + 1];
    if (next !== undefined && next !== age) down += next < age ? 1 : -1;
  }
  return down === 0 ? undefined : down > 0 ? 'top' : 'end';
}
