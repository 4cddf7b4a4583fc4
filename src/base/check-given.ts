/**
 * Looks at what a program hands over before anything is done with it. A compiler sees a misspelled name only where there is one:
 * elsewhere it would be a limit that nobody keeps.
 */
import { suggest } from './did-you-mean.ts';
import { TroupeError } from './errors.ts';

/** What is wrong with a value, in words that follow its name, such as `must be text`; `undefined` when it will do. */
export type Check = (value: unknown) => string | undefined;

/** A check for every name that may be given: one that the type has and the table has not is an error of the compiler. */
export type ChecksOf<Given> = Readonly<Record<keyof Given, Check>>;

const check =
  (fits: (value: unknown) => boolean, what: string): Check =>
  (value) =>
    fits(value) ? undefined : `must be ${what}, not ${shown(value)}`;

export const isText = check((value) => typeof value === 'string' && value.trim() !== '', 'text');
export const isWords = check((value) => typeof value === 'string', 'text');
export const isFlag = check((value) => typeof value === 'boolean', 'true or false');
export const isFunction = check((value) => typeof value === 'function', 'a function');
export const isObject = check((value) => typeof value === 'object' && value !== null && !Array.isArray(value), 'an object');
export const isAmount = check((value) => typeof value === 'number' && Number.isFinite(value) && value >= 0, 'a number from 0 on');
export const isCount = check((value) => Number.isSafeInteger(value) && Number(value) >= 0, 'a whole number from 0 on');
/** Of something that may take so many milliseconds: with none it could never be done. */
export const isTimeLimit = check((value) => Number.isSafeInteger(value) && Number(value) > 0, 'a whole number from 1 on');
export const isOneOf = (...values: readonly string[]): Check =>
  check((value) => typeof value === 'string' && values.includes(value), values.map((value) => `'${value}'`).join(' or '));

/** One that has all of these methods. Not by its class: programs and their test runners bring classes of their own. */
export const hasMethods = (what: string, ...methods: readonly string[]): Check =>
  check(
    (value) =>
      typeof value === 'object' &&
      value !== null &&
      methods.every((name) => name in value && typeof Reflect.get(value, name) === 'function'),
    what,
  );

/** An object with these names and no others. */
export const hasOnly =
  (checks: Readonly<Record<string, Check>>): Check =>
  (value) => {
    const unfit = isObject(value);
    const problems = unfit === undefined ? problemsOf(Object(value), checks, []) : [];
    return problems.length === 0 ? unfit : `cannot be: ${problems.join(' ')}`;
  };

/** A list of these, no two of one name. */
export const listOf =
  (one: Check): Check =>
  (value) => {
    if (!Array.isArray(value)) return `must be a list, not ${shown(value)}`;
    const problems = value.flatMap((entry, index) => {
      const problem = one(entry);
      return problem === undefined ? [] : [`cannot be: number ${index + 1} ${problem}`];
    });
    const names: unknown[] = value.map((entry) => entry?.name);
    const twice = names.find((name, index) => name !== undefined && names.indexOf(name) !== index);
    return problems[0] ?? (twice === undefined ? undefined : `has two of the name ${shown(twice)}`);
  };

export interface GivenRules {
  readonly needed?: readonly string[] | undefined;
  /** The code of the error; `usage` without it. */
  readonly code?: string | undefined;
}

/** Throws a `TroupeError` that names every problem. `what` is the function that was called. */
export function requireGiven(
  what: string,
  given: unknown,
  checks: Readonly<Record<string, Check>>,
  { needed = [], code = 'usage' }: GivenRules = {},
): void {
  const unfit = isObject(given);
  const problems = unfit === undefined ? problemsOf(Object(given), checks, needed) : [`what it is given ${unfit}`];
  if (problems.length === 0) return;
  throw new TroupeError(code, `${what}: ${problems.join('\n')}`, { fix: 'Correct the call; docs/library.md has every option.' });
}

function problemsOf(given: object, checks: Readonly<Record<string, Check>>, needed: readonly string[]): readonly string[] {
  const known = Object.keys(checks);
  const missing = needed.filter((name) => Reflect.get(given, name) === undefined).map((name) => `"${name}" is missing.`);
  const wrong = Object.entries(given).flatMap(([name, value]) => {
    const fits = Object.hasOwn(checks, name) ? checks[name] : undefined;
    if (fits === undefined) return [[`"${name}" is not known.`, suggest(name, known, 'names')].filter(Boolean).join(' ')];
    const problem = value === undefined ? undefined : fits(value);
    return problem === undefined ? [] : [`"${name}" ${problem}${problem.endsWith('.') ? '' : '.'}`];
  });
  return [...missing, ...wrong];
}

const SHOWN = 60;

/** Short values as they are, others by their kind: what a program gives may be long, or secret. */
function shown(value: unknown): string {
  if (typeof value === 'string') return value.length <= SHOWN ? JSON.stringify(value) : 'a long text';
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'a list' : 'an object';
  return String(value);
}
