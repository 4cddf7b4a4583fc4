import { expect, it } from 'vitest';
import { durationText, parseDuration } from './duration.ts';

it.each([
  ['500ms', 500],
  ['90s', 90_000],
  [' 10 m ', 600_000],
  ['1.5h', 5_400_000],
  ['1d', 86_400_000],
  [250, 250],
  [0, 0],
  ['', undefined],
  ['10', undefined],
  ['-1s', undefined],
  ['1e3s', undefined],
  [`${'9'.repeat(400)}d`, undefined],
  [-1, undefined],
  [Number.NaN, undefined],
  [Number.POSITIVE_INFINITY, undefined],
])('%s is %s milliseconds', (text, expected) => {
  expect(parseDuration(text)).toBe(expected);
});

it.each([
  [600_000, '10m'],
  [90_000, '90s'],
  [5_400_000, '90m'],
  [7_200_000, '2h'],
  [1_500, '1500ms'],
  [0, '0ms'],
])('%s milliseconds are %s', (milliseconds, text) => {
  expect(durationText(milliseconds)).toBe(text);
  expect(parseDuration(text)).toBe(milliseconds);
});
