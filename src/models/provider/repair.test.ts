import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { limits } from '../../base/limits.ts';
import { repairJson } from './repair.ts';

const repaired: readonly (readonly [name: string, text: string, value: unknown])[] = [
  ['trailing commas', '{"a": [1, 2,], "b": 3,}', { a: [1, 2], b: 3 }],
  ['missing commas', '{"a": 1 "b": [1 2]}', { a: 1, b: [1, 2] }],
  ['single quotes', "{'path': 'it\\'s.txt'}", { path: "it's.txt" }],
  ['bare keys', '{path: "a.txt", max-depth: 2}', { path: 'a.txt', 'max-depth': 2 }],
  ['missing closing brackets', '{"a": {"b": ["c"', { a: { b: ['c'] } }],
  ['wrong closing bracket', '{"a": ["b"}', { a: ['b'] }],
  ['too many closing brackets', '{"a": "b"}}', { a: 'b' }],
  ['code fence', '```json\n{"a": "b",}\n```', { a: 'b' }],
  ['code fence without end', '```\n{"a": "b"', { a: 'b' }],
  ['control characters in strings', '{"text": "one\ntwo\tthree"}', { text: 'one\ntwo\tthree' }],
  ['constants of Python', "{'a': True, 'b': False, 'c': None}", { a: true, b: false, c: null }],
  ['comments', '{"a": 1, // one\n /* two */ "b": 2}', { a: 1, b: 2 }],
  ['bad escapes', '{"path": "C:\\dir\\u12"}', { path: 'C:diru12' }],
];

const refused: readonly (readonly [name: string, text: string])[] = [
  ['a text cut inside a string', '{"path": "/etc/pas'],
  ['a text cut inside a number', '{"count": 12'],
  ['a text cut before a value', '{"a": 1, "b":'],
  ['a text cut inside a key', '{"a": 1, "b'],
  ['prose', 'I will now call the tool.'],
  ['prose after the value', '{"a": 1,} and then some'],
  ['a bare string', '"text'],
  ['unknown words', '{"a": maybe}'],
  ['nothing', ''],
];

describe('repairJson', () => {
  for (const [name, text, value] of repaired) it(`repairs ${name}`, () => expect(repairJson(text)).toEqual(value));
  for (const [name, text] of refused) it(`refuses ${name}`, () => expect(repairJson(text)).toBeUndefined());

  it('keeps a key called __proto__ a key', () => {
    const value = repairJson('{"__proto__": {"admin": true},}');
    expect(Object.keys(Object(value))).toEqual(['__proto__']);
    expect(Object(value).admin).toBeUndefined();
  });

  it('refuses what is nested too deep or too long, instead of overflowing', () => {
    expect(repairJson('['.repeat(100_000))).toBeUndefined();
    expect(repairJson(`{"a": "${'x'.repeat(limits.repairCharacters)}",}`)).toBeUndefined();
  });

  it('reads every JSON object as JSON.parse does', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 })), (object) => {
        const text = JSON.stringify(object);
        expect(repairJson(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  it('never throws, and never takes long, whatever it is given', () => {
    const pieces = fc.array(
      fc.constantFrom('{', '}', '[', ']', ',', ':', '"', "'", '\\', '/*', '*/', '//', '\n', '```', 'a', '1', 'true', '\\u', '“'),
      { maxLength: 200 },
    );
    fc.assert(
      fc.property(pieces, (parts) => {
        repairJson(parts.join(''));
      }),
      { numRuns: 2_000 },
    );
    // So much that anything but a walk through it would not come back.
    repairJson(`{${'/*'.repeat(500_000)}`);
    repairJson(`\`\`\`${' \n'.repeat(500_000)}x`);
  });
});
