/** The inbox as a numbered list, of which a person at a terminal picks what to answer first. */
import { shortId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { counted } from '../../base/wording.ts';
import type { OpenWait } from '../../engine/port.ts';
import type { InboxItem } from '../../front/inbox.ts';
import { readableDuration } from '../../projections/readable.ts';
import { safeLine } from '../terminal/safe-text.ts';
import { cutToWidth } from '../terminal/text-width.ts';
import { askerOf } from '../view/run-summary.ts';
import type { LinePrompt } from '../view/run-view.ts';
import type { Desk } from './desk.ts';

export const headLine = ({ wait, path, ageMs }: InboxItem): string =>
  `${readableDuration(ageMs)} ago · ${[...path.slice(0, -1).map(safeLine), askerOf(wait)].join(' › ')} · ${shortId(wait.run)}`;

const MARK = '  | ';

/** What is asked, as far as one line has room for it. */
export function firstWords(wait: OpenWait): string {
  if (wait.kind === 'question') return safeLine(wait.question);
  const marked = wait.request.split('\n').find((line) => line.startsWith(MARK));
  return `${safeLine(wait.tool)}: ${safeLine(marked?.slice(MARK.length) ?? '')}`;
}

function listLines(items: readonly InboxItem[], width: number): readonly string[] {
  const digits = String(Math.min(items.length, limits.inboxListed)).length;
  const blank = ' '.repeat(digits + 2);
  const lines = items
    .slice(0, limits.inboxListed)
    .flatMap((item, index) => [
      cutToWidth(`${String(index + 1).padStart(digits)}  ${headLine(item)}`, width),
      cutToWidth(`${blank}${firstWords(item.wait)}`, width),
    ]);
  const more = items.length - limits.inboxListed;
  return more > 0 ? [...lines, `and ${counted(more, 'younger one')} (inboxListed)`] : lines;
}

/** `all`: one after the other. `undefined` when they would rather not. */
export type Picked = InboxItem | 'all' | undefined;

export async function pick(desk: Desk, items: readonly InboxItem[], width: () => number): Promise<Picked> {
  const about = (): readonly string[] => listLines(items, width());
  const prompt: LinePrompt = [
    '  which first? a number, or Enter for one after the other, oldest first: ',
    '  which first? a number, or Enter for all: ',
    '  number, or Enter: ',
  ];
  desk.put('', ...about());
  for (;;) {
    const typed = await desk.ask(prompt, { about });
    if (typed === undefined) return undefined;
    if (typed.trim() === '') return 'all';
    const chosen = /^\s*\d+\s*$/.test(typed) ? items.slice(0, limits.inboxListed)[Number(typed) - 1] : undefined;
    if (chosen !== undefined) return chosen;
    desk.put('  that is none of the numbers', '', ...about());
  }
}
