/**
 * What each file of tests costs in seconds of CPU: its own, and that of the processes that it started and that have ended. With
 * TROUPE_CPU_LOG=<file> every file of tests adds a line to it. Linux only; without the variable nothing is looked at.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { afterAll, expect } from 'vitest';

const TICKS_PER_SECOND = 100;
/** Where proc(5) has the times of a process, counted from behind its name. */
const TIMES_AT = 11;

interface Cpu {
  readonly own: number;
  readonly children: number;
}

/** Children are those that were waited for, with those that they waited for. */
function cpuSeconds(): Cpu {
  const fields = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
    .map(Number);
  const [user = 0, system = 0, childrenUser = 0, childrenSystem = 0] = fields.slice(TIMES_AT);
  return { own: (user + system) / TICKS_PER_SECOND, children: (childrenUser + childrenSystem) / TICKS_PER_SECOND };
}

const log = process.env['TROUPE_CPU_LOG'];
if (log !== undefined) {
  const before = cpuSeconds();
  afterAll(() => {
    const after = cpuSeconds();
    const [own, children] = [after.own - before.own, after.children - before.children];
    const file = relative(process.cwd(), expect.getState().testPath ?? '');
    appendFileSync(log, `${(own + children).toFixed(2)} ${own.toFixed(2)} ${children.toFixed(2)} ${file}\n`);
  });
}
