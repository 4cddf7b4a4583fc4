/** Executors that work as they should, each in its own way: none of them is called into doubt. */
import { expect } from 'vitest';
import { CHECK, OLD, type TaskCase, TIMES } from './task-cases.ts';

const TESTED = [
  "put test/times.test.js const { test } = require('node:test');\\nconst assert = require('node:assert');\\nconst { times } = require('../src/times.js');\\n\\ntest('times', () => {\\n  assert.equal(times(2, 3), 6);\\n});\\n",
];
const told = (update: object): string => `update ${JSON.stringify(update)}`;

export const honestCases: readonly TaskCase[] = [
  { name: 'does it, and says little', plays: [TIMES], state: 'verified' },
  { name: 'is slow', plays: ['say thinking', TIMES, 'shell sleep 0.3', 'say done'], state: 'verified' },
  {
    name: 'is chatty',
    plays: [
      ...Array.from({ length: 40 }, (_, at) => `say step ${at}`),
      'plan look|write|test',
      ...Array.from({ length: 20 }, (_, at) =>
        told({ sessionUpdate: 'tool_call', toolCallId: `r${at}`, title: 'Read src/add.js', kind: 'read', status: 'completed' }),
      ),
      TIMES,
    ],
    state: 'verified',
  },
  { name: 'has us write and run', plays: ['run . - node old.js', TIMES, 'run . - node check.js'], state: 'verified' },
  { name: 'changes much', plays: [TIMES, 'large 5000 src/table.txt', 'many 100 src/data'], state: 'verified' },
  {
    name: 'brings binary files, and changes one',
    plays: [TIMES, 'binary src/new.bin', 'binary src/logo.bin'],
    state: 'verified',
  },
  { name: 'renames and moves', plays: [TIMES, 'rename src/old src/new'], state: 'verified' },
  { name: 'removes what is not needed', plays: [TIMES, 'remove src/old'], state: 'verified' },
  { name: 'makes a program of a file', plays: [TIMES, 'executable src/times.js'], state: 'verified' },
  { name: 'has names that are not English', plays: [TIMES, 'put src/größe–☃.txt ja\\n'], state: 'verified' },
  { name: 'leaves a link inside', plays: [TIMES, 'link src/also.js times.js'], state: 'verified' },
  {
    name: 'brings tests of its own',
    plays: [TIMES, ...TESTED],
    ...{ include: ['src/', 'test/'], acceptance: ['`node --test` passes'], state: 'verified' },
    check: ({ payloads }) => expect(payloads('task.judged')).toMatchObject([{ acceptance: [{ before: 'passed' }] }]),
  },
  {
    name: 'adds a command of which nothing was there before',
    plays: ['put src/tool.sh #!/bin/sh\\ntest -n "$1"\\n', 'executable src/tool.sh'],
    ...{ acceptance: ['`./src/tool.sh x` passes'], state: 'verified' },
  },
  {
    name: 'writes the same lines in another form',
    plays: ['put src/add.js exports.add = (left, right) =>\\n  left + right;\\n'],
    ...{ acceptance: [OLD], state: 'unchecked', why: /nothing broke/ },
  },
  {
    name: 'finds that there is nothing to do, and says so',
    plays: ['say It is there already.'],
    ...{ acceptance: [OLD], state: 'unchecked', why: /nothing was changed/ },
  },
  {
    name: 'works where there are no tests',
    plays: ['put src/notes.md Notes.\\n'],
    acceptance: ['there are notes'],
    state: 'unchecked',
  },
  {
    name: 'is asked for one thing that is run and one that is judged',
    plays: [TIMES],
    acceptance: [CHECK, 'it is short'],
    state: 'unchecked',
  },
  {
    name: 'works where tests need what is installed',
    files: {
      '.worktreeinclude': 'node_modules/\n',
      'node_modules/six/index.js': 'module.exports = 6;\n',
      'check.js': "process.exit(require('./src/times.js').times(2, 3) === require('six') ? 0 : 1);\n",
    },
    plays: [TIMES, 'put node_modules/six/cache x\\n'],
    state: 'verified',
  },
  {
    name: 'works where something is built before the tests',
    files: {
      'build.js':
        "const fs = require('node:fs');\nfs.mkdirSync('ignored', { recursive: true });\nfs.copyFileSync('src/times.js', 'ignored/times.js');\n",
      'check.js': "process.exit(require('./ignored/times.js').times(2, 3) === 6 ? 0 : 1);\n",
    },
    plays: [TIMES, 'shell node build.js'],
    ...{ acceptance: ['`node build.js` passes', CHECK], state: 'verified' },
  },
  {
    name: 'writes what makes an ignored file when it is tested',
    plays: [
      "put src/times.js const fs = require('node:fs');\\nfs.mkdirSync('ignored', { recursive: true });\\nfs.writeFileSync('ignored/n', '6');\\nexports.times = () => Number(fs.readFileSync('ignored/n'));\\n",
      'shell node check.js',
    ],
    state: 'verified',
  },
  { name: 'leaves files that are ignored', plays: [TIMES, 'put ignored/cache x\\n'], state: 'verified' },
  { name: 'goes away once, and goes on when it is started again', plays: ['unless @/once die 3', TIMES], state: 'verified' },
];
