/** The end of what somebody printed, in bounded memory: what explains a process that died. */

export interface Tail {
  append(text: string): void;
  text(): string;
}

export function createTail(maxCharacters: number): Tail {
  let kept = '';
  return {
    append(text) {
      kept += text.slice(-maxCharacters);
      // Cut only when twice too long, so that many short pieces cost no more than one long one.
      if (kept.length > 2 * maxCharacters) kept = kept.slice(-maxCharacters);
    },
    text: () => kept.slice(-maxCharacters).trim(),
  };
}
