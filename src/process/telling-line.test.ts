import { expect, it } from 'vitest';
import { tellingLine } from './telling-line.ts';

const frames = (count: number): string => '    at one (file.js:1:2)\n'.repeat(count);

it.each([
  ['', '', 0],
  ['why it died\n\n', 'why it died', 0],
  ['one\ntwo\n', 'two', 1],
  [`node:internal:1\n\nError [ERR_X]: no such module\n${frames(4)}\nNode.js v24.1.0\n`, 'Error [ERR_X]: no such module', 6],
  ['Traceback:\nValueError: one\n\nDuring that:\nRuntimeError: other\n', 'RuntimeError: other', 3],
  [`error: long ago\n${'working\n'.repeat(50)}killed\n`, 'killed', 51],
])('of %j it is %j', (written, line, others) => {
  expect(tellingLine(written)).toEqual({ line, others });
});
