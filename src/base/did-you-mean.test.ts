import { expect, it } from 'vitest';
import { nearest, suggest } from './did-you-mean.ts';

it.each([
  ['modle', 'model'],
  ['maxturns', 'maxTurns'],
  ['max_turns', 'maxTurns'],
  ['tool', 'tools'],
  ['zzz', undefined],
  ['', undefined],
  ['x'.repeat(1_000), undefined],
])('did you mean: for %s finds %s', (word, expected) => {
  expect(nearest(word, ['model', 'models', 'maxTurns', 'tools'])).toBe(expected);
});

it('lists what there is when nothing is near, and not without end', () => {
  expect(suggest('zzz', ['one', 'two'], 'things')).toBe('Known things: one, two.');
  expect(
    suggest(
      'zzz',
      Array.from({ length: 50 }, (_, index) => `name${index}`),
      'things',
    ),
  ).toMatch(/name11, …\.$/);
  expect(suggest('zzz', [], 'things')).toBeUndefined();
});
