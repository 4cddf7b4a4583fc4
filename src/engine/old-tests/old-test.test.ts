import { expect, it } from 'vitest';
import { oldTestDoubt } from './old-test.ts';

const OLD = `import assert from 'node:assert';
import {
  first,
  second,
} from '../src/both.js';

let value = first();

test('first', () => {
  assert.equal(value, 1);
});
`;
const doubtAfter = (from: string, to: string, path = 'a.test.js'): string | undefined => {
  expect(OLD).toContain(from);
  return oldTestDoubt(
    path,
    OLD,
    OLD.replace(from, () => to),
  );
};

it.each([
  ['the same with other indentation', '  assert.equal(value, 1);', '    assert.equal(value, 1)'],
  ['one more name over several lines', '  second,\n', '  second,\n  third,\n'],
  ['one more import', '\nlet value', "import { join } from 'node:path';\n\nlet value"],
  [
    'a test in front',
    "test('first'",
    "test('other', () => {\n  const own = { a: 1 };\n  own.a = 2;\n  assert.ok(own);\n});\n\ntest('first'",
  ],
  [
    'tests for each',
    "test('first'",
    "test.each([\n  [1, 2],\n])('of %i', (one, two) => {\n  assert.ok(one < two);\n});\n\ntest('first'",
  ],
  [
    'a test with objects of its own',
    "test('first'",
    "test('other', () => {\n  const own = { a: first() };\n  own.a = 2;\n  const copy = { ...own, b: 2 };\n  copy.a = 3;\n});\n\ntest('first'",
  ],
  ['a comment', "test('first'", "/* of the\n * first */\ntest('first'"],
])('%s is harmless', (_name, from, to) => {
  expect(doubtAfter(from, to)).toBeUndefined();
});

it.each([
  ['a variable of the old lines set anew', "test('first'", "test('other', () => {\n  value = 1;\n});\n\ntest('first'"],
  ['a name that is gone', '  second,\n', ''],
  ['another name under the old one', '  first,\n', '  second as first,\n'],
  ['a name of the old lines imported', '\nlet value', "import { test } from './own.js';\n\nlet value"],
  ['brackets that close more than they open', "test('first'", "test('other', () => {\n});\nif (0) {\ntest('first'"],
  ['a hook', "test('first'", "beforeEach(() => {\n  process.exitCode = 0;\n});\n\ntest('first'"],
  ...[
    ["const both = require('../src/both.js');", 'both.first = () => 1;'],
    ["import * as both from '../src/both.js';", 'both.first = () => 1;'],
    ['const checks = assert;', 'checks.equal = () => {};'],
    ['const checks = Object(assert);', 'checks.equal = () => {};'],
    ['const [checks] = [assert];', "checks['equal'] = () => {};"],
    ['const others = { assert };', 'others.assert.equal = () => {};'],
    ['const a = 1;', "require('node:assert').equal = () => {};"],
    ['const a = 1;', 'for (const checks of [assert]) checks.equal = () => {};'],
  ].map(([brought = '', mends = '']): [string, string, string] => [
    `a module by another name: ${brought} ${mends}`,
    '\nlet value',
    `${brought}\nconst mended = (() => {\n  ${mends}\n})();\n\nlet value`,
  ]),
  ['a mock', "test('first'", "vi.mock('../src/both.js');\n\ntest('first'"],
  ['the end of a comment', "\ntest('first'", "\n/*\ntest('first'"],
])('%s is not', (_name, from, to) => {
  expect(doubtAfter(from, to)).toMatch(/gone or changed|a person has to look at it/);
});

it('a helper may export more, and nothing else under an old name', () => {
  const helper = 'function same(a, b) {\n  assert.equal(a, b);\n}\nmodule.exports = { same };\n';
  const other = 'function other(a, b) {\n  assert.ok(a < b);\n}\n';
  const doubt = (text: string): string | undefined => oldTestDoubt('support/check.js', helper, text);
  expect(doubt(`${other}${helper.replace('{ same }', '{ same, other }')}`)).toBeUndefined();
  expect(doubt(`${helper}exports.other = (a, b) => assert.notEqual(a, b);\n`)).toBeUndefined();
  expect(doubt(`${other}${helper.replace('{ same }', '{ same: other }')}`)).toContain('is gone or changed');
  expect(doubt(`${other}${helper.replace('{ same }', '{ same, same: other }')}`)).toContain('is gone or changed');
  expect(doubt(`${helper}exports.same = () => {};\n`)).toContain('may change what the old ones show');
  expect(doubt(`${helper}module.exports = { other };\n`)).toContain('may change what the old ones show');
});
