import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { expect, it } from 'vitest';
import { MARK_VARIABLE } from '../process/processes.ts';
import { memoryBelow } from './memory.ts';

const MIB = 100;
/** Other pages come and go meanwhile. */
const LEAST = 80;
const HOLDS = `globalThis.held = Buffer.alloc(${MIB} * 1024 * 1024, 1); console.log('held');`;
/** Ends with whoever holds the other end of its last pipe. */
const ORPHAN = `${HOLDS} new (require('node:net').Socket)({ fd: 3 }).resume().on('end', () => process.exit());`;
/** What the shell started has no parent any more when it has ended. */
const left = (how: string): string =>
  `spawn('/bin/sh', ['-c', ${JSON.stringify(`${how} "$0" -e "$1" &`)}, process.execPath, ${JSON.stringify(ORPHAN)}],
    { stdio: ['ignore', 'pipe', 'ignore', 'pipe'] }).stdout.pipe(process.stdout)`;
/** One after the other. */
const FAMILY = `
  const { spawn } = require('node:child_process');
  const deeds = [
    () => { ${HOLDS} },
    () => spawn(process.execPath, ['-e', ${JSON.stringify(`${HOLDS} process.stdin.resume()`)}]).stdout.pipe(process.stdout),
    () => ${left('env -i')},
    () => ${left('exec setsid')},
  ];
  process.stdin.on('data', () => deeds.shift()());
  console.log('begun');`;

it('what a process holds is measured as it grows, with its children and with those that left it, until it is gone', async () => {
  const env = { ...process.env, [MARK_VARIABLE]: `memory-${process.pid}` };
  // Like an executor it is the first of its group.
  const family = spawn(process.execPath, ['-e', FAMILY], { stdio: ['pipe', 'pipe', 'inherit'], env, detached: true });
  const pid = family.pid ?? 0;
  const lines = createInterface({ input: family.stdout })[Symbol.asyncIterator]();
  const used = async (said: string): Promise<number> => {
    expect((await lines.next()).value).toBe(said);
    // Only Linux says it.
    return (await memoryBelow(pid)) ?? Number.NaN;
  };
  try {
    const sums = [await used('begun')];
    for (const deed of ['grow', 'have a child', 'one without a mark leaves', 'one with a mark leaves, and the group']) {
      family.stdin.write(`${deed}\n`);
      sums.push(await used('held'));
    }
    const more = sums.slice(1).map((sum, index) => sum - (sums[index] ?? Number.NaN) >= LEAST);
    expect(more).toEqual(Array.from(more, () => process.platform === 'linux'));
  } finally {
    // All others read from it and end with it.
    const gone = once(family, 'exit');
    family.kill('SIGKILL');
    await gone;
  }
  expect(await memoryBelow(pid)).toBeUndefined();
});
