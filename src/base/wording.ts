/** Small things that make a sentence read as people say it. */

/** `1 turn`, `2 turns`: a number with its word. */
export const counted = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;

/** Ends with one full stop, whatever it ended with: for a text that somebody else wrote, at the end of a sentence. */
export const sentence = (text: string): string => (/[.!?…]$/.test(text.trimEnd()) ? text.trimEnd() : `${text.trimEnd()}.`);
