import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { expect, it } from 'vitest';
import { memoryBelow } from './memory.ts';

const MIB = 100;
/** Other pages come and go meanwhile. */
const LEAST = 80;
const HOLDS = `globalThis.held = Buffer.alloc(${MIB} * 1024 * 1024, 1); console.log('held');`;
const FAMILY = `
  process.stdin.once('data', () => {
    ${HOLDS}
    process.stdin.once('data', () => {
      const child = require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(`${HOLDS} process.stdin.resume()`)}]);
      child.stdout.pipe(process.stdout);
    });
  });
  console.log('begun');`;

it('what a process holds is measured as it grows, with what its children hold, until it is gone', async () => {
  const family = spawn(process.execPath, ['-e', FAMILY], { stdio: ['pipe', 'pipe', 'inherit'] });
  const pid = family.pid ?? 0;
  const lines = createInterface({ input: family.stdout })[Symbol.asyncIterator]();
  const used = async (said: string): Promise<number> => {
    expect((await lines.next()).value).toBe(said);
    // Only Linux says it.
    return (await memoryBelow(pid)) ?? Number.NaN;
  };
  try {
    const before = await used('begun');
    family.stdin.write('grow\n');
    const grown = await used('held');
    family.stdin.write('have a child\n');
    const both = await used('held');
    const isKnown = process.platform === 'linux';
    expect([grown - before >= LEAST, both - grown >= LEAST]).toEqual([isKnown, isKnown]);
  } finally {
    // Its child reads from it and ends with it.
    const gone = once(family, 'exit');
    family.kill('SIGKILL');
    await gone;
  }
  expect(await memoryBelow(pid)).toBeUndefined();
});
