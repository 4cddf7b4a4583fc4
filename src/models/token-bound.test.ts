/** What is reserved is never less than what real tokenizers count. */
import { getTokenizer } from '@anthropic-ai/tokenizer';
import fc from 'fast-check';
import { encode as cl100k } from 'gpt-tokenizer/encoding/cl100k_base';
import { encode as o200k } from 'gpt-tokenizer/encoding/o200k_base';
import llama2 from 'llama-tokenizer-js';
import llama3 from 'llama3-tokenizer-js';
import { describe, expect, it } from 'vitest';
import type { Message } from '../events/messages.ts';
import { userText } from '../events/messages.ts';
import type { ToolSpec } from './port.ts';
import { frameBound, messageBound, textBound, toolBound } from './token-bound.ts';

const claude = getTokenizer();
const asText = { disallowedSpecial: new Set<string>() };
const tokenizers: Readonly<Record<string, (text: string) => number>> = {
  o200k: (text) => o200k(text, asText).length,
  cl100k: (text) => cl100k(text, asText).length,
  claude: (text) => claude.encode(text.normalize('NFKC'), 'all').length,
  llama3: (text) => llama3.encode(text, { bos: false, eos: false }).length,
  // With and without the space that some put before each text.
  llama2: (text) => Math.max(llama2.encode(text, false).length - 1, llama2.encode(text, false, false).length),
};

function mostCounted(text: string): number {
  return Math.max(...Object.values(tokenizers).map((count) => count(text)));
}

const from = (...ranges: readonly (readonly [first: number, last: number])[]) =>
  fc
    .array(fc.oneof(...ranges.map(([first, last]) => fc.integer({ min: first, max: last }))), { maxLength: 60 })
    .map((codes) => String.fromCodePoint(...codes));

const words = (text: fc.Arbitrary<string>) => fc.array(text, { maxLength: 12 }).map((parts) => parts.join(' '));

const scripts: Readonly<Record<string, fc.Arbitrary<string>>> = {
  'small letters': from([0x61, 0x7a]),
  words: words(from([0x61, 0x7a])),
  'rare letters': fc.string({ unit: fc.constantFrom(...'qxzjvwkgf '), maxLength: 60 }),
  'letters and marks': fc.string({ unit: fc.constantFrom(...`aelstdmrv' "AZ.`), maxLength: 60 }),
  'capital letters': words(from([0x41, 0x5a])),
  digits: words(from([0x30, 0x39])),
  spaces: fc.string({ unit: fc.constantFrom(' ', '  ', '\t', '\n', 'a', '7', '.', '\r\n'), maxLength: 60 }),
  ascii: from([0x20, 0x7e]),
  'control characters': from([0, 0x1f], [0x7f, 0x9f]),
  hex: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes).toString('hex')),
  base64: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes).toString('base64')),
  json: fc.json({ maxDepth: 4 }),
  latin: words(from([0xa0, 0x24f], [0x61, 0x7a])),
  'greek and cyrillic': words(from([0x370, 0x52f])),
  'arabic and hebrew': words(from([0x590, 0x6ff], [0xfb50, 0xfdff])),
  devanagari: words(from([0x900, 0x97f])),
  thai: from([0xe00, 0xe7f]),
  'chinese and japanese': from([0x3040, 0x30ff], [0x4e00, 0x9fff]),
  korean: words(from([0xac00, 0xd7a3])),
  'rare chinese': from([0x3400, 0x4dbf], [0x20000, 0x2ebe0]),
  emoji: fc.string({ unit: fc.constantFrom('👩', '‍', '💻', '🏽', '🇩', '🇪', '❤️', '1️⃣', '🫠'), maxLength: 40 }),
  'signs and plain forms': from([0x2000, 0x2bff], [0xf900, 0xffef]),
  'private and unassigned': from([0xe000, 0xf8ff], [0xe0000, 0xe01ef]),
  anything: fc.string({ unit: 'binary', maxLength: 80 }),
  'half characters': fc.string({ unit: fc.constantFrom('\ud800', '\udbff', '\udc00', 'a', '漢', '😀'), maxLength: 40 }),
};

describe('a text has no more tokens than its bound', () => {
  it.each(Object.entries(scripts))('%s', (_name, script) => {
    fc.assert(
      fc.property(script, (text) => {
        expect(mostCounted(text)).toBeLessThanOrEqual(textBound(text));
      }),
      { numRuns: 150 },
    );
  });

  it('however the letters meet', () => {
    const letters = 'abcdefghijklmnopqrstuvwxyz';
    for (const first of letters) {
      const rows = [...letters].map((second) => `${first}${second}`);
      const text = [rows.join(''), rows.join(' '), rows.join("'"), rows.join('A')].join('\n');
      expect(mostCounted(text)).toBeLessThanOrEqual(textBound(text));
      // One token of the bound is for the mark that some put before each text.
      for (const two of rows) expect(mostCounted(two)).toBeLessThanOrEqual(textBound(two) - 1);
    }
  });
});

const name = fc.stringMatching(/^[a-z_-]{1,20}$/);
const anyText = fc.oneof(...Object.values(scripts));
const tool: fc.Arbitrary<ToolSpec> = fc.record({
  name,
  description: anyText,
  inputSchema: fc.record({
    type: fc.constant('object'),
    properties: fc.dictionary(name, fc.record({ type: fc.constantFrom('string', 'number'), description: anyText })),
    required: fc.array(name, { maxLength: 4 }),
  }),
});
const message: fc.Arbitrary<Message> = fc.oneof(
  anyText.map((text): Message => userText(text)),
  fc.record({ text: anyText, tool: name, argument: anyText }).map(
    ({ text, tool: called, argument }): Message => ({
      role: 'assistant',
      content: [
        { type: 'text', text },
        { type: 'tool-call', id: 'call_1', name: called, input: { argument } },
      ],
    }),
  ),
  fc.record({ text: anyText, tool: name }).map(
    ({ text, tool: called }): Message => ({
      role: 'tool',
      content: [{ type: 'tool-result', id: 'call_1', name: called, content: [{ type: 'text', text }] }],
    }),
  ),
);

/** A request as chat templates write it: the tools as JSON in front, each message between marks. */
function written(system: string, tools: readonly ToolSpec[], messages: readonly Message[], indent: number): string {
  const parts = messages.map(({ role, content }) => {
    const texts = content.map((part) => {
      if (part.type === 'text') return part.text;
      if (part.type === 'tool-call') return JSON.stringify({ id: part.id, name: part.name, arguments: part.input }, null, indent);
      if (part.type !== 'tool-result') return '';
      return `${part.id} ${part.name}\n${part.content.map((item) => (item.type === 'text' ? item.text : '')).join('\n')}`;
    });
    return `<|im_start|>${role}\n${texts.join('\n')}<|im_end|>\n`;
  });
  const offered = tools.map((one) => JSON.stringify({ type: 'function', function: one }, null, indent)).join('\n');
  return [`<|im_start|>system\n${system}\n${offered}<|im_end|>\n`, ...parts, '<|im_start|>assistant\n'].join('');
}

describe('a request has no more tokens than its bound', () => {
  it.each([0, 4])('with any messages and any tools, indented by %i', (indent) => {
    fc.assert(
      fc.property(anyText, fc.array(tool, { maxLength: 4 }), fc.array(message, { maxLength: 6 }), (system, tools, messages) => {
        // What a provider adds for the use of tools as such is not there to hide mistakes.
        const frame = frameBound(system, false, undefined);
        const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);
        const bound = frame + sum(tools.map(toolBound)) + sum(messages.map((one) => messageBound('any', one)));
        expect(mostCounted(written(system, tools, messages, indent))).toBeLessThanOrEqual(bound);
      }),
      { numRuns: 150 },
    );
  });

  it('counts an image at what it may cost', () => {
    const image: Message = { role: 'user', content: [{ type: 'image', mediaType: 'image/png', data: 'x' }] };
    const shown: Message = {
      role: 'tool',
      content: [{ type: 'tool-result', id: 'c', name: 'look', content: [...image.content] }],
    };
    for (const one of [image, image, shown]) expect(messageBound('openai/gpt-5', one)).toBeGreaterThan(6_000);
    expect(messageBound('openai/gpt-4o-mini', image)).toBeGreaterThan(48_169);
  });
});
