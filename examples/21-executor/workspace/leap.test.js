import assert from 'node:assert';
import { test } from 'node:test';
import { leap } from './leap.js';

test('every fourth year, but not every century', () => {
  assert.deepEqual([2023, 2024, 1900, 2000].map(leap), [false, true, false, true]);
});
