/** What is known of a program, or of a verb of one. */

export interface KnownProgram {
  /** Options that are harmless; how they are written is in `options.ts`. Every other asks. */
  readonly options?: string;
  /** Options that are harmless, where there are too many to be written out. */
  readonly harmless?: RegExp;
  /** One dash begins a whole name: `-name` is not `-n -a -m -e`. */
  readonly oneDash?: boolean;
  /** The next operand says what is done, and a star stands for these only. Their own options are known beside those above. */
  readonly verbs?: Readonly<Record<string, KnownProgram>>;
  /** As a verb: it writes or runs something, so that a star does not stand for it, except where what follows fits. */
  readonly named?: true | RegExp;
  /** Unless what follows fits, a star stands for nothing of it. */
  readonly onlyShows?: RegExp;
  /** So many operands in front are code. */
  readonly code?: number;
  /** Operands from here on are written, or set something. */
  readonly writesFrom?: number;
  /** Operands that a star does not stand for. */
  readonly words?: RegExp;
  /** Words that a star never stands for, also as options and values. */
  readonly never?: RegExp;
  /** A first word without a dash that holds letters of options: those that are harmless. */
  readonly letters?: RegExp;
  /** Options behind it, or behind a `--` behind it, go to something else: those of the program itself do not count there. */
  readonly passesOn?: 'at once' | 'behind --';
  /** The first operand is a program of the user's own, and what follows is for that. */
  readonly script?: boolean;
  /** A word that begins with `@` is no file of options. */
  readonly at?: boolean;
  /** Whatever it is given, it prints it. */
  readonly prints?: boolean;
}

/** Verbs with the same options: `{ ...verbs('list ls', LIST) }`. */
export const verbs = (names: string, known: KnownProgram): Readonly<Record<string, KnownProgram>> =>
  Object.fromEntries(names.split(' ').map((name) => [name, known]));

/** Programs with the same options. */
export const programs = (names: string, known: KnownProgram): readonly (readonly [string, KnownProgram])[] =>
  names.split(' ').map((name) => [name, known] as const);

/** Of programs that take words as they are: no word of theirs is a file of options. */
export const plain = (options: string, more: KnownProgram = {}): KnownProgram => ({ options, at: true, ...more });
