/** Shortens text without splitting what a person sees as one character. */

let segmenter: Intl.Segmenter | undefined;

/** In the pieces that a person sees as one character. What splits is made for the first text: that takes long. */
export function graphemesOf(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  return segmenter.segment(text);
}

/** At most `length` UTF-16 units from the front. A first character that is longer than that is cut between code points. */
export function cutText(text: string, length: number): string {
  if (text.length <= length) return text;
  const end = graphemesOf(text).containing(length)?.index ?? length;
  if (end > 0) return text.slice(0, end);
  const splitsPair = /[\ud800-\udbff]/.test(text.charAt(length - 1));
  return text.slice(0, splitsPair ? length - 1 : length);
}
