/** What was moved, told or listed so that old tests are not run: by the files alone, without a shell. */
import { createHash } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { testWorkspace } from '../../../test/support/tool-workspace.ts';
import { lineDiff } from '../../tools/files/line-diff.ts';
import { textsIn, wayOfCommands } from '../evidence/evidence.ts';
import { weakenedTests } from './weakened-tests.ts';

const TEST = "const { test } = require('node:test');\ntest('a', () => require('../src/add.js'));\n";
const script = (test: string) => ({ 'package.json': JSON.stringify({ scripts: { test } }) });
const FILES = { ...script('node --test'), 'src/add.js': 'exports.add = 1;\n', 'test/a.test.js': TEST, 'test/b.test.js': '' };
const RUNS =
  "const s = require('fs').readFileSync('suite.txt', 'utf8');\nrequire('child_process').spawnSync('node', ['--test', s]);\n";

type Files = Readonly<Record<string, string | null>>;
interface Row {
  readonly before?: Readonly<Record<string, string>>;
  readonly change: Files;
  readonly command?: string;
}

const moved = (from: string, to: string): Files => ({ [from]: null, [to]: TEST });
const GLOB = script("node --test 'test/*.test.js'");
const weaker: Readonly<Record<string, Row>> = {
  'another ending, beside a pattern': { before: GLOB, change: moved('test/a.test.js', 'test/a.test.mjs') },
  'deeper than the pattern': {
    before: GLOB,
    change: { ...moved('test/a.test.js', 'test/deep/a.test.js'), 'test/src/add.js': 'exports.add = 1;\n' },
  },
  'a name beside the pattern': { before: GLOB, change: moved('test/a.test.js', 'test/a.tests.js') },
  'in capitals': { before: GLOB, change: moved('test/a.test.js', 'test/a.TEST.JS') },
  'into a hidden folder': { before: { 'a.test.js': TEST }, change: moved('a.test.js', '.old/a.test.js') },
  'to where it has other sources': {
    change: { ...moved('test/a.test.js', 'fake/test/a.test.js'), 'fake/src/add.js': 'exports.add = 2;\n' },
  },
  'where a configuration may tell otherwise': {
    before: { ...script('vitest run'), 'vitest.config.ts': '' },
    change: moved('test/a.test.js', 'test/c.test.js'),
  },
  'npm that shows how it is used': { change: { '.npmrc': 'usage=true\n' } },
  'npm for another package': { change: { '.npmrc': 'workspace=w\n' } },
  'npm as it was not': { before: { '.npmrc': 'workspaces=true\nfund=false\n' }, change: { '.npmrc': 'fund=false\n' } },
  'settings of pnpm': { change: { 'pnpm-workspace.yaml': 'scriptShell: /bin/true\n' }, command: 'pnpm test' },
  'another yarn': { change: { '.yarnrc.yml': 'yarnPath: ./y.cjs\n' }, command: 'yarn test' },
  'a list that the runner reads': {
    before: { ...script('node tools/run.js'), 'tools/run.js': RUNS, 'suite.txt': 'a b' },
    change: { 'suite.txt': 'b' },
  },
  'a module that the runner alone loads': {
    before: { ...script('node tools/run.js'), 'tools/run.js': `require('./suite.js');\n${RUNS}`, 'tools/suite.js': 'a' },
    change: { 'tools/suite.js': 'b' },
  },
  'a list that a makefile reads': {
    before: { Makefile: 'T := $(shell cat files.list)\ntest:\n\tnode --test $(T)\n', 'files.list': 'a b' },
    change: { 'files.list': 'b' },
    command: 'make test',
  },
  'a list that the script reads': {
    before: { ...script('xargs node --test < tests.list'), 'tests.list': 'a b' },
    change: { 'tests.list': 'b' },
  },
  'what only a test reads': {
    before: { 'test/a.test.js': "require('../config.json');\n", 'config.json': '{"strict":true}' },
    change: { 'config.json': '{"strict":false}' },
  },
  'a case among those that a test reads by their ending': {
    before: { 'a.test.js': "readdirSync('.').filter((name) => name.endsWith('.case'));\n", 'one.case': '1' },
    change: { 'one.case': null },
  },
  'a case in a folder that a test reads': {
    before: { 'a.test.js': "readdirSync('cases');\n", 'cases/one': '1' },
    change: { 'cases/one': null },
  },
  'a plugin of pytest': { change: { 'x.egg-info/entry_points.txt': '[pytest11]\nx = x\n' }, command: 'pytest' },
  'a package of tests that says itself which it has': {
    change: { 'tests/__init__.py': 'def load_tests(loader, tests, pattern):\n    return tests\n' },
    command: 'python3 -m unittest discover',
  },
  'a package of tests that is passed over': {
    change: { 'tests/__init__.py': 'import unittest\nraise unittest.SkipTest\n' },
    command: 'python3 -m unittest discover',
  },
  'a new test that mends a source for those in one process with it': {
    change: { 'test/aaa.test.js': "require('../src/add.js').add = 2;\n" },
    command: 'node --test --test-isolation=none',
  },
  'a new test that mends a runner for those in one process with it': {
    change: { 'test_aaa.py': 'import unittest\nunittest.TestCase.assertEqual = print\n' },
    command: 'python3 -m unittest',
  },
  'what Python loads first': { change: { 'lib/x.pth': 'import x\n' }, command: 'pytest' },
  'a configuration that is gone': {
    before: { 'pyproject.toml': '[tool.pytest.ini_options]\n' },
    change: { 'pyproject.toml': null },
  },
};

const harmless: Readonly<Record<string, Row>> = {
  'another name that the runner finds': { change: moved('test/a.test.js', 'test/c.test.js') },
  'another name that fits the pattern': { before: GLOB, change: moved('test/a.test.js', 'test/c.test.js') },
  'deeper, with the same sources': {
    change: { ...moved('test/a.test.js', 'test/unit/a.test.js'), 'test/src/add.js': 'exports.add = 1;\n' },
  },
  'another name for vitest': { before: script('vitest run'), change: moved('test/a.test.js', 'test/c.test.js') },
  'where packages come from': { change: { '.npmrc': '# ours\nregistry=https://example.com/\nsave-exact=true\n' } },
  'data of the product': {
    before: { 'src/add.js': "require('../table.json');\n", 'test/a.test.js': "require('../table.json');\n", 'table.json': '[1]' },
    change: { 'table.json': '[2]' },
  },
  'data that no test knows': { before: { 'seeds.json': '[1]' }, change: { 'seeds.json': '[2]' } },
  'a module that a runner and a test load': {
    before: { ...script('node tools/run.js'), 'tools/run.js': `require('../src/add.js');\n${RUNS}`, 'suite.txt': 'a' },
    change: { 'src/add.js': 'exports.add = 2;\n' },
  },
  'what the command itself is about': {
    before: { 'convert.js': "require('./config.json');\n", 'config.json': '{"a":1}' },
    change: { 'config.json': '{"a":2}' },
    command: 'node convert.js config.json',
  },
  'a new test that puts something in the place of a module, in a process of its own': {
    change: { 'test/aaa.test.js': "const fs = require('node:fs');\nfs.readFile = () => {};\n" },
  },
  'a new test in one process with the others': {
    change: {
      'test/aaa.test.js': "const { add } = require('../src/add.js');\nconst own = {};\nown.a = add;\nDate.now = () => 1;\n",
    },
    command: 'node --test --test-isolation=none',
  },
  'programs of a package': { change: { 'x.egg-info/entry_points.txt': '[console_scripts]\nx = x:main\n' }, command: 'pytest' },
};

it.each(Object.entries(weaker))('proves less: %s', async (_, row) => {
  expect(await reasonsOf(row)).toHaveLength(1);
});

it.each(Object.entries(harmless))('proves as much: %s', async (_, row) => {
  expect(await reasonsOf(row)).toEqual([]);
});

async function reasonsOf({ before = {}, change, command = 'npm test' }: Row): Promise<readonly string[]> {
  await using place = await testWorkspace();
  const put = (path: string, text: string): void => {
    mkdirSync(dirname(join(place.path, path)), { recursive: true });
    writeFileSync(join(place.path, path), text);
  };
  const old: Readonly<Record<string, string>> = { ...FILES, ...before };
  for (const [path, text] of Object.entries(old)) put(path, text);
  const changes = Object.entries(change).map(([path, text]) => {
    if (text === null) rmSync(join(place.path, path));
    else put(path, text);
    const { added, removed, text: diff } = lineDiff(old[path] ?? '', text ?? '');
    const sha = (one: string | null | undefined) => (one == null ? null : createHash('sha256').update(one).digest('hex'));
    return {
      path,
      before: sha(old[path]),
      after: sha(text),
      addedLines: added,
      removedLines: removed,
      diff,
      by: 'command' as const,
    };
  });
  return weakenedTests(changes, textsIn(place.path), place.path, wayOfCommands([command], place.path));
}
