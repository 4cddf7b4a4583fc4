/** The end of what somebody printed, in bounded memory: what explains a process that died. */
import { endOf } from '../../base/whole-words.ts';

export interface Tail {
  append(text: string): void;
  text(): string;
}

export function createTail(maxCharacters: number): Tail {
  let kept = '';
  return {
    append(text) {
      kept += text.slice(-(maxCharacters + 1));
      // Cut only when twice too long, so that many short pieces cost no more than one long one.
      if (kept.length > 2 * maxCharacters) kept = kept.slice(-(maxCharacters + 1));
    },
    text: () => endOf(kept, maxCharacters).trim(),
  };
}
