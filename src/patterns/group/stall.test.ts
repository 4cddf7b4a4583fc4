import { describe, expect, it } from 'vitest';
import { checkStall, jaccard, noStall, type StallVerdict, trendOf } from './stall.ts';

const words = (from: number, count: number): string => Array.from({ length: count }, (_, index) => `w${from + index}`).join(' ');

/** The verdict on each text in turn. */
function verdicts(texts: readonly string[], progressed: readonly boolean[] = []): StallVerdict[] {
  let state = noStall;
  return texts.map((text, index) => {
    const checked = checkStall(state, text, progressed[index] ?? false);
    state = checked.state;
    return checked.verdict;
  });
}

describe('workers that say the same again', () => {
  it('warns once and stops at the second in a row', () => {
    expect(verdicts(['a', 'a', 'a'])).toEqual(['moving', 'warn', 'stalled']);
  });

  it('forgives when something else comes in between', () => {
    expect(verdicts(['a', 'a', 'something new', 'a b c', 'x'])).toEqual(['moving', 'warn', 'moving', 'moving', 'moving']);
  });

  it('finds an exact repetition within the last five', () => {
    const five = ['one', 'two', 'three', 'four', 'five'];
    expect(verdicts([...five, 'one']).at(-1)).toBe('warn');
    expect(verdicts([...five, 'six', 'one']).at(-1)).toBe('moving');
  });

  it('is alike above nine tenths, not at nine tenths', () => {
    // 19 words in common of 20 altogether; 9 of 10.
    expect(jaccard(words(0, 20), words(0, 19))).toBe(0.95);
    expect(verdicts([words(0, 20), words(0, 19)])).toEqual(['moving', 'warn']);
    expect(jaccard(words(0, 10), words(0, 9))).toBe(0.9);
    expect(verdicts([words(0, 10), words(0, 9)])).toEqual(['moving', 'moving']);
  });

  it('compares nearly the same only with the last', () => {
    expect(verdicts([words(0, 20), words(100, 20), words(0, 19)])).toEqual(['moving', 'moving', 'moving']);
  });

  it('is outranked by progress', () => {
    expect(verdicts(['a', 'a', 'a', 'a'], [false, true, true, true])).toEqual(['moving', 'moving', 'moving', 'moving']);
    expect(verdicts(['a', 'a', 'a', 'a', 'a'], [false, false, true, false, false])).toEqual([
      'moving',
      'warn',
      'moving',
      'warn',
      'stalled',
    ]);
  });

  it('counts anew from an empty state', () => {
    const { state } = checkStall(checkStall(noStall, 'a', false).state, 'a', false);
    expect(state.consecutive).toBe(1);
    expect(checkStall(noStall, 'a', false).verdict).toBe('moving');
  });

  it.each([
    ['', '', 1],
    ['a b', '', 0],
    ['a  b\n', 'b a', 1],
    ['a b c', 'b c d', 0.5],
  ])('%j and %j share %d', (left, right, shared) => {
    expect(jaccard(left, right)).toBe(shared);
  });
});

describe('the trend of scores', () => {
  it.each([
    [[], 'stable'],
    [[0.2], 'stable'],
    [[0.5, 0.6], 'stable'],
    [[0.5, 0.61], 'improving'],
    [[0.8, 0.7], 'stable'],
    [[0.8, 0.69], 'degrading'],
    [[0.1, 0.9, 0.9], 'stable'],
  ] as const)('%j is %s', (scores, trend) => {
    expect(trendOf(scores)).toBe(trend);
  });
});
