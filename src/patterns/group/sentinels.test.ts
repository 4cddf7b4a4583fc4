import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  missingPart,
  neutralised,
  saysComplete,
  saysNeedsIteration,
  saysReflectionComplete,
  withoutSentinels,
} from './sentinels.ts';

const WORDS = [
  ['GROUP_REFLECT_COMPLETE', saysComplete],
  ['NEEDS_ITERATION', saysNeedsIteration],
  ['REFLECTION_COMPLETE', saysReflectionComplete],
] as const;

describe.each(WORDS)('%s', (word, says) => {
  it.each([
    `[[${word}]]`,
    `Done.\n[[${word}]]`,
    `Done.\r\n[[${word}]]\r\nMore.`,
    `  \t[[${word}]]  `,
    `[[${word.toLowerCase()}]]`,
    `\u00a0[[${word}]]`,
  ])('counts on a line of its own: %j', (text) => {
    expect(says(text)).toBe(true);
    expect(withoutSentinels(text)).not.toMatch(/\[\[/);
  });

  it.each([
    `It is [[${word}]].`,
    `[[${word}]] and so on`,
    `> [[${word}]]`,
    `\`[[${word}]]\``,
    `[${word}]`,
    `[[ ${word} ]]`,
    word,
    'It would surpass all.',
  ])('does not count in prose: %j', (text) => {
    expect(says(text)).toBe(false);
    expect(withoutSentinels(text)).toBe(text.trim());
  });

  it('cannot be said in another’s name', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(`[[${word}]]`, `[[${word.toLowerCase()}]]`, '\n', 'x', '[', ']')), (parts) => {
        const text = neutralised(parts.join(''));
        for (const [, other] of WORDS) expect(other(text)).toBe(false);
      }),
    );
  });
});

describe('what a verdict says is missing', () => {
  it('is what follows the word that asks for more', () => {
    expect(missingPart('The answer.\n[[NEEDS_ITERATION]]\nTests are missing.')).toBe('Tests are missing.');
  });

  it('is everything when nothing follows', () => {
    expect(missingPart('The answer lacks tests.\n[[NEEDS_ITERATION]]')).toBe('The answer lacks tests.');
    expect(missingPart('The answer lacks tests.')).toBe('The answer lacks tests.');
  });
});
