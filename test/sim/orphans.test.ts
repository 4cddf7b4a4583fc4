/** Real SIGKILL of a process that has commands and MCP servers running: none of them survives it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { seededRandom } from '../../src/base/random.ts';
import { endMarked, markedProcesses, runningProcesses } from '../support/process/marked-processes.ts';
import { programOf } from '../support/programs/programs.ts';

const KILLS = 30;
/** That many are there at least when everything runs. */
const PROCESSES = 14;
const main = await programOf(join(import.meta.dirname, '../support/process/orphan-parent-main.ts'));
const folder = mkdtempSync(join(tmpdir(), 'troupe-orphans-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** As soon as so many processes are there. Gives how many they were at the time of the kill. */
async function killOne(mark: string, atLeast: number): Promise<number> {
  const parent = spawn(process.execPath, [main, mark, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => {
    parent.kill('SIGKILL');
    endMarked(mark);
  });
  await once(parent.stdout, 'data');
  await expect.poll(() => markedProcesses(mark).length).toBeGreaterThanOrEqual(atLeast);
  const children = runningProcesses().filter((one) => one.parent === parent.pid);
  const before = markedProcesses(mark).length;
  parent.kill('SIGKILL');
  await once(parent, 'exit');
  await expect.poll(() => markedProcesses(mark)).toEqual([]);
  // What stood by to end them has ended too.
  expect(children.some(({ command }) => command.includes('troupe-reaper'))).toBe(true);
  const pids = new Set(children.map(({ pid }) => pid));
  await expect.poll(() => runningProcesses().filter(({ pid }) => pids.has(pid))).toEqual([]);
  return before;
}

describe('kill -9', () => {
  it(`leaves no command and no MCP server behind, ${KILLS} times`, async () => {
    const random = seededRandom(5);
    const found: number[] = [];
    for (let kill = 0; kill < KILLS; kill += 1)
      found.push(await killOne(`troupe-orphan-${process.pid}-${kill}`, 1 + Math.floor(random.fraction() * PROCESSES)));
    expect(Math.max(...found)).toBeGreaterThan(10);
    expect(Math.min(...found)).toBeGreaterThan(0);
  });
});
