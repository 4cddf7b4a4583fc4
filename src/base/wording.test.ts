import { expect, it } from 'vitest';
import { counted, sentence } from './wording.ts';

it('counted says one thing or many as people do', () => {
  expect([0, 1, 2].map((count) => counted(count, 'turn'))).toEqual(['0 turns', '1 turn', '2 turns']);
  expect([1, 2].map((count) => counted(count, 'entry', 'entries'))).toEqual(['1 entry', '2 entries']);
});

it.each([
  ['no key', 'no key.'],
  ['No key.', 'No key.'],
  ['Why?', 'Why?'],
  ['and so on …\n', 'and so on …'],
])('%s ends as %s', (text, expected) => {
  expect(sentence(text)).toBe(expected);
});
