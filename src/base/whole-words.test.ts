import fc from 'fast-check';
import { expect, it } from 'vitest';
import { endOf, startOf } from './whole-words.ts';

it('a text is cut between whole words', () => {
  expect(startOf('the token abcdef123 is', 14)).toBe('the token');
  expect(startOf('the token abcdef123 is', 19)).toBe('the token abcdef123');
  expect(endOf('the token abcdef123 is', 8)).toBe('is');
  expect(endOf('short', 10)).toBe('short');
  expect(startOf('{"a":"b","token":"abcdef123"}', 22)).toBe('{"a":"b","token":"');
});

it('never leaves a part of a secret, wherever it is cut', () => {
  const words = fc.array(fc.stringMatching(/^[a-z]{1,9}$/), { minLength: 1, maxLength: 30 });
  const secret = `ghp_${'a1B2'.repeat(9)}`;
  fc.assert(
    fc.property(words, words, fc.nat(400), (before, after, length) => {
      const text = [...before, secret, ...after].join(' ');
      for (const cut of [startOf(text, length), endOf(text, length)]) {
        expect(cut.length).toBeLessThanOrEqual(length);
        expect(text.includes(cut)).toBe(true);
        expect(cut.replaceAll(secret, '')).not.toMatch(/a1B2|ghp_/);
      }
    }),
  );
});
