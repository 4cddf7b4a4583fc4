/** Text that somebody has to judge: what a screen would hide, turn around or show as something else is spelled out. */

/**
 * Controls, marks that hide or reorder, other spaces than the ordinary one, what has no sign of its own (private, not assigned,
 * halves of one) and the few signs that are drawn as nothing. Newlines and tabs are seen as they are.
 */
const UNSEEN =
  /(?![\n\t ])[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\ufffc\u{13441}\u{13442}\u{1d159}]/gu;
/** The part of an address that says who is asked, up to its port or path. */
const HOST = /(?<=:\/\/(?:[^\s/?#@]*@)?)[^\s/?#@:"'`<>()|;&\\]+/gu;
/** The same behind a name and `@`: `ssh git@host`, `scp user@host:path`. */
const HOST_BEHIND_NAME = /(?<=[\w.+-]@)[^\s/?#@:"'`<>()|;&\\,⟨⟩]+/gu;
/** What may be the name of a host where nothing says so. */
const PERHAPS_HOST = /(?<![\p{L}\p{M}\p{Nd}_.@:/⟨-])[\p{L}\p{M}\p{Nd}-]+(?:\.[\p{L}\p{M}\p{Nd}-]+)+(?![\p{L}\p{M}\p{Nd}_⟨])/gu;
const ASCII = /^[\u0020-\u007e]*$/;
/** Letters and digits in a row: what is read as one word. */
const WORD = /[\p{L}\p{M}\p{Nd}]+/gu;
const LATIN = /\p{Script=Latin}/u;
/** Of whichever script; those are left out that are written beside Latin words without a space, and look like themselves. */
const FOREIGN =
  /(?![\p{sc=Latin}\p{sc=Common}\p{sc=Inherited}\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Bopomofo}])(?![\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}\p{sc=Tibetan}])\p{L}\p{M}*/gu;
const FOREIGN_DIGIT = /(?![0-9])\p{Nd}/gu;
/** On a Latin letter: a ring of Telugu beside it is read as an o. */
const FOREIGN_MARK =
  /(?![\p{sc=Latin}\p{sc=Common}\p{sc=Inherited}])(?![\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}\p{sc=Tibetan}])(?<=\p{sc=Latin})\p{M}+/gu;
/**
 * Letters of other scripts in the shape of a Latin one, as the confusables of Unicode (UTS 39) have them: for each Latin letter
 * those that can hardly be told from it, of scripts in which people write beside Latin words.
 */
export const LATIN_SHAPES: Readonly<Record<string, string>> = {
  a: 'аα',
  b: 'ᏏᑲᖯЬ',
  c: 'сϲⲥꮯ',
  d: 'ԁᏧᑯꓒ',
  e: 'еҽ',
  f: 'քϝ',
  g: 'ց',
  h: 'һհᏂ',
  i: 'іιꙇꭵᎥ',
  j: 'јϳ',
  l: 'ӏוןاߊⵏ',
  n: 'ոռ',
  o: 'оοσօסⲟഠჿهھہە',
  p: 'рρⲣ',
  q: 'ԛգզ',
  r: 'ⲅꮁ',
  s: 'ѕꮪ',
  u: 'սυ',
  v: 'νѵטꮩ',
  w: 'ԝѡաꮃ',
  x: 'хᕁᕽ',
  y: 'уүγყ',
  z: 'ꮓ',
  A: 'АΑᎪᗅꓮ',
  B: 'ВΒᏴᗷꓐ',
  C: 'СϹᏟⲤꓚ',
  D: 'Ꭰᗞꓓᗪ',
  E: 'ЕΕᎬⴹꓰ',
  F: 'Ϝᖴꓝ',
  G: 'ԌᏀꓖᏳ',
  H: 'НΗᎻⲎᕼꓧ',
  I: 'ІӀΙⲒꓲ',
  J: 'ЈͿᎫᒍꓙ',
  K: 'КΚᏦⲔꓗ',
  L: 'ᏞᒪⳐꓡ',
  M: 'МΜϺᎷⲘᗰꓟ',
  N: 'ΝⲚꓠ',
  O: 'ОΟՕⲞⵔꓳዐଠ',
  P: 'РΡᏢⲢᑭꓑ',
  Q: 'Ԛⵕ',
  R: 'ᎡᏒᖇꓣ',
  S: 'ЅՏᏚꓢᏕ',
  T: 'ТΤᎢⲦꓔ',
  U: 'Սᑌꓴሀ',
  V: 'ѴᏙᐯꓦⴸꛟ',
  W: 'ԜᎳꓪᏔ',
  X: 'ХΧⲬⵝꓫ',
  Y: 'УΥҮᎩⲨꓬᎽ',
  Z: 'ΖᏃꓜ',
  2: 'ϨꙄᒿ',
  3: 'ⳌЗӠ',
  4: 'Ꮞ',
  6: 'ⳒᏮ',
  9: 'Ⳋ',
};

/** Scripts in which nobody writes beside Latin words any more: many of their letters have the shape of ours. */
const OLD_SCRIPTS = [
  ...['Runic', 'Ogham', 'Gothic', 'Old_Italic', 'Lycian', 'Lydian', 'Carian', 'Elbasan', 'Caucasian_Albanian', 'Deseret'],
  ...['Shavian', 'Osage', 'Osmanya', 'Warang_Citi', 'Miao', 'Medefaidrin', 'Ahom', 'Tirhuta'],
];
const SHAPES = `${Object.values(LATIN_SHAPES).join('')}${OLD_SCRIPTS.map((script) => `\\p{sc=${script}}`).join('')}`;

/** Words that consist of nothing else. */
const LATIN_SHAPED = new RegExp(`^[${SHAPES}]+$`, 'u');

/** Of small letters those, too, that look like small capitals. */
const NEARLY_LATIN = new RegExp(`^[${SHAPES}вгкмнтηκμτ]+$`, 'u');

/** Letters of phonetics: small capitals, the other a and g, clicks. Some languages are written with a few of them. */
const PHONETIC =
  /(?![\u0253\u0254\u0256\u0257\u0259\u025b\u0260\u0263\u0268\u0269\u026f\u0272\u0275\u0283\u0289-\u028b\u0292])[\u01c0-\u01c3\u0241\u0242\u0250-\u02af\u1d00-\u1d2b\u1d6b-\u1d77\u1d79-\u1d9a\ua722-\ua7ff\uab30-\uab5a\uab60-\uab68]/gu;
/** Signs in the shape of a letter: of APL, the one for "estimated", and the round one of Burmese within Latin words. */
const LIKE_LETTER = /[\u212e\u2373\u2374\u237a]|(?<=[A-Za-z])\u101d(?=[A-Za-z\u101d])/gu;
/** The alphabets of mathematics, Greek too: letters in another form, which are no words of any language. */
const MATHEMATICAL = /^[\u{1d400}-\u{1d7ff}\u213d]$/u;
/** In the shape of a sign that means something in a command or an address: ! | / \ : . , * ~ < > ^ = ? & ` ( ) { } % + - */
const LIKE_SIGN =
  /[\u2d51\u2223\u23fd\u2044\u2215\u2571\u27cb\u29f8\u1735\u2041\u2216\u27cd\u29f5\u29f9\u2572\u02d0\u02f8\u2236\u205a\ua4fd\u16ec\u1803\ua4f8\u0701\u0702\ua4f9\u204e\u2217\u02dc\u223c\u2053\u02c2\u1438\u02c3\u1433\u02c4\u02c6\u1400\ua4ff\u30a0\u02cb\u2768-\u276b\u2772-\u2775\u066a\u16ed\u02d7\u2043\u2010\u2011]/gu;
/** A dash before a letter is an option, if it is the right one. The long ones begin what somebody says. */
const LIKE_OPTION = /(?<![^\s"'=\u2012\u2013\u2212])[\u2012\u2013\u2212](?=[-\u2012\u2013\u2212]{0,2}[A-Za-z])/gu;
/** A stroke or a dash in an Asian text, and like one of ours elsewhere. */
const LIKE_STROKE = /(?<=[!-~])[\u30ce\u30fc\u4e00\u4e28\u4e36\u4e3f\u3007\u3033\u3161\u3163](?=[!-~])/gu;
/** Other forms of plain signs: full width, mathematical, in circles, ligatures. Not the commas and brackets of an Asian text. */
const OTHER_FORM =
  /(?!(?<=[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}])[\uff01\uff08\uff09\uff0c\uff1a\uff1b\uff1f])(?![\uff01\uff08\uff09\uff0c\uff1a\uff1b\uff1f][\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}])[^\p{ASCII}]/gu;
/** What is raised, lowered or left out with three dots is seen to be so. */
const ORDINARY_FORM = /[\p{Lm}\u00aa\u00b2\u00b3\u00b9\u00ba\u2026\u2070-\u209c]/u;

export function visibleText(text: string): string {
  const seen = text.replace(UNSEEN, named);
  if (ASCII.test(seen.replaceAll('\n', ''))) return seen;
  return seen
    .replace(HOST, withRealHost)
    .replace(HOST_BEHIND_NAME, withRealHost)
    .replace(PERHAPS_HOST, (name) => (looksLatin(name) ? withRealHost(name) : name))
    .replace(/\S+/gu, inToken)
    .replace(PHONETIC, spelled)
    .replace(LIKE_LETTER, spelled)
    .replace(LIKE_SIGN, spelled)
    .replace(LIKE_OPTION, spelled)
    .replace(LIKE_STROKE, spelled)
    .replace(OTHER_FORM, (sign) => (isOtherForm(sign) ? spelled(sign) : sign));
}

/** Stands for a tab where a text is judged, and for each blank at the end of a line. */
export const TAB_SIGN = '\u21e5';
export const BLANK_SIGN = '\u00b7';

/**
 * The same of a text that is judged line by line, a command or a difference: of two lines that differ in nothing but their tabs
 * and the blanks at their ends, each is shown as what it is. One blank alone is the first column of a difference.
 */
export function judgedText(text: string): string {
  return visibleText(text)
    .replaceAll(TAB_SIGN, spelled)
    .replaceAll('\t', TAB_SIGN)
    .replace(/(?<=[^\n])[ \u00b7]+$/gm, (end) => end.replaceAll(BLANK_SIGN, spelled).replaceAll(' ', BLANK_SIGN));
}

/** What a name consists of that is read as one word, whatever stands around it. */
const PLAIN_NAME = /^[\p{L}\p{M}\p{N}_./@+~%=-]+$/u;

/**
 * The name of a file, of an argument or of a tool where words of ours stand beside it. It stays on its line, and where its own end
 * could be mistaken it stands in quotes: no name can pass for what follows one.
 */
export function judgedName(name: string): string {
  if (PLAIN_NAME.test(name)) return name;
  return `"${lineOf(name.replace(/["\\]/g, '\\$&'))}"`;
}

/** A text that has one line, as one: what would begin another is spelled out. */
export const judgedLine = (text: string): string => judgedText(lineOf(text));

const lineOf = (text: string): string => text.replace(/[\n\t\u2028\u2029]/g, named);

/** Letters among those of another script; and whole words in the shape of Latin ones beside real ones. */
function inToken(token: string): string {
  const beside = /[A-Za-z]/.test(token.replace(/⟨[^⟩]*⟩/gu, ''));
  return token.replace(WORD, (word) => {
    if (!LATIN.test(word) && !(beside && LATIN_SHAPED.test(word))) return word;
    return word.replace(FOREIGN, spelled).replace(FOREIGN_MARK, spelled).replace(FOREIGN_DIGIT, spelled);
  });
}

const isOtherForm = (sign: string): boolean => {
  if (MATHEMATICAL.test(sign)) return true;
  const plain = sign.normalize('NFKC');
  return plain !== sign && plain.trim() !== '' && ASCII.test(plain) && !ORDINARY_FORM.test(sign);
};

const spelled = (sign: string): string => sign + named(sign);

function named(sign: string): string {
  return `⟨U+${(sign.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`;
}

/** A name in the letters of another script that reads like one in Latin letters; a text of that script hardly ever does. */
function looksLatin(name: string): boolean {
  const parts = name.split('.');
  const isShort = [...(parts.at(-1) ?? '')].length < 2;
  // Beside a plain word it may as well be the name of a file.
  const shape = parts.some((part) => ASCII.test(part)) ? LATIN_SHAPED : NEARLY_LATIN;
  return !isShort && parts.every((part) => ASCII.test(part) || part.split('-').every((word) => shape.test(word)));
}

/** A name in other letters than plain ones is followed by the one that is really asked for. */
function withRealHost(host: string): string {
  if (ASCII.test(host)) return host;
  const real = URL.canParse(`http://${host}`) ? new URL(`http://${host}`).hostname : 'no valid name';
  return `${host}⟨${real}⟩`;
}
