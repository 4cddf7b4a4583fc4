/** Turns what the schema objects to into sentences at the right place of the file. */
import type { z } from 'zod';
import { suggest } from '../../base/did-you-mean.ts';
import { type Diagnostic, errorAt, quote } from '../text/diagnostics.ts';
import type { Path, PlaceOf } from '../text/yaml-map.ts';
import { knownKeysAt } from './json-schema.ts';

type Issue = z.core.$ZodIssue;

/** The file that is spoken of. */
interface Subject {
  readonly placeOf: PlaceOf;
  /** What the schema knows at a place. */
  readonly keysAt: (path: Path) => readonly string[];
}

/** For issues that were reported with their input. */
export function diagnoseIssues(
  issues: readonly Issue[],
  placeOf: PlaceOf,
  keysAt: Subject['keysAt'] = knownKeysAt,
): readonly Diagnostic[] {
  return issues.flatMap((issue) => diagnose(issue, issue.path, { placeOf, keysAt }));
}

function diagnose(issue: Issue, path: Path, file: Subject): readonly Diagnostic[] {
  const { placeOf } = file;
  if (issue.code === 'unrecognized_keys') return unknownKeys(path, issue.keys, file);
  if (issue.code === 'invalid_key') return [wrongKey(issue, path, placeOf)];
  if (issue.input === undefined && path.length > 0) return [missingKey(path, placeOf)];
  if (issue.code === 'invalid_union') return diagnoseUnion(issue, path, file);
  if (issue.input === null) {
    return [errorAt(placeOf(path, 'key'), `${subject(path)} has no value`, 'Give it a value or remove the line.')];
  }
  const { message, fix } = describe(issue);
  return [errorAt(placeOf(path), `${subject(path)} ${message}`, fix)];
}

function unknownKeys(path: Path, keys: readonly string[], { placeOf, keysAt }: Subject): readonly Diagnostic[] {
  const known = keysAt(path);
  const where = path.length === 0 ? '' : ` in ${subject(path)}`;
  return keys.map((key) =>
    errorAt(placeOf([...path, key], 'key'), `unknown key ${quote(key)}${where}`, suggest(key, known, 'keys')),
  );
}

function missingKey(path: Path, placeOf: PlaceOf): Diagnostic {
  const parent = path.slice(0, -1);
  const key = String(path.at(-1));
  return errorAt(placeOf(parent, 'key'), `${subject(parent)} needs the key "${key}"`, `Add \`${key}: …\` to it.`);
}

function wrongKey({ issues }: z.core.$ZodIssueInvalidKey, path: Path, placeOf: PlaceOf): Diagnostic {
  const [first] = issues;
  const said = issues.find(({ message }) => message.startsWith('must'))?.message;
  const why = said ?? (first === undefined ? 'cannot be a name' : describe(first).message);
  return errorAt(placeOf(path, 'key'), `the name ${quote(String(path.at(-1)))} in ${subject(path.slice(0, -1))} ${why}`);
}

/** Speaks about the alternative that the author was writing: the one whose outermost type fits. */
function diagnoseUnion(issue: z.core.$ZodIssueInvalidUnion, path: Path, file: Subject): readonly Diagnostic[] {
  if (issue.input === null) return diagnose({ ...issue, code: 'custom', params: {} }, path, file);
  const fitting = issue.errors.filter(
    (branch) => !branch.some((inner) => inner.path.length === 0 && (isWrongType(inner) || isWrongWord(inner, issue.input))),
  );
  const meant = fitting.toSorted((left, right) => left.length - right.length)[0];
  if (meant !== undefined) return meant.flatMap((inner) => diagnose(inner, [...path, ...inner.path], file));
  const expected = new Set(
    issue.errors.flatMap((branch) => branch.flatMap((inner) => (inner.path.length === 0 ? expectedOf(inner) : []))),
  );
  const message =
    expected.size === 0
      ? `${subject(path)} cannot be ${plainValue(issue.input)}`
      : `${subject(path)} must be ${[...expected].join(' or ')}, not ${plainValue(issue.input)}`;
  return [errorAt(file.placeOf(path), message)];
}

function expectedOf(issue: Issue): readonly string[] {
  if (isWrongType(issue)) return [plainType(issue.expected)];
  return issue.code === 'invalid_value' ? [choiceOf(issue.values.map(String))] : [];
}

const choiceOf = (words: readonly string[]): string =>
  words.length === 1 ? `the word ${words[0]}` : `one of ${words.join(', ')}`;

/** Where a word was expected, and what stands there is no word at all. */
const isWrongWord = (issue: Issue, input: unknown): boolean =>
  issue.code === 'invalid_value' && !issue.values.some((value) => typeof value === typeof input);

function isWrongType(issue: Issue): issue is z.core.$ZodIssueInvalidType {
  return issue.code === 'invalid_type';
}

function describe(issue: Issue): { readonly message: string; readonly fix?: string | undefined } {
  switch (issue.code) {
    case 'invalid_type': {
      const fix =
        issue.expected === 'array' && typeof issue.input === 'string' ? `Write [${issue.input.slice(0, 60)}].` : undefined;
      return { message: `must be ${plainType(issue.expected)}, not ${plainValue(issue.input)}`, fix };
    }
    case 'invalid_value': {
      const choices = issue.values.map(String);
      const fix = suggest(String(issue.input), choices, 'values');
      return { message: `must be one of ${choices.join(', ')}, not ${plainValue(issue.input)}`, fix };
    }
    case 'too_small':
      return { message: tooSmall(issue) };
    case 'too_big':
      return { message: tooBig(issue) };
    case 'invalid_format':
      if (issue.message.startsWith('must')) return { message: issue.message };
      return {
        message:
          issue.format === 'url' ? `must be a URL, not ${plainValue(issue.input)}` : `cannot be ${plainValue(issue.input)}`,
      };
    case 'custom':
      // Written by us: the schema's own words are for programmers.
      return { message: issue.message };
    case 'not_multiple_of':
      return { message: `must be a multiple of ${issue.divisor}` };
    default:
      return { message: `cannot be ${plainValue(issue.input)}` };
  }
}

function tooSmall(issue: z.core.$ZodIssueTooSmall): string {
  const { origin, minimum, inclusive } = issue;
  if (origin === 'array') return `must have at least ${minimum} ${minimum === 1 ? 'entry' : 'entries'}`;
  if (origin === 'string') return 'must not be empty';
  return inclusive === false ? `must be more than ${minimum}` : `must be at least ${minimum}`;
}

function tooBig(issue: z.core.$ZodIssueTooBig): string {
  const { origin, maximum } = issue;
  if (origin === 'array') return `must have at most ${maximum} entries`;
  if (origin === 'string') return `must be at most ${maximum} characters long`;
  return `must be at most ${maximum}`;
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a map of keys',
  record: 'a map of keys',
};

function plainType(expected: string): string {
  return TYPES[expected] ?? expected;
}

/** Short values are shown, long ones named. */
function plainValue(value: unknown): string {
  if (typeof value === 'string') return quote(value);
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (value === null) return 'empty';
  return Array.isArray(value) ? 'a list' : 'a map of keys';
}

/** `"team.members[2]"`. */
function subject(path: Path): string {
  if (path.length === 0) return 'the frontmatter';
  const text = path.map((step) => (typeof step === 'number' ? `[${step + 1}]` : `.${String(step)}`)).join('');
  return quote(text.slice(1));
}
