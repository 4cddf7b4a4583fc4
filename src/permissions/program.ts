/** What is written down of a program: which words behind it make it run, write or load something else. */

interface Options {
  /** Letters of short options, alone or among others behind one dash. */
  readonly short?: string;
  /** Long options, in every short form that the program may take for them. */
  readonly long?: readonly string[];
  /** Long options of programs that take no short forms: `--run` is not `--runner`. */
  readonly whole?: readonly string[];
  /** The first operand says what is done, and a star stands for these only. */
  readonly verbs?: readonly string[];
  /** Operands that a star does not stand for: an option's value may stand before the one that says what is done. */
  readonly notVerbs?: readonly string[];
  readonly words?: RegExp;
}

export interface Program extends Options {
  /** A first operand that a star does not stand for: letters of options without a dash. */
  readonly first?: RegExp;
  /** Options in front of the first operand. */
  readonly before?: RegExp;
  /** So many operands in front are code. */
  readonly code?: number;
  /** Operands from here on are files that are written. */
  readonly writesFrom?: number;
  /** What counts behind the first operand, by what it is. */
  readonly below?: ReadonlyMap<string, Verb>;
}

/** A first operand: its own first operand is the word behind it. */
export interface Verb extends Options {
  /** With words behind it that begin so it loses nothing; without, a star stands for no word behind the verb. */
  readonly onlyShows?: RegExp;
}

export const list = (text: string): readonly string[] => text.split(' ');
