/**
 * Rules for command lines, such as `git diff*: allow`. A rule is about one command, so it is held against each that a line runs.
 * An allow is read narrowly and everything else widely: in doubt a person is asked.
 */
import { fitsSequence, fitsText } from './glob.ts';
import type { LineWord } from './line-parts.ts';
import { lineRuns, programName, type Run } from './line-runs.ts';
import { EXACT } from './remembered-rule.ts';
import { chosen, EVERYTHING, type Fitting, type Permission, type Rule, stricter } from './rule-map.ts';

/** At the end of a pattern: whatever stands behind the program, also options that nobody knows. */
const WHATEVER = '**';

/** The words of a pattern; a lone star stands for any number of words. */
export function patternWords(pattern: string): readonly string[] {
  const words = pattern.trim().split(/\s+/);
  const [, begun, stars] = /^([\w:@+-]+)(\*\*?)$/.exec(words.at(-1) ?? '') ?? [];
  // `git diff*` is also meant for what follows; behind a path or an address the star belongs to that alone.
  return begun === undefined || stars === undefined ? words : [...words.slice(0, -1), begun + EVERYTHING, stars];
}

/** Signs that a command has only with a meaning of their own: a rule with one would never fit. */
const NO_RULE = /[|&;<>()$`"'\\\n\r\0?[\]{}~#!]/;

/** What is wrong with a pattern, in words for whoever wrote it. */
export function shellPatternProblem(pattern: string): { readonly message: string; readonly fix: string } | undefined {
  if (pattern.startsWith(EXACT)) return undefined;
  if (pattern.trim() === '') return { message: 'the rule names no command', fix: 'Write a command, such as "npm test".' };
  if (/^\*\*(?:\s|$)|\s\*\*\s/.test(pattern.trim()))
    return { message: '"**" stands at the end, behind a program', fix: 'Write "*" for everything, or "npm **" for all of npm.' };
  // These two are a command and its last word.
  const sign = NO_RULE.exec(pattern.replace(/^\[(?= )/, '').replace(/ \]$/, ''))?.[0];
  if (sign === undefined) return undefined;
  return {
    message: `a rule is about one command, in which ${JSON.stringify(sign)} cannot stand`,
    fix: `Write a rule for each command of the line; or "${EXACT}" in front of a line that is meant to the letter.`,
  };
}

/** The strictest of what the rules say of every command that the line runs. */
export function decideLine(line: string, sources: readonly Rule[], remembered: Rule): Permission {
  const judges = sources.map((source) => judgeOf(source, line));
  const recall = judgeOf(remembered, line);
  const runs = lineRuns(line);
  const open = [...judges, recall].map(() => false);
  const verdict = (found: readonly Judged[], recalled: Judged): Permission => {
    const said = found.map(({ permission }) => permission).reduce(stricter, 'allow');
    return said === 'ask' && recalled.permission === 'allow' ? 'allow' : said;
  };
  if (!runs.ok)
    return verdict(
      judges.map((judge) => judge(undefined)),
      recall(undefined),
    );
  const walk = (run: Run, covered: readonly boolean[]): Permission => {
    const all = [...judges, recall].map((judge, index) => under(covered[index] === true, judge(run)));
    const [recalled = { permission: 'ask', whole: false }, ...found] = [...all].reverse();
    const below = run.below.map((one) =>
      walk(
        one,
        all.map(({ whole }) => whole),
      ),
    );
    return below.reduce(stricter, verdict(found, recalled));
  };
  return runs.value.map((run) => walk(run, open)).reduce(stricter, 'allow');
}

interface Judged {
  readonly permission: Permission;
  /** What the command runs in turn is covered as well: the rule has every word of it. */
  readonly whole: boolean;
}

/** What stands in a rule to the letter is allowed with all that it runs, unless something of that is denied. */
const under = (covered: boolean, judged: Judged): Judged =>
  covered && judged.permission !== 'deny' ? { permission: 'allow', whole: true } : judged;

/** Nothing for a line that is not understood. */
type Judge = (run: Run | undefined) => Judged;

function judgeOf(source: Rule, line: string): Judge {
  if (typeof source === 'string') return () => ({ permission: source, whole: source === 'allow' });
  const exact = Object.hasOwn(source, EXACT + line) ? source[EXACT + line] : undefined;
  if (exact !== undefined) return () => ({ permission: exact, whole: exact === 'allow' });
  const rules = Object.entries(source)
    .filter(([pattern]) => !pattern.startsWith(EXACT))
    .map(([pattern, permission]) => ({ pattern, permission, words: patternWords(pattern) }));
  return (run) => {
    if (run === undefined) return { permission: source[EVERYTHING] === 'deny' ? 'deny' : 'ask', whole: false };
    const fitting = rules.flatMap(({ pattern, permission, words }): readonly Fitting[] => {
      if (permission === 'allow') return covers(words, run) ? [{ pattern, permission }] : [];
      const fit = touches(pattern, words, run);
      return fit === 'no' ? [] : [{ pattern, permission: fit === 'yes' ? permission : 'ask' }];
    });
    const found = chosen(fitting, shellWithin);
    const whole = found?.permission === 'allow' && !found.pattern.includes(EVERYTHING);
    return { permission: found?.permission ?? 'ask', whole };
  };
}

/** Whether everything that one pattern fits, the other fits too. */
export function shellWithin(narrow: string, wide: string): boolean {
  return fitsSequence(patternWords(wide), patternWords(narrow), isMany, (piece, word) => !isMany(word) && fitsText(piece, word));
}

const isMany = (piece: string): boolean => piece === EVERYTHING || piece === WHATEVER;

/** For an allow: every word is the rule's own, or one that a star may stand for. */
export function covers(words: readonly string[], run: Run): boolean {
  if (words.length === 1 && words[0] === EVERYTHING) return run.unseen === undefined;
  if (run.redirected || run.words.some(({ dynamic }, index) => dynamic && !isHarmless(run, index))) return false;
  if (run.unseen !== undefined && words.some((word) => word.includes(EVERYTHING))) return false;
  return fitsSequence(
    words,
    run.words,
    isMany,
    (piece, word, index) => wordFits(piece, word, run, index),
    (_, index, star) => index > run.program && (star === WHATEVER || !run.exposed.has(index)),
  );
}

/** What these print is all they do, whatever they are given. */
const HARMLESS: ReadonlySet<string> = new Set(['echo', 'true', 'false', ':']);
const isHarmless = (run: Run, index: number): boolean => index > run.program && HARMLESS.has(run.words[run.program]?.text ?? '');

function wordFits(piece: string, { text, dynamic }: LineWord, run: Run, index: number): boolean {
  if (dynamic) return false;
  const star = piece.indexOf(EVERYTHING);
  if (star < 0) return piece === text;
  // An option is only named by a rule that has its whole name.
  if (run.exposed.has(index) && !piece.slice(0, star).includes('=')) return piece === text + EVERYTHING;
  // `src/*` is not for what leaves src again.
  if (/(?:^|[/=:])\.\.(?:\/|$)/.test(text)) return false;
  return fitsText(piece, text, index === run.program ? (sign) => sign !== '/' : undefined);
}

/** For a deny or an ask: `perhaps` when it depends on what the shell puts in. */
function touches(pattern: string, words: readonly string[], run: Run): 'yes' | 'perhaps' | 'no' {
  const behind = run.words.slice(run.program);
  const [first, ...args] = behind;
  const forms: readonly (readonly LineWord[])[] =
    first === undefined
      ? [run.words]
      : [
          run.words,
          behind,
          ...[args, withoutLeadingOptions(first.text, args)].map((rest) => [
            { ...first, text: programName(first.text) },
            ...rest,
          ]),
        ];
  const isFit = (isWild: boolean) => (form: readonly LineWord[]) =>
    fitsSequence(
      lowerFirst(words),
      lowerFirstWord(form),
      isMany,
      (piece, { text, dynamic }) => (isWild && dynamic) || fitsText(piece, text),
    );
  if (forms.some(isFit(false)) || forms.some((form) => fitsText(pattern, form.map(({ text }) => text).join(' ')))) return 'yes';
  return forms.some(isFit(true)) || mentions(words, run) ? 'perhaps' : 'no';
}

/** More words than this that name the program are too many to look at what follows each. */
const MENTIONS_MAX = 50;
/** Signs between words within a word: `'rm x'`, `--program=rm`, `exec:rm`. */
const BETWEEN = /[\s=:;,|&(){}<>"'`!@#$%\\[\]]+/;

/** Whether a word that may be a program that is run names what the rule is about: `tox exec -- rm`, `docker run x rm`. */
export function mentions(words: readonly string[], run: Run): boolean {
  const [named = '', ...rest] = words;
  const first = programName(named);
  if (/^\**$/.test(first)) return false;
  let found = 0;
  return run.loose.some(({ text }, index) => {
    const parts = [...text.split(BETWEEN), ...(/^-[A-Za-z]./.test(text) ? [text.slice(2)] : [])];
    return parts.some((part, at) => {
      if (part === '' || !fitsText(first, programName(part))) return false;
      found += 1;
      const behind = [...parts.slice(at + 1).map((one) => ({ text: one, dynamic: false })), ...run.loose.slice(index + 1)];
      const isFit = (given: readonly LineWord[]): boolean =>
        fitsSequence(rest, given, isMany, (piece, word) => word.dynamic || fitsText(piece, word.text));
      return found > MENTIONS_MAX || isFit(behind) || isFit(withoutLeadingOptions(programName(part), behind));
    });
  });
}

const lowerFirst = ([first = '', ...rest]: readonly string[]): readonly string[] => [first.toLowerCase(), ...rest];
const lowerFirstWord = ([first, ...rest]: readonly LineWord[]): readonly LineWord[] =>
  first === undefined ? [] : [{ ...first, text: first.text.toLowerCase() }, ...rest];

/** Options before the verb whose value is a word of its own. */
const VALUED: Readonly<Record<string, readonly string[]>> = {
  git: ['-c', '-C', '--git-dir', '--work-tree', '--namespace', '--config-env'],
  npm: ['--prefix', '-C', '--userconfig', '--loglevel', '-w', '--workspace'],
  docker: ['--host', '-H', '--context', '-c', '--config', '-l'],
  kubectl: ['-n', '--namespace', '--context', '--kubeconfig'],
};

/** `git -c a=b push` is a push. */
function withoutLeadingOptions(program: string, args: readonly LineWord[]): readonly LineWord[] {
  const valued = VALUED[programName(program)] ?? [];
  let index = 0;
  while (index < args.length && (args[index]?.text.startsWith('-') ?? false))
    index += valued.includes(args[index]?.text ?? '') ? 2 : 1;
  return args.slice(index);
}
