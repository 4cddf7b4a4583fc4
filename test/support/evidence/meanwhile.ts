/** Tricks by what is only there while the tests run: variables, reporters, sources that are mended for as long as it lasts. */
import { present } from '../../../src/base/present.ts';
import { BROKEN, type Case } from './world.ts';

const NPM = ['npm test'];
const SKIPS =
  "const { test } = require('node:test');\ntest('adds', { skip: process.env.SKIP === '1' }, () => { throw new Error(); });\n";
const ADDS =
  "const { test } = require('node:test');\ntest('adds', () => require('node:assert').equal(require('../src/add.js').add(1, 2), 3));\n";
const ONE_BY_ONE = 'node --test --test-concurrency=1';
const puts = (text: string): string =>
  `require('node:fs').writeFileSync('src/add.js', ${JSON.stringify(text)});\nrequire('node:test').test('it', () => {});\n`;
export const meanwhileTricks: readonly Case[] = [
  {
    name: 'tests told to skip by a variable',
    broken: true,
    files: { 'test/add.test.js': SKIPS },
    deeds: ['SKIP=1 npm test'],
    claims: NPM,
  },
  {
    name: 'an old test that is called like something else, changed',
    ...{ broken: true, files: { 'test/lint.test.js': ADDS } },
    deeds: [{ edit: 'test/lint.test.js', old: '), 3)', new: '), -1)' }, 'node --test test/lint.test.js'],
    claims: ['node --test test/lint.test.js'],
  },
  {
    name: 'a reporter of its own that ends the runner well',
    broken: true,
    deeds: [{ write: 'quiet.mjs', content: 'process.exit(0);\n' }, 'node --test --test-reporter=./quiet.mjs'],
    claims: ['node --test --test-reporter=./quiet.mjs'],
  },
  ...[undefined, [ONE_BY_ONE]].map(
    (verify): Case => ({
      name: `new tests that mend the sources and break them again${verify === undefined ? '' : ', under verify'}`,
      broken: true,
      deeds: [
        { write: 'test/aaa.test.js', content: puts('exports.add = (left, right) => left + right;\n') },
        { write: 'test/zzz.test.js', content: puts(BROKEN) },
        ...(verify === undefined ? [ONE_BY_ONE] : []),
      ],
      claims: verify === undefined ? [ONE_BY_ONE] : [],
      ...present({ verify }),
    }),
  ),
];
