/**
 * Reads tool arguments that are almost JSON: trailing or missing commas, single quotes, bare keys, Python's constants,
 * comments, code fences, raw control characters in strings, missing closing brackets.
 *
 * What was cut off inside a value is not repaired: half a file name or half a number is a different value, and a tool
 * would act on it. Pure, linear in the length of the text, bounded by `limits.repairCharacters` and `limits.repairDepth`.
 */
import type { Json } from '../../base/json.ts';
import { limits } from '../../base/limits.ts';

/** The value that was meant, or `undefined` when that cannot be said. Only objects and arrays are repaired. */
export function repairJson(text: string): Json | undefined {
  if (text.length > limits.repairCharacters) return undefined;
  const cursor: Cursor = { text: withoutFence(text), at: 0 };
  skipBlank(cursor);
  const first = cursor.text[cursor.at];
  if (first !== '{' && first !== '[') return undefined;
  const value = readValue(cursor, 0);
  if (value === BROKEN) return undefined;
  skipBlank(cursor);
  while (cursor.at < cursor.text.length && '}]);,'.includes(cursor.text.charAt(cursor.at))) {
    cursor.at += 1;
    skipBlank(cursor);
  }
  return cursor.at >= cursor.text.length ? value : undefined;
}

interface Cursor {
  readonly text: string;
  at: number;
}

const BROKEN = Symbol('broken');
type Read = Json | typeof BROKEN;

const BARE_WORD = /[A-Za-z_$][\w$-]*/y;
const NUMBER = /[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/y;
const BLANK = /[\s\uFEFF]+/y;
const LINE_COMMENT = /\/\/[^\n]*/y;
const CONSTANTS = new Map<string, Json>([
  ['true', true],
  ['True', true],
  ['false', false],
  ['False', false],
  ['null', null],
  ['None', null],
  ['undefined', null],
]);
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f' };
const CLOSING_QUOTE: Readonly<Record<string, string>> = { '"': '"', "'": "'", '`': '`', '“': '”' };

function withoutFence(text: string): string {
  const trimmed = text.trim();
  if (!trimmed.startsWith('```')) return text;
  const opened = trimmed.slice(3).replace(/^[A-Za-z0-9]{1,20}\s/, '');
  return opened.endsWith('```') ? opened.slice(0, -3) : opened;
}

function readValue(cursor: Cursor, depth: number): Read {
  if (depth > limits.repairDepth) return BROKEN;
  skipBlank(cursor);
  const character = cursor.text[cursor.at];
  if (character === undefined) return BROKEN;
  if (character === '{') return readObject(cursor, depth);
  if (character === '[') return readArray(cursor, depth);
  if (CLOSING_QUOTE[character] !== undefined) return readString(cursor);
  const number = take(cursor, NUMBER);
  // At the very end nobody knows whether more digits were to come.
  if (number !== undefined) return cursor.at < cursor.text.length && Number.isFinite(Number(number)) ? Number(number) : BROKEN;
  const word = take(cursor, BARE_WORD);
  return word === undefined ? BROKEN : (CONSTANTS.get(word) ?? (CONSTANTS.has(word) ? null : BROKEN));
}

function readObject(cursor: Cursor, depth: number): Read {
  const result: Record<string, Json> = {};
  cursor.at += 1;
  for (;;) {
    skipSeparators(cursor);
    const character = cursor.text[cursor.at];
    if (character === undefined) return result;
    if (character === '}') {
      cursor.at += 1;
      return result;
    }
    if (character === ']') return result;
    const key = CLOSING_QUOTE[character] === undefined ? (take(cursor, BARE_WORD) ?? take(cursor, NUMBER)) : readString(cursor);
    if (typeof key !== 'string') return BROKEN;
    skipBlank(cursor);
    if (cursor.text[cursor.at] !== ':') return BROKEN;
    cursor.at += 1;
    const value = readValue(cursor, depth + 1);
    if (value === BROKEN) return BROKEN;
    // As JSON.parse does: `__proto__` is a key like any other.
    Object.defineProperty(result, key, { value, enumerable: true, configurable: true, writable: true });
  }
}

function readArray(cursor: Cursor, depth: number): Read {
  const result: Json[] = [];
  cursor.at += 1;
  for (;;) {
    skipSeparators(cursor);
    const character = cursor.text[cursor.at];
    if (character === undefined || character === '}') return result;
    if (character === ']') {
      cursor.at += 1;
      return result;
    }
    const value = readValue(cursor, depth + 1);
    if (value === BROKEN) return BROKEN;
    result.push(value);
  }
}

function readString(cursor: Cursor): string | typeof BROKEN {
  const closing = CLOSING_QUOTE[cursor.text.charAt(cursor.at)];
  cursor.at += 1;
  let result = '';
  while (cursor.at < cursor.text.length) {
    const character = cursor.text.charAt(cursor.at);
    cursor.at += 1;
    if (character === closing) return result;
    result += character === '\\' ? readEscape(cursor) : character;
  }
  return BROKEN;
}

function readEscape(cursor: Cursor): string {
  const character = cursor.text.charAt(cursor.at);
  cursor.at += 1;
  if (character !== 'u') return ESCAPES[character] ?? character;
  const digits = cursor.text.slice(cursor.at, cursor.at + 4);
  if (!/^[0-9a-fA-F]{4}$/.test(digits)) return 'u';
  cursor.at += 4;
  return String.fromCharCode(Number.parseInt(digits, 16));
}

function skipBlank(cursor: Cursor): void {
  while (take(cursor, BLANK) ?? take(cursor, LINE_COMMENT) ?? takeBlockComment(cursor)) {
    // each round takes at least one character
  }
}

function takeBlockComment(cursor: Cursor): string | undefined {
  if (!cursor.text.startsWith('/*', cursor.at)) return undefined;
  const end = cursor.text.indexOf('*/', cursor.at + 2);
  const comment = cursor.text.slice(cursor.at, end === -1 ? undefined : end + 2);
  cursor.at += comment.length;
  return comment;
}

function skipSeparators(cursor: Cursor): void {
  skipBlank(cursor);
  while (cursor.text[cursor.at] === ',') {
    cursor.at += 1;
    skipBlank(cursor);
  }
}

function take(cursor: Cursor, pattern: RegExp): string | undefined {
  pattern.lastIndex = cursor.at;
  const match = pattern.exec(cursor.text);
  if (match === null) return undefined;
  cursor.at += match[0].length;
  return match[0];
}
