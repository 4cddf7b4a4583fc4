/** Tests in one process with what they test: a source that ends it ends them, and only their summary shows that they ran. */
import type { Case } from './world.ts';

const OTHER = { 'test/other.test.js': "require('node:test')('other', () => {});\n" };
const UNITTEST = 'python3 -m unittest test_add.py';
const PYTHON = {
  'add.py': 'def add(a, b):\n    return a - b\n',
  'test_add.py':
    'import unittest\nfrom add import add\n\n\nclass Adds(unittest.TestCase):\n    def test_a(self):\n        self.assertEqual(add(1, 2), 3)\n\n\nif __name__ == "__main__":\n    unittest.main()\n',
};

const lines = [
  'node --test --test-isolation=none',
  'node --test --test-isolation none',
  'node test/add.test.js',
  'node test/add.test',
  'node --test test/other.test.js && node test/add.test.js',
  'node test/add.test.js --passWithNoTests',
];
const scripts = ['node test/add.test.js', 'npm run lint && node test/add.test.js', 'npm run lint && npm run one'];
const pythonLines = [UNITTEST, 'python3 -m unittest -q test_add.py', 'python3 test_add.py'];
const ends = ['import os\nos._exit(0)\n', 'raise SystemExit\n', 'import sys\nsys.exit(0)\n'];

export const silentTricks: readonly Case[] = [
  ...lines.map(
    (line): Case => ({
      name: `a source that ends tests in one process: ${line}`,
      broken: true,
      files: OTHER,
      deeds: ["echo 'process.exit(0);' >> src/add.js", line],
      claims: [line],
    }),
  ),
  ...scripts.map(
    (script): Case => ({
      name: `a source that ends tests in one process: the script ${script}`,
      broken: true,
      files: {
        'package.json': JSON.stringify({ scripts: { test: script, lint: 'node lint.js', one: 'node test/add.test.js' } }),
      },
      deeds: ["echo 'process.exit(0);' >> src/add.js", 'npm test'],
      claims: ['npm test'],
    }),
  ),
  ...pythonLines.flatMap((line) =>
    ends.map(
      (content): Case => ({
        name: `a source that ends tests in one process: ${line}, by ${content.trim().split('\n').at(-1)}`,
        files: PYTHON,
        deeds: [{ read: 'add.py' }, { write: 'add.py', content }, line],
        claims: [line],
      }),
    ),
  ),
];

export const toldTests: readonly Case[] = [
  ...['node --test --test-isolation=none', 'node test/add.test.js && node test/zero.test.js'].map(
    (line): Case => ({ name: `in one process with the sources: ${line}`, deeds: [line], claims: [line] }),
  ),
  {
    name: 'a script that runs test files by themselves',
    files: { 'package.json': '{"scripts":{"test":"node lint.js && node test/add.test.js && node test/zero.test.js"}}' },
    deeds: ['npm test'],
    claims: ['npm test'],
  },
  {
    name: 'a test in Python by itself',
    files: { ...PYTHON, 'add.py': 'def add(a, b):\n    return a + b\n' },
    deeds: ['python3 test_add.py'],
    claims: ['python3 test_add.py'],
  },
];
