/**
 * Cutting a text where nobody is at hand who could redact it first. Half of a secret has no shape that anybody would recognise,
 * so a cut leaves whole words: it moves to the next white space, or, in a text that has none for long, to the next sign that
 * ends a value in code and data.
 */

/** Longer than any key or token. */
const WORD_MAX = 4_096;
const SIGN = /["'`,;(){}[\]<>|&]/;

/** At most `length` characters from the start of a text, without half a word at the end. */
export function startOf(text: string, length: number): string {
  if (text.length <= length) return text;
  return text.slice(0, edge(text, length, -1)).trimEnd();
}

/** At most `length` characters from the end of a text, without half a word at the start. */
export function endOf(text: string, length: number): string {
  if (text.length <= length) return text;
  return text.slice(edge(text, text.length - length, 1)).trimStart();
}

/** Where `text` may be cut at or beyond `at`, in the direction of `step`. */
function edge(text: string, at: number, step: 1 | -1): number {
  return (
    nearest(text, at, step, (character) => character.trim() === '') ?? nearest(text, at, step, (one) => SIGN.test(one)) ?? at
  );
}

function nearest(text: string, at: number, step: 1 | -1, ends: (character: string) => boolean): number | undefined {
  for (let index = at, gone = 0; index > 0 && index < text.length && gone <= WORD_MAX; index += step, gone += 1)
    if (ends(text.charAt(index)) || ends(text.charAt(index - 1))) return index;
  return undefined;
}
