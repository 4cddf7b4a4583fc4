/** Where a person is asked while a run goes on: what is said stays above the picture, what they type is at its bottom. */

import type { Result } from '../../base/result.ts';
import type { Draft } from '../terminal/editor.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { proseLines } from '../terminal/text-width.ts';
import type { RunView } from '../view/run-view.ts';

export interface Desk {
  say(...lines: readonly string[]): void;
  /** `undefined` when they would rather not, or nobody wants to know any more. */
  ask(prompt: string, prefill?: string): Promise<string | undefined>;
  /** Their own editor on a text, with the screen to itself; `undefined` when they have named none. */
  edit(draft: Draft): Promise<Result<string, string> | undefined>;
}

export function createDesk(terminal: Terminal, view: RunView, gone: AbortSignal): Desk {
  return {
    say: (...lines) => view.say(lines),
    async ask(prompt, prefill) {
      const show = view.draws
        ? (line: { readonly text: string; readonly cursor: number }): void => view.typing({ prompt, ...line })
        : undefined;
      // Where it is drawn here, the question appears once what was typed before it is thrown away: from then on keys count.
      if (!view.draws) view.typing({ prompt, text: '', cursor: 0 });
      const typed = await terminal.ask(prompt, { signal: gone, prefill, show }).finally(() => view.typing(undefined));
      // The line that was drawn is gone with the picture: what was said to the question stays.
      if (view.draws && typed !== undefined) view.say(proseLines(`${prompt}${typed}`, terminal.progress.width(), { indent: 4 }));
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
