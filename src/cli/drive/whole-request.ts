/**
 * What a person is asked to allow, shown whole before they can: page by page where the screen is smaller than it, and again with
 * every answer that is none.
 */
import type { Answer } from '../../events/catalogue.ts';
import type { Screen } from '../terminal/terminal.ts';
import type { LinePrompt } from '../view/run-view.ts';
import type { Desk } from './desk.ts';
import { pagesOf, requestLines } from './request-pages.ts';

const ATTEMPTS_MAX = 5;

/** What is to be seen before it is answered, and while it is. */
export interface ShownRequest {
  readonly request: string;
  readonly mark: string;
  /** Stands before the request. */
  above(width: number): readonly string[];
  /** Stands between the request and the question. */
  below(width: number): readonly string[];
}

/** All of it, at the width that the screen has now. */
export type ShownLines = () => readonly string[];

export const NOTHING = (): readonly string[] => [];

export function createShown(screen: Screen, { request, mark, above, below }: ShownRequest): ShownLines {
  let made: { readonly width: number; readonly lines: readonly string[] } | undefined;
  return () => {
    const width = screen.width();
    if (made?.width === width) return made.lines;
    // With the place of its mark, which may be in colours.
    const [first = '', ...rest] = requestLines(`? ${request}`, width);
    made = { width, lines: [...above(width), `${mark}${first.slice(1)}`, ...rest, ...below(width)] };
    return made.lines;
  };
}

/** Page by page: whether they have seen it to its end, or what they said before that. */
export async function showWhole(desk: Desk, screen: Screen, shown: ShownLines): Promise<'seen' | Answer | undefined> {
  let size = { width: screen.width(), height: screen.height() };
  let pages = pagesOf(shown(), size.height);
  for (let index = 0; ; index += 1) {
    const page = pages[index] ?? [];
    desk.put(...(index === 0 ? ['', ...page] : page));
    if (index >= pages.length - 1) return 'seen';
    const at = `  page ${index + 1} of ${pages.length}: Enter`;
    const prompt: LinePrompt = [
      `${at} for the next, or no (and why): `,
      `${at}, or no: `,
      `  ${index + 1}/${pages.length}: Enter, no: `,
    ];
    const typed = await desk.ask(prompt, { about: () => page });
    if (typed === undefined) return undefined;
    const answer = parsePermission(typed);
    if (answer?.kind === 'denied') return answer;
    if (screen.width() >= size.width && screen.height() >= size.height) continue;
    // The beginning of the next page would run off the screen before anybody saw it.
    desk.say('  the window is smaller now: from the beginning');
    size = { width: screen.width(), height: screen.height() };
    pages = pagesOf(shown(), size.height);
    index = -1;
  }
}

/** What it is about is shown again with every attempt: it may have gone from the screen meanwhile. */
export async function untilAnswered<Said>(
  desk: Desk,
  prompt: LinePrompt,
  about: () => readonly string[],
  parse: (typed: string) => Said | undefined,
): Promise<Said | undefined> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    if (attempt > 0) desk.put('  that is none of the answers', '', ...about());
    const typed = await desk.ask(prompt, { about });
    if (typed === undefined) return undefined;
    const answer = parse(typed);
    if (answer !== undefined) return answer;
  }
  return undefined;
}

/** Only a clear yes is a yes: "yes, but ask Bob first" is none, and "a lot of files" is not "always". */
export function parsePermission(typed: string): Answer | undefined {
  const [word = '', ...rest] = typed.trim().split(/\s+/);
  const behind = rest.join(' ').toLowerCase();
  // People write "no, because …" and "no: …".
  switch (word.toLowerCase().replace(/[,.:;!]$/, '')) {
    case 'y':
    case 'yes':
      return behind === '' ? { kind: 'approved' } : undefined;
    case 'a':
    case 'always':
      if (behind === 'project') return { kind: 'approved', remember: true, scope: 'project' };
      return behind === '' ? { kind: 'approved', remember: true } : undefined;
    case 'n':
    case 'no': {
      const note = rest.join(' ');
      return note === '' ? { kind: 'denied' } : { kind: 'denied', note };
    }
    default:
      return undefined;
  }
}
