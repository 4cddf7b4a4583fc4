/**
 * Text as the search index sees it, the same for what is indexed and for what is asked: one Unicode form, a few names of
 * languages that are more sign than word, and scripts that write without spaces taken apart letter by letter. Case, accents
 * and endings are the index's own business.
 */
import { limits } from '../../base/limits.ts';

/** Scripts without spaces between words, or with endings grown onto them: there, a part of a run of letters is a word. */
const RUN = '(?:(?=\\p{L})[\\p{scx=Han}\\p{scx=Hira}\\p{scx=Kana}\\p{scx=Hang}\\p{scx=Thai}])';
const LETTER_OF_RUN = new RegExp(RUN, 'gu');
const IS_RUN = new RegExp(`^${RUN}`, 'u');
const WORD = new RegExp(`${RUN}+|(?:(?!${RUN})[\\p{L}\\p{N}\\p{M}])+`, 'gu');
const HAS_LETTER = /[\p{L}\p{N}]/u;

/** What the index stores for a text. */
export function indexedText(text: string): string {
  return plain(text).replace(LETTER_OF_RUN, ' $& ');
}

/** A name is also found by its parts: `CodeReviewer` is a code reviewer. */
export function indexedName(name: string): string {
  const parts = name.replace(/(\p{Ll})(\p{Lu})|(\p{Lu})(?=\p{Lu}\p{Ll})/gu, '$1$3 $2');
  return indexedText(parts === name ? name : `${name} ${parts}`);
}

/** One thing that is looked for: a word, or two letters that stand side by side. */
export interface Term {
  readonly text: string;
  /** A word that nobody has may be the beginning of one. */
  readonly mayBegin: boolean;
}

/** What a question asks for, each once, in its order; words that say nothing only where there are no others. */
export function termsOf(query: string): readonly Term[] {
  const words =
    plain(query.slice(0, limits.searchQueryCharacters))
      .match(WORD)
      ?.filter((word) => HAS_LETTER.test(word)) ?? [];
  const telling = words.filter((word) => !STOP_WORDS.has(bare(word)));
  const terms = new Map<string, Term>();
  for (const word of telling.length > 0 ? telling : words) {
    for (const term of termsIn(word)) {
      if (terms.size >= limits.searchTerms) return [...terms.values()];
      if (!terms.has(term.text)) terms.set(term.text, term);
    }
  }
  return [...terms.values()];
}

function termsIn(word: string): readonly Term[] {
  if (!IS_RUN.test(word)) return [{ text: word.toLowerCase(), mayBegin: [...word].length >= BEGINNING_MIN }];
  const letters = [...word];
  if (letters.length === 1) return [{ text: word, mayBegin: false }];
  return letters.slice(1).map((letter, index) => ({ text: `${letters[index]} ${letter}`, mayBegin: false }));
}

/** Of one letter, nearly everything is a beginning. */
const BEGINNING_MIN = 2;

function plain(text: string): string {
  return text
    .normalize('NFKC')
    .replace(/(?<![\p{L}\p{N}])c\+\+/giu, ' cplusplus ')
    .replace(/(?<![\p{L}\p{N}])([cf])#/giu, ' $1sharp ');
}

/** For comparing with the list below only: in scripts where marks are vowels, the index needs them. */
const bare = (word: string): string => word.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();

/** Words of a request that say nothing about who could do it. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  [
    'a an and any are as at be been but by can could did do does for from had has have he her him his how i if in into is it its',
    'me my no not of on or our she so some that the their them then there these they this those to us was we were what when',
    'where which while who whom whose why will with would you your',
    'agent agents anybody anyone assistant assistants bot capable expert experts give good help helps helper helpers knows',
    'let lets like look looking looks make makes may might must need needs one please person shall should somebody someone',
    'something specialist specialists tell thanks thing things want wants wish',
  ].flatMap((line) => line.split(' ')),
);
