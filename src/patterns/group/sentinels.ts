/** Words that end or continue a loop. They count only on a line of their own, and only from whoever may say them. */

const BLANK = '[^\\S\\r\\n]*';
const line = (word: string): RegExp => new RegExp(`^${BLANK}\\[\\[${word}\\]\\]${BLANK}$`, 'im');

const COMPLETE = line('GROUP_REFLECT_COMPLETE');
const NEEDS_ITERATION = line('NEEDS_ITERATION');
const REFLECTION_COMPLETE = line('REFLECTION_COMPLETE');
const ANY = line('(?:GROUP_REFLECT_COMPLETE|NEEDS_ITERATION|REFLECTION_COMPLETE)');

export const saysComplete = (text: string): boolean => COMPLETE.test(text);
export const saysNeedsIteration = (text: string): boolean => NEEDS_ITERATION.test(text);
export const saysReflectionComplete = (text: string): boolean => REFLECTION_COMPLETE.test(text);

/** A worker's words cannot end its group's loop. */
export function neutralised(text: string): string {
  return text
    .replaceAll(/\[\[(?:GROUP_REFLECT_COMPLETE|REFLECTION_COMPLETE)\]\]/gi, '[WORKER_APPROVED]')
    .replaceAll(/\[\[NEEDS_ITERATION\]\]/gi, '[WORKER_NEEDS_ITERATION]');
}

export function withoutSentinels(text: string): string {
  return text
    .split('\n')
    .filter((one) => !ANY.test(one.replace(/\r$/, '')))
    .join('\n')
    .trim();
}

/** What was said to be missing: what follows the word that asks for more, or all there is. */
export function missingPart(text: string): string {
  const at = NEEDS_ITERATION.exec(text);
  const after = at === null ? '' : withoutSentinels(text.slice(at.index + at[0].length));
  return after === '' ? withoutSentinels(text) : after;
}
