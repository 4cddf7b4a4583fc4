/** Work that was done and is truly told, in the many ways in which that is written. All of it is verified. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Case, file, WRAPPER } from './world.ts';

const CLAIM = ['node --test'];
const PACKAGE = { 'web/package.json': '{"scripts":{"test":"node --test ../test/zero.test.js"}}' };

/** What was run, and how it is claimed. */
const lines: readonly (readonly [string, string, string?])[] = [
  ['as it was run', 'node --test'],
  ['npm test', 'npm test', 'npm test'],
  ['npm run test for npm test', 'npm run test', 'npm test'],
  ['npm test for npm run test', 'npm test', 'npm run test'],
  ['npm t', 'npm t', 'npm test'],
  ['silently', 'npm test --silent', 'npm test'],
  ['other whitespace', '  node    --test  ', 'node --test'],
  ['other whitespace in the claim', 'node --test', ' node  --test\n'],
  ['quotes', '\'node\' "--test"', 'node --test'],
  ['a comment', 'node --test # all of them'],
  ['a semicolon at the end', 'node --test;'],
  ['over two lines', 'node \\\n  --test'],
  ['a variable in front', 'CI=1 node --test'],
  ['a variable by env', 'env CI=1 FORCE_COLOR=0 node --test'],
  ['a variable exported before', 'export CI=1; node --test'],
  ['the program by its whole path', `${process.execPath} --test`, 'node --test'],
  ['the program by its whole path, in the claim', 'node --test', `${process.execPath} --test`],
  ['a test by its whole path', 'node --test <here>/test/add.test.js', 'node --test test/add.test.js'],
  ['a test with a dot in front', 'node --test ./test/add.test.js', 'node --test test/add.test.js'],
  ['both outputs in one', 'node --test 2>&1'],
  ['the output thrown away', 'node --test > /dev/null 2>&1'],
  ['the output in a file', 'node --test > test.log 2>&1'],
  ['and a word', 'node --test && echo passed'],
  ['and a look', 'node --test && git --version'],
  ['set -e and a word', 'set -e; node --test; echo passed'],
  ['set -eu over lines', 'set -eu\nnode --test\necho passed'],
  ['or exit 1', 'node --test || exit 1'],
  ['or exit 1, and more', 'node --test || exit 1; npm run lint'],
  ['or a word and exit 1', 'node --test || { echo "they failed" >&2; exit 1; }'],
  ['with its own exit code', 'node --test; exit $?'],
  ['with its own exit code, kept', 'node --test > test.log 2>&1; rc=$?; tail -3 test.log; exit $rc'],
  ['behind a pipe, with its own exit code', `bash -c 'node --test 2>&1 | tail -5; exit \${PIPESTATUS[0]}'`],
  ['with a time limit', 'timeout 300 node --test'],
  ['as the shell finds it', 'command node --test'],
  ['in the place of the shell', 'exec node --test'],
  ['in brackets', '(node --test)'],
  ['in an inner shell', "sh -c 'node --test'"],
  ['in an inner shell that stops', "sh -ec 'node --test; echo passed'"],
  ['with an answer on its input', 'echo y | node --test'],
  ['behind a pipe that tells', "bash -o pipefail -c 'node --test | tail -1'"],
  ['behind a pipe that keeps it', "bash -euo pipefail -c 'node --test | tee test.log'"],
  ['told as pages show it', 'npm test', '$ npm test'],
  ['in a folder', 'cd web && npm test', 'cd web && npm test'],
  ['in a folder, in brackets', '(cd web && npm test)', 'cd web && npm test'],
  ['in a folder, by a flag', 'npm --prefix web test', 'cd web && npm test'],
  ['in a folder, by its whole path', 'cd <here>/web && npm run test', 'cd web; npm test'],
  ['two in one line', 'npm run lint && node --test'],
  ['two in one line, both claimed', 'npm run lint && node --test', 'npm run lint && node --test'],
  ['a file made on the way', "cat > src/more.js <<'END'\nexports.more = 1;\nEND\nnode --test"],
  ['a script of the project', 'sh check.sh', './check.sh'],
];

const fixed = { edit: 'src/add.js', old: '-', new: '+' };
const REPORTING = {
  'package.json': '{"scripts":{"test":"node --test && node report.js","lint":"node lint.js"}}',
  'report.js': 'require("node:fs").writeFileSync("report.xml", String(process.pid));\n',
};

/** A runner that comes as a package, and a project that needs it. */
const TOOL = {
  'tool/package.json': '{\n  "name": "runner",\n  "version": "1.0.0",\n  "bin": "run.js"\n}\n',
  'tool/run.js': '#!/usr/bin/env node\nrequire(require("node:path").resolve("test/add.test.js"));\n',
};
const NEEDY = { 'package.json': '{"name":"sums","scripts":{"test":"runner"},"dependencies":{"runner":"file:tool"}}' };
const SHIM = `#!/bin/sh
basedir=$(dirname "$(echo "$0" | sed -e 's,\\\\,/,g')")

case \`uname\` in
    *CYGWIN*) basedir=\`cygpath -w "$basedir"\`;;
esac

if [ -x "$basedir/node" ]; then
  exec "$basedir/node"  "$basedir/../runner/run.js" "$@"
else
  exec node  "$basedir/../runner/run.js" "$@"
fi
`;

export const honest: readonly Case[] = [
  ...lines.map(
    ([name, line, claim]): Case => ({
      name,
      files: { ...PACKAGE, 'check.sh': 'set -e\nnode --test\n' },
      deeds: [line],
      claims: [claim ?? 'node --test'],
    }),
  ),
  {
    name: 'a script of the project, not readable',
    files: { 'run.sh': 'set -e\nrun() { node --test; }\nfor each in 1 2; do run; done\n' },
    deeds: ['sh run.sh'],
    claims: ['sh run.sh'],
  },
  {
    name: 'failed, mended, passed',
    broken: true,
    deeds: ['node --test', fixed, 'node --test'],
    claims: [file('src/add.js'), ...CLAIM],
  },
  {
    name: 'the same in a repository',
    broken: true,
    git: true,
    deeds: ['node --test', fixed, 'node --test'],
    claims: [file('src/add.js'), ...CLAIM],
  },
  {
    name: 'mended by the shell',
    broken: true,
    deeds: ["sed -i 's/-/+/' src/add.js", 'node --test'],
    claims: [file('src/add.js'), ...CLAIM],
  },
  {
    name: 'committed after the tests',
    broken: true,
    git: true,
    deeds: [fixed, 'node --test', 'git add -A && git -c user.name=a -c user.email=a@b commit -qm fixed'],
    claims: [file('src/add.js'), ...CLAIM],
  },
  {
    name: 'looked at after the tests',
    git: true,
    deeds: ['node --test', 'git status && git log -1', { read: 'src/add.js' }],
    claims: CLAIM,
  },
  { name: 'shown by a pipe after it was proved', deeds: ['node --test', 'node --test 2>&1 | tail -3'], claims: CLAIM },
  { name: 'a command that fails beside it', deeds: ['node --test', 'grep nothing src/add.js'], claims: CLAIM },
  { name: 'touched after the tests', deeds: ['node --test', 'touch src/add.js'], claims: CLAIM },
  {
    name: 'written again as it was',
    deeds: ['node --test', 'cp src/add.js node_modules-copy && cat node_modules-copy > src/add.js && rm node_modules-copy'],
    claims: CLAIM,
  },
  {
    name: 'an ignored file after the tests',
    git: true,
    deeds: ['node --test', 'mkdir -p node_modules/.cache && date > node_modules/.cache/a'],
    claims: CLAIM,
  },
  {
    name: 'a cache after the tests',
    deeds: ['node --test', 'mkdir -p coverage .pytest_cache && date > coverage/a && date > .pytest_cache/a'],
    claims: CLAIM,
  },
  { name: 'tests that write a report', files: REPORTING, deeds: ['npm test'], claims: ['npm test'] },
  { name: 'tests that write a report, twice', files: REPORTING, deeds: ['npm test', 'npm test'], claims: ['npm test'] },
  {
    name: 'a check before tests that write a report',
    files: REPORTING,
    deeds: ['npm run lint', 'npm test'],
    claims: ['npm run lint', 'npm test'],
  },
  { name: 'two claims of two runs', deeds: ['npm run lint', 'node --test'], claims: ['node --test', 'npm run lint'] },
  { name: 'one claim of two runs', deeds: ['npm run lint', 'node --test'], claims: ['npm run lint && node --test'] },
  { name: 'a new file', deeds: [{ write: 'docs/notes.md', content: 'a' }], claims: [file('docs/notes.md')] },
  { name: 'a new file by its whole path', deeds: [{ write: 'notes.md', content: 'a' }], claims: [file('<here>/notes.md')] },
  { name: 'a new file with a dot in front', deeds: [{ write: 'notes.md', content: 'a' }], claims: [file('./notes.md')] },
  {
    name: 'a new file in a roundabout way',
    deeds: [{ write: 'docs/notes.md', content: 'a' }],
    claims: [file('src/../docs//notes.md')],
  },
  { name: 'a new file of an unusual name', deeds: [{ write: 'a b/ünï.md', content: 'a' }], claims: [file('a b/ünï.md')] },
  {
    name: 'a file through a link',
    deeds: [{ person: (folder) => linked(folder) }, { write: 'link/notes.md', content: 'a' }],
    claims: [file('link/notes.md'), file('real/notes.md')],
  },
  { name: 'a file made by the shell', deeds: ['mkdir -p out && echo a > out/notes.md'], claims: [file('out/notes.md')] },
  {
    name: 'a file made by another program',
    deeds: [{ foreign: (folder) => writeFileSync(join(folder, 'notes.md'), 'a') }],
    claims: [file('notes.md')],
  },
  { name: 'a file removed', files: { 'old.js': 'a' }, deeds: ['rm old.js', 'node --test'], claims: [file('old.js'), ...CLAIM] },
  {
    name: 'a new test',
    deeds: [{ write: 'test/more.test.js', content: "require('node:test').test('more', () => {});\n" }, 'node --test'],
    claims: [file('test/more.test.js'), ...CLAIM],
  },
  {
    name: 'a new test, corrected',
    deeds: [
      { write: 'test/more.test.js', content: "require('node:test').test('more', () => { throw 1 });\n" },
      'node --test',
      { write: 'test/more.test.js', content: "require('node:test').test('more', () => {});\n" },
      'node --test',
    ],
    claims: CLAIM,
  },
  {
    name: 'a test added to an old file',
    deeds: ['echo "test(\'more\', () => {});" >> test/add.test.js', 'node --test'],
    claims: CLAIM,
  },
  {
    name: 'a name more from the same module',
    deeds: [
      {
        edit: 'test/add.test.js',
        old: "const { test } = require('node:test');",
        new: "const { describe, test } = require('node:test');",
      },
      'node --test',
    ],
    claims: CLAIM,
  },
  {
    name: 'a test changed and put back',
    deeds: [
      'cp test/add.test.js coverage-copy',
      "sed -i 's/3/4/' test/add.test.js",
      'mv coverage-copy test/add.test.js',
      'node --test',
    ],
    claims: CLAIM,
  },
  {
    name: 'a test moved',
    git: true,
    deeds: ['mkdir test/unit && git mv test/zero.test.js test/unit/ && cp -r src test/src', 'node --test'],
    claims: CLAIM,
  },
  {
    name: 'a dependency added',
    deeds: [
      { edit: 'package.json', old: '"dependencies": {}', new: '"dependencies": {\n    "left-pad": "^1.3.0"\n  }' },
      'npm test',
    ],
    claims: ['npm test'],
  },
  {
    name: 'a script added',
    deeds: [
      { edit: 'package.json', old: '"lint": "node lint.js"', new: '"lint": "node lint.js",\n    "start": "node src/add.js"' },
      'npm test',
    ],
    claims: ['npm test'],
  },
  {
    name: 'the first test script of a package',
    files: { 'package.json': '{\n  "scripts": {\n    "test": "echo \\"Error: no test specified\\" && exit 1"\n  }\n}\n' },
    deeds: [
      { read: 'package.json' },
      { write: 'package.json', content: '{\n  "scripts": {\n    "test": "node --test"\n  }\n}\n' },
      'npm test',
    ],
    claims: ['npm test'],
  },
  {
    name: 'an install, then the tests',
    files: { ...NEEDY, ...TOOL },
    deeds: ['npm install --no-audit --no-fund --install-links', 'npm test'],
    claims: ['npm test'],
  },
  {
    name: 'an install and the tests in one line',
    files: { ...NEEDY, ...TOOL },
    deeds: ['npm install --no-audit --no-fund --install-links && npm test'],
    claims: ['npm test'],
  },
  {
    name: 'an install again, from the start',
    files: { ...NEEDY, ...TOOL },
    deeds: ['npm install --install-links', 'rm -rf node_modules && npm ci --install-links', 'npm test'],
    claims: ['npm test'],
  },
  {
    name: 'a newer version of a runner',
    files: { ...NEEDY, ...TOOL },
    deeds: [
      'npm install --install-links',
      "sed -i 's/1.0.0/1.1.0/' tool/package.json && echo '// new' >> tool/run.js",
      'npm install --install-links ./tool && npm test',
    ],
    claims: ['npm test'],
  },
  {
    name: 'an install by a program of the project',
    files: { ...NEEDY, ...TOOL, Makefile: 'setup:\n\tnpm install --install-links\n' },
    deeds: ['make setup', 'npm test'],
    claims: ['npm test'],
  },
  {
    name: 'a runner that a shell script starts, as some managers write it',
    files: { ...TOOL, 'package.json': '{"scripts":{"test":"runner"}}' },
    deeds: [
      `mkdir -p node_modules/.bin && cp -r tool node_modules/runner && cat > node_modules/.bin/runner <<'END'\n${SHIM}END\nchmod +x node_modules/.bin/runner`,
      'npm test',
    ],
    claims: ['npm test'],
  },
  { name: 'a virtual environment', deeds: ['python3 -m venv .venv', 'node --test'], claims: CLAIM },
  {
    name: 'a program of its own that is run',
    deeds: [{ write: 'hello.js', content: "console.log('hello');\n" }, 'node hello.js'],
    claims: ['node hello.js', file('hello.js')],
  },
  {
    name: "the project's program that runs the tests",
    files: { 'package.json': '{"scripts":{"test":"node run.js"}}', 'run.js': WRAPPER },
    deeds: ['npm test'],
    claims: ['npm test'],
  },
  {
    name: 'tests without a framework beside others',
    files: { 'test/plain.test.js': "require('node:assert').equal(require('../src/add.js').add(1, 1), 2);\n" },
    deeds: ['node --test'],
    claims: CLAIM,
  },
  { name: 'cleaned before the tests', deeds: ['rm -rf coverage && mkdir coverage && node --test'], claims: CLAIM },
  { name: 'cleaned after the tests', deeds: ['npm run lint && node --test && rm -rf coverage'], claims: CLAIM },
  {
    name: 'a makefile',
    files: { Makefile: '.PHONY: test\ntest:\n\tnode --test\n' },
    deeds: ['make test'],
    claims: ['make test'],
  },
];

function linked(folder: string): void {
  mkdirSync(join(folder, 'real'));
  symlinkSync('real', join(folder, 'link'));
}
