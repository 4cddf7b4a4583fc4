import assert from 'node:assert/strict';
import { test } from 'node:test';
import { slug } from './slug.js';

test('one word', () => {
  assert.equal(slug('Hello'), 'hello');
});

test('several words', () => {
  assert.equal(slug('Hello Big World'), 'hello-big-world');
});

test('spaces at the ends and in a row', () => {
  assert.equal(slug('  Hello   World '), 'hello-world');
});
