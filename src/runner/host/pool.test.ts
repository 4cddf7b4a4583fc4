import { describe, expect, it } from 'vitest';
import { FOR_EVER_MS } from '../../../test/support/patience.ts';
import { childrenOf } from '../../../test/support/runner/scripted-ports.ts';
import { type Clock, systemClock } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import { INVALID_PARAMS } from '../wire/rpc.ts';
import { createRunnerPool, type RunnerSettings } from './pool.ts';
import { startRunner } from './process.ts';

const settings: RunnerSettings = { memoryMiB: 64, warm: 1, restarts: 0, lifetimeMs: FOR_EVER_MS, startMs: FOR_EVER_MS };

describe('a pool', () => {
  it.runIf(process.platform === 'linux')('has one ready, started before anybody needs it', async () => {
    const before = new Set(childrenOf(process.pid));
    const started = (): readonly number[] => childrenOf(process.pid).filter((pid) => !before.has(pid));
    const pool = createRunnerPool(systemClock, settings);
    const cold = pool.take();
    expect(started()).toEqual([cold.pid]);
    const taken = [cold];
    for (let round = 0; round < 2; round += 1) {
      const pids = taken.map(({ pid }) => pid);
      const ahead = (): readonly number[] => started().filter((pid) => !pids.includes(pid));
      await expect.poll(ahead).toHaveLength(1);
      const [waiting] = ahead();
      const warm = pool.take();
      expect(warm.pid).toBe(waiting);
      // It answers, with a refusal: nothing was started.
      expect(await warm.peer.request('start', null)).toMatchObject({ error: { code: INVALID_PARAMS } });
      taken.push(warm);
    }
    await Promise.all(taken.map((runner) => runner.stop(0)));
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

describe('a runner of the pool', () => {
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

  /** Whatever is waited for, the time is over at once: what is heard was heard without it. */
  const hurried: Clock = {
    ...systemClock,
    after: (_delayMs, callback) => {
      queueMicrotask(callback);
      return () => undefined;
    },
  };

  it.each([
    ['some time', systemClock],
    ['no time', hurried],
  ])('is understood between what others print, and its last words are kept, with %s left', async (_name, clock) => {
    const frame = JSON.stringify({ jsonrpc: '2.0', method: 'ready', params: {} });
    const printed = JSON.stringify(`noise\n${frame}\nmore\n`);
    const script = `process.stdout.write(${printed}); process.stderr.write('last words'); process.exitCode = 3;`;
    const how = { command: process.execPath, parameters: ['-e', script], folder: '/', environment: {} };
    const runner = startRunner(clock, 64, how);
    const order: string[] = [];
    void runner.ready.then(() => order.push('ready'));
    void runner.gone.then(() => order.push('gone'));
    expect(await runner.gone).toEqual({ exitCode: 3, signal: null });
    expect(order).toEqual(['ready', 'gone']);
    for (const words of ['noise', 'more', 'last words']) expect(runner.lastWords()).toContain(words);
  });
});
