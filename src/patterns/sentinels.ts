/** Words that end or continue a loop. They count only on a line of their own, and only from whoever may say them. */

const COMPLETE = /^[ \t]*\[\[GROUP_REFLECT_COMPLETE\]\][ \t]*$/im;
const NEEDS_ITERATION = /^[ \t]*\[\[NEEDS_ITERATION\]\][ \t]*$/im;
const REFLECTION_COMPLETE = /^[ \t]*\[\[REFLECTION_COMPLETE\]\][ \t]*$/im;

export const saysComplete = (text: string): boolean => COMPLETE.test(text);
export const saysNeedsIteration = (text: string): boolean => NEEDS_ITERATION.test(text);
export const saysReflectionComplete = (text: string): boolean => REFLECTION_COMPLETE.test(text);

/** A worker's words cannot end its group's loop. */
export function neutralised(text: string): string {
  return text
    .replaceAll(/\[\[GROUP_REFLECT_COMPLETE\]\]/gi, '[WORKER_APPROVED]')
    .replaceAll(/\[\[NEEDS_ITERATION\]\]/gi, '[WORKER_NEEDS_ITERATION]');
}

export function withoutSentinels(text: string): string {
  return text
    .split('\n')
    .filter((line) => !/^[ \t]*\[\[(GROUP_REFLECT_COMPLETE|NEEDS_ITERATION|REFLECTION_COMPLETE)\]\][ \t]*$/i.test(line))
    .join('\n')
    .trim();
}
