/** Shortens text without splitting what a person sees as one character. */

const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** At most `length` UTF-16 units from the front. A first character that is longer than that is cut between code points. */
export function cutText(text: string, length: number): string {
  if (text.length <= length) return text;
  const end = segmenter.segment(text).containing(length)?.index ?? length;
  if (end > 0) return text.slice(0, end);
  const splitsPair = /[\ud800-\udbff]/.test(text.charAt(length - 1));
  return text.slice(0, splitsPair ? length - 1 : length);
}
