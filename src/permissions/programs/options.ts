/**
 * Options that are known to be harmless, written as they are typed:
 *
 *     -la --all       letters, alone or together; a name
 *     -n= --since=    with a value, behind it or as the next word
 *     -j=? --color=?  with a value behind it or none, never the next word
 *     -f=json,text    with one of these values
 *     --arg==         with two words behind it
 *     -#              a number: `-5`
 *
 * Names are compared whole: `--colo` is not known. `--testNamePattern` is the same as `--test-name-pattern`.
 */

type Value = 'none' | 'attached' | 'word' | 'two' | ReadonlySet<string>;
/** By name, with its dashes. */
export type Options = ReadonlyMap<string, Value>;

/** What an option is, and what it does with the words behind it. */
export interface OptionReading {
  readonly harmless: boolean;
  /** So many words behind it are its values. */
  readonly takes: number;
  /** What the value has to be one of. */
  readonly of?: ReadonlySet<string>;
}

const HARMLESS: OptionReading = { harmless: true, takes: 0 };
const UNKNOWN: OptionReading = { harmless: false, takes: 0 };
const NUMBER = '-#';

const read = new Map<string, Options>();

/** `oneDash`: one dash begins a whole name, as in `find . -name x`. */
export function optionsIn(text: string, oneDash: boolean): Options {
  const key = `${oneDash} ${text}`;
  const options = read.get(key) ?? parsed(text, oneDash);
  read.set(key, options);
  return options;
}

function parsed(text: string, oneDash: boolean): Options {
  const options = new Map<string, Value>();
  for (const word of text.split(/\s+/)) {
    const [, name = '', value] = /^([^=]+)(?:=(.*))?$/.exec(word) ?? [];
    const names =
      name.startsWith('--') || oneDash || name === NUMBER ? [spelled(name)] : [...name.slice(1)].map((one) => `-${one}`);
    for (const one of names) options.set(one, taking(value));
  }
  return options;
}

function taking(written: string | undefined): Value {
  if (written === undefined) return 'none';
  if (written === '') return 'word';
  if (written === '?') return 'attached';
  return written === '=' ? 'two' : new Set(written.split(','));
}

/** `known` are the options of the verb, of the program and so on. */
export function readOption(word: string, known: readonly Options[], oneDash: boolean): OptionReading {
  const find = (name: string): Value | undefined => known.find((options) => options.has(name))?.get(name);
  if (find(NUMBER) !== undefined && /^-\d+$/.test(word)) return HARMLESS;
  if (!word.startsWith('--') && !oneDash) return letters(word, find);
  const at = word.indexOf('=');
  return at < 0 ? withValue(find(spelled(word)), undefined) : withValue(find(spelled(word.slice(0, at))), word.slice(at + 1));
}

function letters(word: string, find: (name: string) => Value | undefined): OptionReading {
  for (let index = 1; index < word.length; index += 1) {
    const value = find(`-${word[index]}`);
    if (value === 'none') continue;
    const rest = word.slice(index + 1);
    return withValue(value, rest === '' ? undefined : rest.replace(/^=/, ''));
  }
  return HARMLESS;
}

function withValue(value: Value | undefined, given: string | undefined): OptionReading {
  // A value that reads like an option may become one of a program that is run with it.
  if (value === undefined || (given !== undefined && /^--|^-[^=]*=/.test(given))) return UNKNOWN;
  if (value === 'attached') return HARMLESS;
  if (value === 'none') return given === undefined || /^(?:true|false)$/.test(given) ? HARMLESS : UNKNOWN;
  if (value === 'word' || value === 'two')
    return { harmless: true, takes: (value === 'two' ? 2 : 1) - (given === undefined ? 0 : 1) };
  if (given === undefined) return { harmless: true, takes: 1, of: value };
  return value.has(given) ? HARMLESS : UNKNOWN;
}

/** `--outputFile` and `--output_file` as `--output-file`; what one dash begins is taken as it is. */
function spelled(name: string): string {
  if (!name.startsWith('--')) return name;
  return name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1-$2')
    .replaceAll('_', '-')
    .toLowerCase();
}
