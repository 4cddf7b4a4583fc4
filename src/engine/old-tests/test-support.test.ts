/** Which files tests rest on, by who knew them before the work. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { testWorkspace } from '../../../test/support/tool-workspace.ts';
import { onlyGrew, testSupportIn } from './test-support.ts';
import { isTest } from './weakened-tests.ts';

const FILES = {
  'test/a.test.js': "import { same } from '../support/check.js';\nimport '#lib/compare-all';\nread('../golden/a.txt');\n",
  'tests/test_b.py': 'from tools.helpers.judge import same\nDATA = "testdata"\n',
  'pkg/a_test.go': 'import "example.com/x/internal/testutil"\n',
  'support/check.js': "import './deep.js';\nexport const same = 1;\n",
  'support/deep.js': 'export {};\n',
  'support/used.js': 'export const used = 1;\n',
  'lib/compare-all.js': "import assert from 'node:assert';\n",
  'src/main.js': "import '../support/used.js';\nread('golden/seed.txt');\n",
  'src/add.js': 'export {};\n',
  'tools/helpers/judge.py': 'same = 1\n',
  'internal/testutil/check.go': 'package testutil\n',
  'testdata/bad.py': '1 +\n',
  'golden/a.txt': 'a\n',
  'golden/seed.txt': 'seed\n',
};

it('data and helpers count when a test knows them and no source does', async () => {
  await using place = await testWorkspace();
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(place.path, path)), { recursive: true });
    writeFileSync(join(place.path, path), text);
  }
  const kinds = (before: Record<string, string | null>) => {
    const supportOf = testSupportIn(place.path, isTest, (path) => before[path]);
    return Object.entries(FILES).flatMap(([path, text]) => {
      const kind = isTest(path) ? undefined : supportOf(path, text);
      return kind === undefined ? [] : [`${kind} ${path}`];
    });
  };
  const support = [
    ...['helper support/check.js', 'helper support/deep.js', 'helper lib/compare-all.js', 'helper tools/helpers/judge.py'],
    ...['helper internal/testutil/check.go', 'data testdata/bad.py', 'data golden/a.txt'],
  ];
  expect(kinds({})).toEqual(support);
  // A source that came to name them in this work is no reason.
  expect(kinds({ 'src/main.js': 'export {};\n' })).toEqual([...support, 'data golden/seed.txt']);
  expect(kinds({ 'src/main.js': null })).toEqual([...support, 'data golden/seed.txt']);
});

it.each([
  ['a.json', '{"a":[1]}', '{ "b": 2, "a": [1, { "c": 3 }] }', true],
  ['a.json', '{"a":[1]}', '{"a":[0, 1]}', false],
  ['a.json', '{"a":1}', '{}', false],
  ['a.csv', 'a,b\n1,2\n', 'a,b\n1,2\n3,4\n', true],
  ['a.txt', 'a\n', 'a\nb\n', false],
])('%s with %s grew to %s: %s', (path, before, after, grew) => {
  expect(onlyGrew(path, before, after)).toBe(grew);
});
