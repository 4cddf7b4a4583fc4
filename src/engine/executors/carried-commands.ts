/**
 * The command lines that a call of an executor carries. Executors name them differently, and one that names several ways may run
 * any of them: all are read, with the variables that they are given. What cannot be read as a line is unclear.
 */
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';

export interface CarriedCommands {
  readonly lines: readonly string[];
  /** There is something else that may be a command, or be run with one. */
  readonly unclear: boolean;
}

const ONE = ['command', 'cmd', 'script'];
const SEVERAL = 'commands';
const VARIABLES = ['env', 'environment'];

const NONE: CarriedCommands = { lines: [], unclear: false };
const UNCLEAR: CarriedCommands = { lines: [], unclear: true };

export function commandsIn(input: Json | undefined): CarriedCommands {
  if (!isJsonObject(input)) return NONE;
  const several = valueAt(input, SEVERAL);
  const given = [
    ...ONE.flatMap((key) => valueAt(input, key)),
    ...several.flatMap((all) => (Array.isArray(all) ? all : [undefined])),
  ];
  if (given.length === 0) return several.length === 0 ? NONE : UNCLEAR;
  const variables = VARIABLES.flatMap((key) => valueAt(input, key)).map(assignmentsOf);
  const words = valueAt(input, 'args').map(wordsOf);
  const lines = given.map((one) =>
    lineOf(
      one,
      words.flatMap((all) => all ?? []),
    ),
  );
  if ([...variables, ...words, ...lines].includes(undefined)) return UNCLEAR;
  const before = variables.flatMap((all) => all ?? []);
  return { lines: [...new Set(lines.map((line) => [...before, line ?? ''].join(' ')))], unclear: false };
}

/** Nothing where it is not given. */
export function valueAt(input: JsonObject, key: string): readonly Json[] {
  const value = Object.hasOwn(input, key) ? input[key] : undefined;
  return value === undefined || value === null ? [] : [value];
}

function lineOf(given: Json | undefined, args: readonly string[]): string | undefined {
  if (typeof given === 'string') {
    if (given.trim() === '') return undefined;
    return args.length === 0 ? given : [given, ...args].map(quoted).join(' ');
  }
  const words = wordsOf(given);
  if (words === undefined || words.length === 0) return undefined;
  const [shell = '', flag = '', line = '', ...rest] = words;
  // `bash -lc '…'` runs the line.
  const isLine = rest.length === 0 && line !== '' && /(?:^|\/)(?:ba|z|da)?sh$/.test(shell) && /^-l?c$/.test(flag);
  return isLine && args.length === 0 ? line : [...words, ...args].map(quoted).join(' ');
}

const wordsOf = (given: Json | undefined): readonly string[] | undefined =>
  Array.isArray(given) && given.every((word) => typeof word === 'string') ? given : undefined;

/** As they would stand in front of the command. */
function assignmentsOf(given: Json): readonly string[] | undefined {
  if (!isJsonObject(given)) return undefined;
  const all = Object.entries(given);
  if (!all.every(([name, value]) => /^[A-Za-z_]\w*$/.test(name) && typeof value === 'string')) return undefined;
  return all.map(([name, value]) => `${name}=${quoted(String(value))}`);
}

/** As a shell would have to be told. */
const quoted = (word: string): string => (/^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);
