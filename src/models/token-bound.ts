/**
 * The most tokens that a text, a message or a list of tools can be, for any tokenizer in use: what is reserved before a call
 * must never be less than what is counted after it.
 *
 * All of them work on bytes in the end, so no text has more tokens than bytes, and for most characters that is the bound. Two
 * small letters next to each other are a token wherever the pair is in the vocabulary, and merging goes on until no two tokens
 * can be merged; so of three letters at least two are one token. The same holds for a space and the letter behind it, and for
 * spaces in a row. A test holds all this against real tokenizers.
 */
import type { Message } from '../events/messages.ts';
import type { ToolSpec } from './port.ts';

/** Small letters that are no token together with the one before, somewhere. */
const APART: Readonly<Record<string, string>> = {
  a: 'q',
  b: 'hjkqvwxz',
  c: 'gjqw',
  d: 'qv',
  e: 'o',
  f: 'hjkqvyz',
  g: 'dfjkmpqvwx',
  h: 'bcfgjkqvxz',
  i: 'q',
  j: 'cfghjnrvwxyz',
  k: 'dfjpqxz',
  l: 'cfhkqwxz',
  m: 'fghjrwz',
  n: 'fhjkqvwz',
  o: 'q',
  p: 'jqvwz',
  q: 'bcdefghjkmnoprsvwxyz',
  r: 'jkq',
  s: 'jxy',
  t: 'gjq',
  u: 'qu',
  v: 'fghjkpqvwxz',
  w: 'bcfgjklmquvz',
  x: 'bdghjkmnoqruvwz',
  y: 'bfhjquvx',
  z: 'bcfgjlpqrvx',
};

const A = 0x61;
const SPACE = 0x20;
const APOSTROPHE = 0x27;
const PAIRS: ReadonlySet<number> = new Set(
  Object.keys(APART).flatMap((first) =>
    Object.keys(APART)
      .filter((second) => APART[first]?.includes(second) !== true)
      .map((second) => pair(first.charCodeAt(0), second.charCodeAt(0))),
  ),
);

function pair(first: number, second: number): number {
  return (first - A) * 26 + second - A;
}

const isSmall = (code: number): boolean => code >= A && code < A + 26;
const isLetter = (code: number): boolean => isSmall(code | SPACE);

/** Some tokenizers put a mark before each text. */
const START = 1;

export function textBound(text: string): number {
  if (text === '') return 0;
  const plain = mostTokens(text);
  // Some tokenizers write characters in their plain form first, which can be longer.
  const normal = isAscii(text) ? text : text.normalize('NFKC');
  return START + (normal === text ? plain : Math.max(plain, mostTokens(normal)));
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII is what is meant.
const isAscii = (text: string): boolean => /^[\x00-\x7f]*$/.test(text);

/** The longest way to cut the text into tokens of which no two could be merged. */
function mostTokens(text: string): number {
  // Over all cuts of what was read so far: with a last token of one character, with a longer one, and either, one earlier.
  let single = Number.NEGATIVE_INFINITY;
  let longer = 0;
  let before = 0;
  for (let index = 0; index < text.length; index += 1) {
    const most = Math.max(single, longer);
    const alone = weight(text, index) + (merges(text, index) ? longer : most);
    longer = index === 0 ? Number.NEGATIVE_INFINITY : before + 1;
    single = alone;
    before = most;
  }
  return Math.max(single, longer);
}

/** Bytes; the second half of a character outside the first plane has none of its own. */
function weight(text: string, index: number): number {
  const code = text.charCodeAt(index);
  if (code < 0x80) return 1;
  if (code < 0x800) return 2;
  return code >= 0xd800 && code < 0xdc00 && (text.codePointAt(index) ?? 0) > 0xffff ? 4 : 3;
}

/** Whether this character cannot be a token of its own behind one that is. */
function merges(text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  const last = text.charCodeAt(index - 1);
  if (last === SPACE) return isLetter(code) || (code === SPACE && text.charCodeAt(index + 1) === SPACE);
  if (!isSmall(code) || !isSmall(last) || !PAIRS.has(pair(last, code))) return false;
  // Endings such as 's and 'll are cut off before anything is merged.
  return text.charCodeAt(index - 2) !== APOSTROPHE && text.charCodeAt(index - 3) !== APOSTROPHE;
}

/** What providers and chat templates put around things, at most. */
const AROUND = { message: 12, part: 16, tool: 32, schema: 64, request: 64, toolUse: 640 } as const;
/** What the common providers charge for a large image, at most, but for models that count images many times over. */
const IMAGE = 6_000;
const DEAR_IMAGE = 50_000;

const bounds = new WeakMap<Message, number>();

export function messageBound(model: string, message: Message): number {
  const images = imagesIn(message) * (/4o-mini/.test(model) ? DEAR_IMAGE : IMAGE);
  const known = bounds.get(message);
  if (known !== undefined) return known + images;
  let sum = AROUND.message;
  for (const part of message.content) sum += AROUND.part + partBound(part);
  bounds.set(message, sum);
  return sum + images;
}

function partBound(part: Message['content'][number]): number {
  switch (part.type) {
    case 'text':
      return textBound(part.text);
    case 'reasoning':
      return textBound(part.text) + jsonBound(part.opaque);
    case 'image':
      return 0;
    case 'tool-call':
      return textBound(part.id) + textBound(part.name) + jsonBound(part.input) + jsonBound(part.opaque);
    case 'tool-result': {
      let sum = textBound(part.id) + textBound(part.name);
      for (const item of part.content) sum += AROUND.part + partBound(item);
      return sum;
    }
  }
}

function imagesIn(message: Message): number {
  let images = 0;
  for (const part of message.content) {
    if (part.type === 'image') images += 1;
    if (part.type === 'tool-result') images += part.content.filter((item) => item.type === 'image').length;
  }
  return images;
}

const toolBounds = new WeakMap<ToolSpec, number>();

export function toolBound(tool: ToolSpec): number {
  const known = toolBounds.get(tool);
  if (known !== undefined) return known;
  const sum = AROUND.tool + textBound(tool.name) + textBound(tool.description) + jsonBound(tool.inputSchema);
  toolBounds.set(tool, sum);
  return sum;
}

/** What a request has beside its messages and tools. */
export function frameBound(system: string, withTools: boolean, outputSchema: unknown): number {
  const schema = outputSchema === undefined ? 0 : AROUND.schema + jsonBound(outputSchema);
  return AROUND.request + AROUND.message + textBound(system) + (withTools ? AROUND.toolUse : 0) + schema;
}

/** Compact: what a template that indents it adds are spaces, which take less room than the marks are counted at. */
function jsonBound(value: unknown): number {
  return value === undefined ? 0 : textBound(JSON.stringify(value));
}
