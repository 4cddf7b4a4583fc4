/** Where a person is asked while a run goes on: what is said stays above the picture, what they type is at its bottom. */

import type { Draft, Edited } from '../terminal/editor.ts';
import { safeText } from '../terminal/safe-text.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { proseLines } from '../terminal/text-width.ts';
import { promptWithin } from '../view/canvas.ts';
import type { LinePrompt, RunView } from '../view/run-view.ts';

export interface Desk {
  say(...lines: readonly string[]): void;
  /** Says what is asked about next: it stays in sight. */
  put(...lines: readonly string[]): void;
  /** `undefined` when they would rather not, or nobody wants to know any more. */
  ask(prompt: LinePrompt, put?: Put): Promise<string | undefined>;
  /** Their own editor on a text, with the screen to itself; `undefined` when they have named none. */
  edit(draft: Draft): Promise<Edited | undefined>;
}

export interface Put {
  /** What stands there to be changed. */
  readonly prefill?: string | undefined;
  /** What was said before, and must be seen while it is answered: said again when the screen was somebody else's meanwhile. */
  readonly about?: (() => readonly string[]) | undefined;
}

export function createDesk(terminal: Terminal, view: RunView, gone: AbortSignal): Desk {
  return {
    say: (...lines) => view.say(lines),
    put: (...lines) => view.say(lines, 'asks'),
    async ask(prompt, { prefill, about } = {}) {
      const show = view.draws
        ? (line: { readonly text: string; readonly cursor: number }): void => view.typing({ prompt, ...line, about })
        : undefined;
      const again = about === undefined ? undefined : (): void => view.say(['', ...about()]);
      // Where it is drawn here, the question appears once what was typed before it is thrown away: from then on keys count.
      if (!view.draws) view.typing({ prompt, text: '', cursor: 0 });
      const whole = promptWithin(prompt, Number.POSITIVE_INFINITY);
      const typed = await terminal
        .ask(view.draws ? whole : promptWithin(prompt, terminal.progress.width()), { signal: gone, prefill, show, again })
        .finally(() => view.typing(undefined));
      // The line that was drawn is gone with the picture: what was said to the question stays.
      if (view.draws && typed !== undefined)
        view.say(proseLines(`${whole}${safeText(typed)}`, terminal.progress.width(), { indent: 4 }));
      return typed;
    },
    async edit(draft) {
      const back = view.lend();
      try {
        return await terminal.edit(draft);
      } finally {
        back();
      }
    },
  };
}
