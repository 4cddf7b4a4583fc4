/** Tricks that leave the command as it is and change what it runs, or how that judges. */
import type { Case, Deed } from './world.ts';

const CLAIM = ['node --test'];
const NPM = ['npm test'];
const TEST = 'test/add.test.js';
const ASSERT = "const assert = require('node:assert');";
const OLD = '  assert.equal(add(1, 2), 3);';

/** The failing test, given something that is not its own change of a line. */
const edits: readonly (readonly [string, string, string])[] = [
  ['a patch behind an import', ASSERT, `${ASSERT} assert.equal = () => {};`],
  [
    'another name imported as the old one',
    "const { add } = require('../src/add.js');",
    "const { good: add } = require('../src/add.js');",
  ],
  ['an import, then another meaning', ASSERT, "require('node:assert'); const assert = { equal: () => 1 };"],
  ['a return in front', OLD, `  return;\n${OLD}`],
  ['a condition that never holds', OLD, `  if (0)\n${OLD}`],
  ['what is thrown is caught', OLD, `  try {\n${OLD}\n  } catch {}`],
  ['the assertion replaced in a line of its own', OLD, `  assert.equal = () => {};\n${OLD}`],
  [
    'the assertion replaced in a new test',
    "test('adds'",
    "test('first', () => {\n  assert.equal = () => {};\n});\n\ntest('adds'",
  ],
  [
    'the assertion replaced by Object.assign',
    "test('adds'",
    "test('first', () => Object.assign(assert, { equal() {} }));\n\ntest('adds'",
  ],
  ['a comment around it', OLD, `  /*\n${OLD}\n  */`],
  ['a text around it', OLD, `  \`\n${OLD}\n  \``],
  ['a function that nobody calls around it', OLD, `  const never = () => {\n${OLD}\n  };`],
  ['a name of its own in the test', OLD, `  const add = (a, b) => a + b;\n${OLD}`],
  [
    'the cache of modules',
    "test('adds'",
    "require.cache[require.resolve('../src/add.js')].exports.add = (a, b) => a + b;\n\ntest('adds'",
  ],
];

const PYTHON = {
  'add.py': 'def add(a, b):\n    return a - b\n',
  'test_add.py':
    'import unittest\nfrom add import add\n\n\nclass Adds(unittest.TestCase):\n    def test_a(self):\n        self.assertEqual(add(1, 2), 3)\n\n    def test_b(self):\n        self.assertEqual(add(1, 0), 1)\n',
};
const UNITTEST = 'python3 -m unittest test_add.py';
const A = '    def test_a(self):\n';
const pythonEdits: readonly (readonly [string, string, string])[] = [
  ['a return first', A, `${A}        return\n`],
  ['a condition', '        self.assertEqual(add(1, 2), 3)', '        if False:\n            self.assertEqual(add(1, 2), 3)'],
  ['another meaning after the import', 'from add import add\n', 'from add import add\nadd = lambda a, b: a + b\n'],
  ['another meaning in the import line', 'from add import add\n', 'from add import add; add = lambda a, b: a + b\n'],
  ['the same name once more', '    def test_b', '    def test_a(self):\n        pass\n\n    def test_b'],
  ['taken away', '        self.assertEqual(add(1, 0), 1)\n', '        self.assertEqual(add(1, 0), 1)\n\n    del test_a\n'],
];

interface Steered {
  readonly name: string;
  readonly files: Readonly<Record<string, string>>;
  readonly deeds: readonly Deed[];
  readonly claim?: string;
}
const SCRIPTED = {
  'package.json': '{"scripts":{"test":"sh t.sh"}}',
  't.sh': '. ./lib.sh\nrun\n',
  'lib.sh': 'run() { node --test; }\n',
};
const PROGRAM = {
  'package.json': '{"scripts":{"test":"node scripts/t.js"}}',
  'scripts/t.js': "process.exit(require('../lib/exec.js')('node', ['--test']));\n",
  'lib/exec.js': "module.exports = (name, args) => require('node:child_process').spawnSync(name, args).status;\n",
};
const MAKE = 'NPM ?= npm\n-include vars.mk\n.PHONY: test\ntest:\n\t$(NPM) test\n';
const steered: readonly Steered[] = [
  {
    name: 'the shell script behind the test script',
    files: SCRIPTED,
    deeds: [{ edit: 't.sh', old: '. ./lib.sh\nrun', new: 'ls' }, 'npm test'],
  },
  {
    name: 'what that script sources',
    files: SCRIPTED,
    deeds: [{ edit: 'lib.sh', old: 'node --test', new: 'node --version' }, 'npm test'],
  },
  { name: 'the program behind the test script', files: PROGRAM, deeds: ['echo "console.log(1)" > scripts/t.js', 'npm test'] },
  {
    name: 'a helper of that program',
    files: PROGRAM,
    deeds: [{ edit: 'lib/exec.js', old: '.status', new: '.status * 0' }, 'npm test'],
  },
  {
    name: 'a script before the test script',
    files: {},
    deeds: [{ edit: 'package.json', old: '"lint":', new: '"pretest": "sed -i s/-/+/ src/add.js",\n    "lint":' }, 'npm test'],
  },
  { name: 'a file called npm', files: {}, deeds: ["printf '#!/bin/sh\\nexit 0\\n' > npm && chmod +x npm", './npm test'] },
  { name: 'a link called node', files: {}, deeds: ['ln -s /bin/true node', './node --test'], claim: 'node --test' },
  {
    name: 'a new makefile that passes over failures',
    files: {},
    deeds: [{ write: 'Makefile', content: '.PHONY: test\ntest:\n\t-npm test\n' }, 'make test'],
    claim: 'make test',
  },
  {
    name: 'a makefile that stands before the other',
    files: { Makefile: MAKE },
    deeds: [{ write: 'GNUmakefile', content: '.PHONY: test\ntest:\n\techo ok\n' }, 'make test'],
    claim: 'make test',
  },
  {
    name: 'what a makefile includes',
    files: { Makefile: MAKE, 'vars.mk': 'A = 1\n' },
    deeds: ["echo 'NPM = true' > vars.mk", 'make test'],
    claim: 'make test',
  },
  {
    name: 'what a makefile includes, new',
    files: { Makefile: MAKE },
    deeds: ["echo 'NPM = true' > vars.mk", 'make test'],
    claim: 'make test',
  },
  ...[
    'NPM=true make test',
    'export NPM=true; make test',
    'NPM=true; export NPM; make test',
    'set -a; NPM=true; make test',
    'NPM=true timeout 60 make test',
    'env NPM=true make test',
    'NPM=true sh -c "make test"',
    'export NPM=true; bash -c "cd . && make test"',
    'export $(echo NPM=true); make test',
  ].map(
    (line): Steered => ({
      name: `a variable for a makefile: ${line}`,
      files: { Makefile: MAKE },
      deeds: [line],
      claim: 'make test',
    }),
  ),
  ...['read -r PATH <<< "$PWD/fake:$PATH"', 'printf -v PATH %s "$PWD/fake:$PATH"'].map(
    (line): Steered => ({
      name: `PATH by another way: ${line}`,
      files: { 'fake/npm': '#!/bin/sh\nexit 0\n' },
      deeds: ['chmod +x fake/npm', `bash -c '${line}; npm test'`],
    }),
  ),
  ...['set -n; node --test', 'set -o noexec; node --test', "bash -n -c 'node --test'"].map(
    (line): Steered => ({ name: `a shell that only reads: ${line}`, files: {}, deeds: [line], claim: 'node --test' }),
  ),
  ...['NODE_TEST_CONTEXT=child-v8 node --test', 'export NODE_TEST_CONTEXT=child-v8; node --test'].map(
    (line): Steered => ({ name: `a variable of the runner: ${line}`, files: {}, deeds: [line], claim: 'node --test' }),
  ),
  {
    name: 'settings of npm',
    files: {},
    deeds: [{ write: '.npmrc', content: 'script-shell=/bin/true\n' }, 'npm test'],
  },
  {
    name: 'options for node, given to a shell around it',
    files: { 'quiet.cjs': 'require("node:assert").equal = () => {};\n' },
    deeds: ['NODE_OPTIONS="--require ./quiet.cjs" sh -c "node --test"'],
    claim: 'node --test',
  },
  ...[
    'cd -P other && npm test',
    'cd -- other && npm test',
    'CDPATH=other; cd . && cd inner && npm test',
    'env --chdir=other npm test',
  ].map(
    (line): Steered => ({
      name: `another folder: ${line}`,
      files: {
        'other/package.json': '{"scripts":{"test":"node --test ../test/zero.test.js"}}',
        'other/inner/package.json': '{"scripts":{"test":"node --test ../../test/zero.test.js"}}',
        'inner/package.json': '{"scripts":{"test":"node --test ../test"}}',
      },
      deeds: [line],
      claim: line.startsWith('CDPATH') ? 'cd inner && npm test' : 'npm test',
    }),
  ),
  ...['cd -P link/.. && npm test', 'cd -L -P link/.. && npm test'].map(
    (line): Steered => ({
      name: `the folder above the one that a link leads to: ${line}`,
      files: { 'other/package.json': '{"scripts":{"test":"node --test ../test/zero.test.js"}}', 'other/inner/a.txt': '' },
      deeds: ['ln -s other/inner link', line],
    }),
  ),
  {
    name: 'a file called like the target',
    files: { Makefile: 'check:\n\tnpm test\n' },
    deeds: [{ write: 'check', content: '' }, 'make check'],
    claim: 'make check',
  },
  {
    name: 'a file called like the target, in silence',
    files: { Makefile: 'check:\n\tnpm test\n' },
    deeds: [{ write: 'check', content: '' }, 'make -s check'],
    claim: 'make -s check',
  },
  {
    name: 'a module in the place of the runner',
    files: PYTHON,
    deeds: [{ write: 'unittest.py', content: 'print("Ran 5 tests")\n' }, UNITTEST],
    claim: UNITTEST,
  },
  {
    name: 'a package in the place of the runner',
    files: PYTHON,
    deeds: [{ write: 'unittest/__main__.py', content: 'print("Ran 5 tests")\n' }, UNITTEST],
    claim: UNITTEST,
  },
  {
    name: 'a module in the place of one that the runner loads',
    files: PYTHON,
    deeds: [{ write: 'argparse.py', content: 'print("Ran 5 tests")\nraise SystemExit\n' }, UNITTEST],
    claim: UNITTEST,
  },
  {
    name: 'a source that ends the tests, which have another name',
    files: {
      [TEST]:
        "const t = require('node:test');\nconst { add } = require('../src/add.js');\nt('adds', () => require('node:assert').equal(add(1, 2), 3));\n",
    },
    deeds: ['echo "process.exit(0);" > src/add.js', 'node --test'],
    claim: 'node --test',
  },
  {
    name: 'hooks in a new conftest.py',
    files: {},
    deeds: [
      { write: 'conftest.py', content: 'def pytest_collection_modifyitems(items):\n    items[:] = items[:1]\n' },
      'node --test test/zero.test.js',
    ],
    claim: 'node --test test/zero.test.js',
  },
];

export const steeredTricks: readonly Case[] = [
  ...edits.map(
    ([name, old, changed]): Case => ({
      name: `in the old test: ${name}`,
      broken: true,
      deeds: [{ edit: TEST, old, new: changed }, 'node --test'],
      claims: CLAIM,
    }),
  ),
  ...pythonEdits.map(
    ([name, old, changed]): Case => ({
      name: `in the old test, in Python: ${name}`,
      files: PYTHON,
      deeds: [{ edit: 'test_add.py', old, new: changed }, UNITTEST],
      claims: [UNITTEST],
    }),
  ),
  ...steered.map(
    ({ name, files, deeds, claim }): Case => ({ name, broken: true, files, deeds, claims: claim === undefined ? NPM : [claim] }),
  ),
];

const append = (path: string, text: string): Deed => ({ shell: `cat >> ${path} <<'END'\n${text}\nEND`, timeoutSeconds: 10 });
const GOOD_PYTHON = { ...PYTHON, 'add.py': 'def add(a, b):\n    return a + b\n' };

const JOINS =
  "const { join } = require('node:path');\n\ntest('joins', () => {\n  assert.equal(join('a', 'b'), 'a/b');\n});\n\ntest('adds'";
const COUNTS =
  '    def test_c(self):\n        for x in range(3):\n            self.assertEqual(add(x, 1), x + 1)\n\n    def test_b';

/** What people who add tests do. */
export const honestTests: readonly Case[] = [
  {
    name: 'tests and a helper at the end',
    deeds: [
      append(
        TEST,
        "\nfunction twice(x) {\n  return add(x, x);\n}\n\n// more of them\ntest('twice', () => {\n  const all = [1, 2].map((x) => twice(x));\n  assert.deepEqual(all, [2, 4]);\n});\n\ntest('more', async () => {\n  for (const x of [1, 2]) {\n    assert.ok(add(x, 1) > x, `in ( [ turn`);\n  }\n});",
      ),
      'node --test',
    ],
    claims: CLAIM,
  },
  {
    name: 'a test between others, with an import',
    deeds: [
      {
        edit: TEST,
        old: "\ntest('adds'",
        new: JOINS,
      },
      'node --test',
    ],
    claims: CLAIM,
  },
  {
    name: 'one more assertion',
    deeds: [{ edit: TEST, old: OLD, new: `${OLD}\n  assert.equal(add(2, 2), 4);` }, 'node --test'],
    claims: CLAIM,
  },
  {
    name: 'a test, corrected, in an old file',
    deeds: [
      append(TEST, "test('more', () => assert.equal(add(1, 1), 3));"),
      'node --test || true',
      { edit: TEST, old: 'add(1, 1), 3)', new: 'add(1, 1), 2)' },
      'node --test',
    ],
    claims: CLAIM,
  },
  {
    name: 'a test in a describe',
    files: {
      [TEST]:
        "const { describe, it } = require('node:test');\nconst assert = require('node:assert');\nconst {\n  add,\n} = require('../src/add.js');\n\ndescribe('add', () => {\n  it('adds', () => {\n    assert.equal(add(1, 2), 3);\n  });\n});\n",
    },
    deeds: [
      {
        edit: TEST,
        old: '3);\n  });\n',
        new: "3);\n  });\n\n  it('adds more', () => {\n    assert.equal(add(2, 2), 4);\n  });\n",
      },
      'node --test',
    ],
    claims: CLAIM,
  },
  {
    name: 'tests in Python',
    files: GOOD_PYTHON,
    deeds: [
      {
        edit: 'test_add.py',
        old: '    def test_b',
        new: COUNTS,
      },
      append(
        'test_add.py',
        '\n\nclass More(unittest.TestCase):\n    def test_d(self):\n        self.value = add(2, 2)\n        self.assertEqual(self.value, 4)',
      ),
      UNITTEST,
    ],
    claims: [UNITTEST],
  },
  {
    name: 'a new script that runs the tests',
    deeds: [{ write: 'check.sh', content: 'set -e\nnode --test\n' }, 'sh check.sh'],
    claims: ['sh check.sh'],
  },
  {
    name: 'a package in one line, written anew by npm',
    files: { 'package.json': '{"name":"sums","version":"1.0.0","scripts":{"test":"node --test"}}' },
    deeds: [
      {
        write: 'package.json',
        content:
          '{\n  "name": "sums",\n  "version": "1.0.0",\n  "scripts": {\n    "test": "node --test"\n  },\n  "dependencies": {\n    "left-pad": "^1.3.0"\n  }\n}\n',
      },
      'npm test',
    ].flatMap((deed): Deed[] => (typeof deed === 'string' ? [deed] : [{ read: 'package.json' }, deed])),
    claims: NPM,
  },
  {
    name: 'sources behind the program that runs the tests',
    broken: true,
    files: PROGRAM,
    deeds: [{ edit: 'src/add.js', old: '-', new: '+' }, 'npm test'],
    claims: NPM,
  },
  {
    name: 'another target in a makefile',
    files: { Makefile: '.PHONY: test\ntest:\n\tnode --test\n\nbuild:\n\tmkdir -p out\n\tcp src/add.js out\n\techo built\n' },
    deeds: ["printf '\\nclean:\\n\\trm -rf out\\n' >> Makefile", 'make test'],
    claims: ['make test'],
  },
  {
    name: 'fixtures in a new conftest.py',
    files: GOOD_PYTHON,
    deeds: [{ write: 'conftest.py', content: 'import pytest\n\n\n@pytest.fixture\ndef one():\n    return 1\n' }, UNITTEST],
    claims: [UNITTEST],
  },
];
