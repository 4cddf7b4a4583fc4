/**
 * Which words behind a program a star in an allow does not cover. It stands for operands and for options that are known to be
 * harmless; whoever wants another one allowed writes it out, or `**`. What is known of programs is in `table.ts`.
 */
import { posix } from 'node:path';
import type { KnownProgram } from './known.ts';
import { type OptionReading, type Options, optionsIn, readOption } from './options.ts';
import { PYTHON } from './python.ts';
import { PROGRAMS } from './table.ts';
import { isUnseenProgram } from './unseen-programs.ts';

const INTERPRETERS =
  /^(?:node|nodejs|i?python[\d.]*|pypy[\d.]*|tsx|ts-node|ruby|perl|php|lua[\d.]*|rscript|tclsh|guile|irb|iex|ghci|julia|racket|octave)$/;
const PYTHONS = /^python[\d.]*$/;
/** Their program may stand in a file that an option names; any other `-` is a file that they read. */
const FED_BY_FILE = /^(?:[gmn]?awk|g?sed|g?make)$/;
/** Here `-` is the program. */
const FED_BY_NAME = /^(?:deno|bunx?|tsx|ts-node)$/;
/** `-f -` and its spellings. */
const isInputFile = (word: string, next: string | undefined): boolean =>
  namesInput(word) || /^-\w*f-$|=-$/.test(word) || (/^-\w*f$|^--(?:file|makefile)$/.test(word) && next === '-');

/** What comes in by `|` or `<` has names as well: `/dev/stdin`, `/proc/self/fd/0`, from wherever one looks. */
export const namesInput = (word: string): boolean => /(?:^|\/)(?:dev\/(?:std|fd|tty)|proc\/)/.test(posix.normalize(word));

/** Why nobody can tell what it would run. */
export function unseenProgram(name: string, args: readonly string[]): string | undefined {
  if (isUnseenProgram(name)) return `\`${name}\` changes what follows, or runs what is not seen`;
  const program = args.find((word) => !isOption(word)) ?? '-';
  const isFed = program === '-' || namesInput(program);
  const isAnswered = (PYTHONS.test(name) ? /^(?:-V|--version|--help)$/ : /^(?:-v|--version|--help|--test)$/).test(args[0] ?? '');
  const isFedByFile = FED_BY_FILE.test(name) && args.some((word, index) => isInputFile(word, args[index + 1]));
  if (isFedByFile || (FED_BY_NAME.test(name) && args.some((word) => word === '-' || namesInput(word))))
    return `\`${name}\` reads its program from its input`;
  if (name === 'ssh' && args.filter((word) => !isOption(word)).length === 1) return '`ssh` runs there what it is given as input';
  if (INTERPRETERS.test(name) && isFed && !isAnswered) return `\`${name}\` reads its program from its input`;
  return undefined;
}

/** What is known of a program; nothing of one that is not in the table. */
export const knownProgram = (name: string): KnownProgram | undefined =>
  PROGRAMS.get(name) ?? (PYTHONS.test(name) ? PYTHON : undefined);

/** By their places. */
export function exposedWords(name: string, args: readonly string[]): ReadonlySet<number> {
  const known = knownProgram(name);
  if (known === undefined) return strangeWords(args, 0);
  if (known.prints === true) return new Set();
  // `python -m pytest` is pytest; which module it is has to stand in the rule.
  if (known === PYTHON && args[0] === '-m')
    return new Set([0, 1, ...[...exposedWords(args[1] ?? '', args.slice(2))].map((index) => index + 2)]);
  return new Walk(known, args).exposed;
}

/** An operand behind which a command may stand, in programs that nobody knows. */
const RUNS =
  /^(?:exec|exec-\w+|execute|run|x|dlx|eval|shell|sh|bash|spawn|batch|source|call|script|with|ssh|sudo|runner|cmd|do|repl)$/;
/** What may be more than an operand: an option, a file of them, a setting. */
const STRANGE = /^(?:-.|[+@!|]|\/[A-Za-z]+:)|^[A-Za-z_][\w.-]*(?:\[.*\])?[:+?]?=/;

/** Of a program that is not known: options, what may be taken for one, and what may run what follows. */
function strangeWords(args: readonly string[], from: number): ReadonlySet<number> {
  const isStrange = (word: string, index: number): boolean =>
    word !== '--' && (STRANGE.test(word) || (RUNS.test(word) && index < args.length - 1));
  return new Set([...args.keys()].filter((index) => index >= from && isStrange(args[index] ?? '', index)));
}

const isOption = (word: string): boolean => word.startsWith('-') && word !== '-';

class Walk {
  readonly exposed = new Set<number>();
  /** The program and the verbs up to here. */
  private readonly chain: KnownProgram[];
  private readonly args: readonly string[];
  private operands = 0;
  private isBehindDashes = false;
  /** What the words behind an option are to it. */
  private pending: OptionReading | undefined;

  constructor(known: KnownProgram, args: readonly string[]) {
    this.chain = [known];
    this.args = args;
    if (!shows(known, args)) this.expose(0);
    for (const [index, word] of args.entries()) this.word(index, word);
  }

  private get current(): KnownProgram {
    return this.chain[0] ?? {};
  }

  private word(index: number, word: string): undefined {
    if (this.chain.some(({ never }) => never?.test(word) === true)) this.exposed.add(index);
    if (this.isValue(index, word)) return;
    this.isBehindDashes ||= word === '--';
    const isDashes = word === '--' && !this.chain.some(({ words }) => words?.test(word) === true);
    if (isOption(word) && !isDashes && (word === '--' || !this.option(word))) this.exposed.add(index);
    if (!isOption(word)) this.operand(index, word);
  }

  /** What looks like an option is looked at as one: not every program would take it for a value. */
  private isValue(index: number, word: string): boolean {
    const { takes = 0, of } = this.pending ?? {};
    const isNumber = this.chain.some(({ oneDash }) => oneDash === true) ? /^-\d+[a-zA-Z]?$/.test(word) : /^-\d+$/.test(word);
    this.pending = undefined;
    if (takes === 0 || (isOption(word) && !isNumber)) return false;
    if (of !== undefined && !of.has(word)) this.exposed.add(index);
    this.pending = { harmless: true, takes: takes - 1 };
    return true;
  }

  /** Whether it is known to be harmless. */
  private option(word: string): boolean {
    const { script, passesOn } = this.current;
    if (script === true && this.operands > 0) return false;
    const chain = passesOn === 'at once' || (passesOn !== undefined && this.isBehindDashes) ? [this.current] : this.chain;
    if (chain.some(({ harmless }) => harmless?.test(word) === true)) return true;
    const oneDash = chain.some((known) => known.oneDash === true);
    const known = chain.flatMap(({ options }): readonly Options[] =>
      options === undefined ? [] : [optionsIn(options, oneDash)],
    );
    this.pending = readOption(word, known, oneDash);
    return this.pending.harmless;
  }

  private operand(index: number, word: string): undefined {
    const { verbs, code = 0, writesFrom = Number.POSITIVE_INFINITY, letters } = this.current;
    if (word.startsWith('@') && !this.chain.some(({ at }) => at === true)) this.exposed.add(index);
    if (this.chain.some(({ words }) => words?.test(word) === true)) this.exposed.add(index);
    if (index === 0 && letters?.test(word) === false) this.exposed.add(index);
    if (verbs !== undefined) return this.verb(index, Object.hasOwn(verbs, word) ? verbs[word] : undefined);
    if (this.operands < code || this.operands >= writesFrom) this.exposed.add(index);
    this.operands += 1;
  }

  private verb(index: number, verb: KnownProgram | undefined): undefined {
    const behind = this.args.slice(index + 1);
    this.chain.unshift(verb ?? {});
    this.operands = 0;
    // A word that is no verb may be the value of an option in front, and the verb stands behind it.
    const isUnsure = verb === undefined && this.args.slice(0, index + 1).some((word) => isOption(word) || word.startsWith('+'));
    if (isUnsure || (verb !== undefined && !shows(verb, behind))) this.expose(index);
    else if (verb === undefined) {
      this.exposed.add(index);
      for (const place of strangeWords(this.args, index + 1)) if (!isOption(this.args[place] ?? '')) this.exposed.add(place);
    } else if (verb.named === true || verb.named?.test(behind.join(' ')) === false) this.exposed.add(index);
  }

  private expose(from: number): void {
    for (const place of [...this.args.keys()].slice(from)) this.exposed.add(place);
  }
}

const shows = ({ onlyShows }: KnownProgram, behind: readonly string[]): boolean => onlyShows?.test(behind.join(' ')) ?? true;
