/** Nothing of a runner is left when its host is killed, ends, or is closed. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { childrenOf, isAlive, scriptedPorts, watchProcesses } from '../../../test/support/runner/scripted-ports.ts';
import { sleep, systemClock } from '../../base/clock.ts';
import { createLoopHost } from './host.ts';

const PARENT = fileURLToPath(new URL('../../../test/support/runner/parent-main.ts', import.meta.url));

/** A process that has ended but was not yet asked about by whoever adopted it counts as gone. */
function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

const allGone = (pids: readonly number[]): Promise<void> => expect.poll(() => pids.filter(isRunning)).toEqual([]);

async function startParent(mode: 'busy' | 'idle'): Promise<{ parent: ChildProcessWithoutNullStreams; pids: number[] }> {
  const parent = spawn(process.execPath, [PARENT, mode], { stdio: 'pipe' });
  const line = await new Promise<string>((resolve, reject) => {
    parent.stdout.once('data', (chunk: Buffer) => resolve(chunk.toString()));
    parent.once('exit', (code) => reject(new Error(`the parent ended with ${code}`)));
  });
  return { parent, pids: JSON.parse(line) };
}

describe.runIf(process.platform === 'linux')('runners', () => {
  it('end when their host is killed, those that wait too', async () => {
    const { parent, pids } = await startParent('busy');
    const all = childrenOf(parent.pid ?? 0);
    expect(all).toEqual(expect.arrayContaining(pids));
    expect(all.length).toBeGreaterThanOrEqual(pids.length);
    parent.kill('SIGKILL');
    await allGone(all);
  });

  it('do not keep their host alive while they wait, and end with it', async () => {
    const { parent, pids } = await startParent('idle');
    const code = parent.exitCode ?? (await new Promise((resolve) => parent.once('exit', resolve)));
    expect(code).toBe(0);
    await allGone(pids);
  });

  it('end with close, and none is started after it', async () => {
    const before = new Set(childrenOf(process.pid));
    const host = createLoopHost({ clock: systemClock, settings: { warm: 2 } });
    host.warm();
    const { input, ports } = scriptedPorts({ replies: () => 'x', during: () => new Promise(() => {}) });
    const asked = Promise.withResolvers<void>();
    const processes = watchProcesses();
    const ask = (request: Parameters<typeof ports.model.ask>[0]) => {
      asked.resolve();
      return ports.model.ask(request);
    };
    const result = host.run(input, { ...ports, model: { ask } }, processes.hosted).catch((error: unknown) => error);
    await asked.promise;
    await host.close();
    expect(await result).toMatchObject({ code: 'runner_closed' });
    expect(processes.why()).toEqual(['stopped']);
    expect(isAlive(processes.pid())).toBe(false);
    // The next one would be started a moment after the last was ready.
    for (let moment = 0; moment < 3; moment += 1) await sleep(systemClock, 0);
    expect(childrenOf(process.pid).filter((pid) => !before.has(pid))).toEqual([]);
    const late = scriptedPorts({ replies: () => 'x' });
    await expect(host.run(late.input, late.ports, watchProcesses().hosted)).rejects.toMatchObject({ code: 'runner_closed' });
    expect(late.protocol).toEqual([]);
  });
});
