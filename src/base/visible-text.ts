/** Text that somebody has to judge: what a screen would hide, turn around or show as something else is spelled out. */

/** Controls, marks that hide or reorder, other spaces than the ordinary one. Newlines and tabs are seen as they are. */
const UNSEEN = /(?![\n\t ])[\p{Cc}\p{Cf}\p{Zs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;
/** The part of an address that says who is asked, up to its port or path. */
const HOST = /(?<=:\/\/(?:[^\s/?#@]*@)?)[^\s/?#@:"'`<>()|;&\\]+/gu;
const ASCII = /^[\u0020-\u007e]*$/;
/** Letters in a row: what is read as one word. */
const WORD = /[\p{L}\p{M}]+/gu;
const LATIN = /[A-Za-z]/;
/** Scripts with letters that look like Latin ones. */
const LOOKALIKE = /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Coptic}]/gu;
/** Other forms of plain signs: full width, mathematical, in circles. */
const OTHER_FORM = /[\u{2100}-\u{214f}\u{2460}-\u{24ff}\u{ff01}-\u{ff5e}\u{1d400}-\u{1d7ff}]/gu;

export function visibleText(text: string): string {
  const seen = text.replace(UNSEEN, named);
  if (ASCII.test(seen.replaceAll('\n', ''))) return seen;
  return seen
    .replace(HOST, withRealHost)
    .replace(WORD, (word) => (LATIN.test(word) ? word.replace(LOOKALIKE, (sign) => sign + named(sign)) : word))
    .replace(OTHER_FORM, (sign) => (ASCII.test(sign.normalize('NFKC')) ? sign + named(sign) : sign));
}

function named(sign: string): string {
  return `⟨U+${(sign.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`;
}

/** A name in other letters than plain ones is followed by the one that is really asked for. */
function withRealHost(host: string): string {
  if (ASCII.test(host)) return host;
  const real = URL.canParse(`http://${host}`) ? new URL(`http://${host}`).hostname : 'no valid name';
  return `${host}⟨${real}⟩`;
}
