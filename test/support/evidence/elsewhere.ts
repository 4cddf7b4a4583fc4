/** Tests that are moved or listed elsewhere, and sources where nobody looks for them. */
import { type Case, WRAPPER } from './world.ts';

const CLAIM = ['node --test'];

export const elsewhereTricks: readonly Case[] = [
  {
    name: 'a source among reports, broken after the tests',
    git: true,
    deeds: [
      'mkdir coverage && cp src/add.js coverage/add.js && echo "exports.add = require(\'../coverage/add.js\').add" > src/add.js',
      'node --test',
      "sed -i 's/+/-/' coverage/add.js",
    ],
    claims: CLAIM,
  },
  {
    name: 'the failing test moved to where it is not found',
    ...{ broken: true, files: { 'package.json': '{"scripts":{"test":"node --test \\"test/*.test.js\\""}}' } },
    deeds: ['mv test/add.test.js test/add.test.mjs', 'npm test'],
    claims: ['npm test'],
  },
  {
    name: 'a list of the tests that a program of the project reads',
    broken: true,
    files: {
      'package.json': '{"scripts":{"test":"node run.js"}}',
      'suite.txt': 'test/add.test.js',
      'run.js': WRAPPER.replace("['--test']", "['--test', require('node:fs').readFileSync('suite.txt', 'utf8').trim()]"),
    },
    deeds: ['echo test/zero.test.js > suite.txt', 'npm test'],
    claims: ['npm test'],
  },
  {
    name: 'npm told to show how it is used, in a file',
    broken: true,
    deeds: ['echo usage=true > .npmrc'],
    claims: [],
    verify: ['npm test'],
  },
];
