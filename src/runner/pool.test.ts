import { describe, expect, it } from 'vitest';
import { childrenOf } from '../../test/support/runner-play.ts';
import { systemClock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import { createRunnerPool, type RunnerSettings } from './pool.ts';
import { INVALID_PARAMS } from './rpc.ts';
import { type RunnerProcess, startRunner } from './runner-process.ts';

const settings: RunnerSettings = { memoryMiB: 64, warm: 1, restarts: 0, lifetimeMs: 60_000, startMs: 30_000 };

/** Until a runner answers, which it does with a refusal: nothing was started. */
async function untilItAnswers(runner: RunnerProcess): Promise<number> {
  const started = performance.now();
  await runner.peer.request('start', null);
  return performance.now() - started;
}

describe('a pool', () => {
  it('has one ready, which is faster than starting one', async () => {
    const pool = createRunnerPool(systemClock, settings);
    const cold = pool.take();
    const coldMs = await untilItAnswers(cold);
    const next = pool.take();
    await next.ready;
    await new Promise((resolve) => setTimeout(resolve, 20));
    const warm = pool.take();
    await warm.ready;
    const warmMs = await untilItAnswers(warm);
    expect(warmMs).toBeLessThan(coldMs / 3);
    expect(new Set([cold.pid, next.pid, warm.pid]).size).toBe(3);
    await Promise.all([cold, next, warm].map((runner) => runner.stop(0)));
    await pool.close();
  });

  it.runIf(process.platform === 'linux')('lets go of one that has waited too long', async () => {
    const pool = createRunnerPool(systemClock, { ...settings, lifetimeMs: 100 });
    const before = new Set(childrenOf(process.pid));
    const waiting = (): readonly number[] => childrenOf(process.pid).filter((pid) => !before.has(pid));
    pool.warm();
    expect(waiting()).toHaveLength(1);
    await expect.poll(waiting).toEqual([]);
    await pool.close();
  });

  it.runIf(process.platform === 'linux')('starts none beyond its number, and none after it was closed', async () => {
    const pool = createRunnerPool(systemClock, { ...settings, warm: 2 });
    const before = new Set(childrenOf(process.pid));
    const waiting = (): readonly number[] => childrenOf(process.pid).filter((pid) => !before.has(pid));
    pool.warm();
    pool.warm();
    expect(waiting()).toHaveLength(2);
    const taken = pool.take();
    await pool.close();
    await taken.stop(0);
    pool.warm();
    expect(waiting()).toEqual([]);
  });

  it.runIf(process.platform === 'linux')('does not hand out one that has died', async () => {
    const pool = createRunnerPool(systemClock, settings);
    const before = new Set(childrenOf(process.pid));
    const waiting = (): readonly number[] => childrenOf(process.pid).filter((pid) => !before.has(pid));
    pool.warm();
    for (const pid of waiting()) process.kill(pid, 'SIGKILL');
    await expect.poll(waiting).toEqual([]);
    const runner = pool.take();
    expect(await runner.peer.request('start', null)).toMatchObject({ error: { code: INVALID_PARAMS } });
    await runner.stop(0);
    await pool.close();
  });
});

describe('a runner', () => {
  it('leaves when it is told to', async () => {
    const runner = startRunner(systemClock, 64);
    runner.peer.notify('shutdown', {});
    expect(await runner.stop(limits.runnerStartMs)).toEqual({ exitCode: 0, signal: null });
    expect(await runner.peer.request('start', null)).toMatchObject({ ok: false });
  });

  it('that cannot be started says why', async () => {
    const runner = startRunner(systemClock, 64, { command: '/nowhere/node', parameters: [], folder: '/', environment: {} });
    expect(runner.pid).toBeUndefined();
    expect(await runner.gone).toMatchObject({ problem: expect.stringContaining('ENOENT') });
  });

  it('is understood between what others print, and its last words are kept', async () => {
    const frame = JSON.stringify({ jsonrpc: '2.0', method: 'ready', params: {} });
    const printed = JSON.stringify(`noise\n${frame}\nmore\n`);
    const script = `process.stdout.write(${printed}); process.stderr.write('last words'); process.exitCode = 3;`;
    const how = { command: process.execPath, parameters: ['-e', script], folder: '/', environment: {} };
    const runner = startRunner(systemClock, 64, how);
    const order: string[] = [];
    void runner.ready.then(() => order.push('ready'));
    void runner.gone.then(() => order.push('gone'));
    expect(await runner.gone).toEqual({ exitCode: 3, signal: null });
    expect(order).toEqual(['ready', 'gone']);
    for (const words of ['noise', 'more', 'last words']) expect(runner.lastWords()).toContain(words);
  });
});
