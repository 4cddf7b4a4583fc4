/** How a loop ends when its runner does not bring it to its end: cancelled, too old, out of memory, or a port that throws. */
import { afterAll, describe, expect, it } from 'vitest';
import { isAlive, type PortScript, scriptedPorts, watchProcesses } from '../../../test/support/runner/scripted-ports.ts';
import { type Clock, sleep, systemClock } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import type { LoopHost } from '../port.ts';
import { createLoopHost } from './host.ts';
import type { RunnerSettings } from './pool.ts';

const hosts: LoopHost[] = [];
const hostWith = (settings: Partial<RunnerSettings>, clock = systemClock): LoopHost => {
  const host = createLoopHost({ clock, settings: { warm: 0, ...settings } });
  hosts.push(host);
  return host;
};
afterAll(() => Promise.all(hosts.map((host) => host.close())));

const never = (): Promise<void> => new Promise(() => {});
/** Whoever has so many seconds' grace has only so many tenths of one, as long as this holds. */
const hurried = (holds = () => true): Clock => ({
  ...systemClock,
  after: (delayMs, callback, hold) => systemClock.after(holds() ? delayMs / 10 : delayMs, callback, hold),
});

describe('cancelling an agent in a runner', () => {
  it('reaches a loop between its turns, which ends by itself', async () => {
    const abort = new AbortController();
    const processes = watchProcesses();
    const during = (key: string): void => {
      if (key === 'tool/2/0') abort.abort();
    };
    const { input, ports, protocol } = scriptedPorts({ replies: (turn) => [{ input: { turn } }], signal: abort.signal, during });
    expect(await hostWith({}).run(input, ports, processes.hosted)).toMatchObject({ status: 'cancelled', turns: 2 });
    expect(protocol.at(-1)).toContain('tool/2/0');
    expect(processes.news.at(-1)).toMatchObject({ exitCode: 130, why: 'done' });
  });

  it('waits for a call that takes its time to stop', async () => {
    const abort = new AbortController();
    const processes = watchProcesses();
    let stopping = false;
    const during = async (key: string): Promise<void> => {
      if (key !== 'tool/1/0') return;
      stopping = true;
      abort.abort();
      await sleep(systemClock, limits.runnerGraceMs / 10 + 200);
      stopping = false;
    };
    const { input, ports } = scriptedPorts({ replies: () => [{}], signal: abort.signal, during });
    const host = hostWith(
      {},
      hurried(() => stopping),
    );
    expect(await host.run(input, ports, processes.hosted)).toMatchObject({ status: 'cancelled', turns: 1 });
    expect(processes.why()).toEqual(['done']);
  });

  it('ends a runner that does not', async () => {
    const abort = new AbortController();
    const processes = watchProcesses();
    const during = (key: string): void => {
      if (key !== 'model/2') return;
      process.kill(processes.pid(), 'SIGSTOP');
      abort.abort();
    };
    const { input, ports } = scriptedPorts({ replies: (turn) => (turn === 1 ? '' : 'said'), signal: abort.signal, during });
    const host = hostWith(
      {},
      hurried(() => abort.signal.aborted),
    );
    expect(await host.run(input, ports, processes.hosted)).toMatchObject({
      status: 'cancelled',
      turns: 2,
      error: { code: 'cancelled' },
      report: { synthetic: true, body: expect.stringContaining('said') },
    });
    expect(processes.news.at(-1)).toMatchObject({ signal: 'SIGKILL', why: 'stopped' });
  });

  it('of a loop whose runner has just died is not forgotten', async () => {
    const abort = new AbortController();
    const processes = watchProcesses();
    const during = (key: string): void => {
      if (key !== 'model/2') return;
      process.kill(processes.pid(), 'SIGKILL');
      abort.abort();
    };
    const { input, ports, protocol } = scriptedPorts({ replies: (turn) => [{ input: { turn } }], signal: abort.signal, during });
    expect(await hostWith({}).run(input, ports, processes.hosted)).toMatchObject({ status: 'cancelled', turns: 2 });
    // What had begun came to its end: the calls of the second turn were made, once.
    expect(protocol.map((line) => line.split(' ')[0])).toEqual(['model/1', 'tool/1/0', 'model/2', 'tool/2/0']);
  });
});

describe('a port that throws', () => {
  const interruption = new Error('interrupted');
  const interrupt = (): never => {
    throw interruption;
  };
  const throwing = (script: Partial<PortScript>): PortScript => ({ replies: () => [{}, { name: 'act' }], ...script });
  const at = (wanted: string) => (key: string) => {
    if (key === wanted) throw interruption;
  };

  it.each([
    ['a model', throwing({ during: at('model/2') })],
    ['a tool', throwing({ during: at('tool/1/1') })],
    ['messages from others', throwing({ during: at('incoming/1'), incoming: () => [] })],
    ['an exit', throwing({ replies: () => 'x', input: { plain: interrupt } })],
  ])('(%s) stops the runner and is thrown on, the very same', async (_name, script) => {
    const processes = watchProcesses();
    const { input, ports } = scriptedPorts(script);
    await expect(hostWith({}).run(input, ports, processes.hosted)).rejects.toBe(interruption);
    expect(processes.why()).toEqual(['stopped']);
    expect(isAlive(processes.pid())).toBe(false);
  });

  it('waits for the calls beside it', async () => {
    let finished = false;
    const begun = Promise.withResolvers<void>();
    const during = async (key: string): Promise<void> => {
      if (key === 'tool/1/0') {
        await begun.promise;
        throw interruption;
      }
      if (key !== 'tool/1/1') return;
      begun.resolve();
      for (let turn = 0; turn < 50; turn += 1) await sleep(systemClock, 0);
      finished = true;
    };
    const { input, ports } = scriptedPorts(throwing({ during }));
    await expect(hostWith({}).run(input, ports, watchProcesses().hosted)).rejects.toBe(interruption);
    expect(finished).toBe(true);
  });
});

describe('limits', () => {
  it('ends a loop that has been there for too long', async () => {
    const processes = watchProcesses();
    const lifetimeMs = 1_234_567;
    const begun = Promise.withResolvers<void>();
    // The time is over when the loop is in the middle of a turn, however long it took to get there.
    const after: Clock['after'] = (delayMs, callback, hold) => {
      if (delayMs !== lifetimeMs) return systemClock.after(delayMs, callback, hold);
      let isOpen = true;
      void begun.promise.then(() => (isOpen ? callback() : undefined));
      return () => {
        isOpen = false;
      };
    };
    const during = (): Promise<void> => {
      begun.resolve();
      return never();
    };
    const { input, ports } = scriptedPorts({ replies: () => 'x', during });
    const host = hostWith({ lifetimeMs }, { ...systemClock, after });
    expect(await host.run(input, ports, processes.hosted)).toMatchObject({
      status: 'failed',
      error: { code: 'runner_too_old', fix: expect.stringContaining('assistants.lifetime') },
    });
    expect(processes.why()).toEqual(['too_old']);
  });

  it('ends a runner that needs too much memory, and names the setting', async () => {
    const processes = watchProcesses();
    const { input, ports } = scriptedPorts({
      replies: (turn) => [{ input: { turn } }],
      result: () => 'x'.repeat(30_000_000),
      input: { limits: { ...scriptedPorts({ replies: () => '' }).input.limits, contextWindow: 1_000_000_000 } },
    });
    const result = await hostWith({ memoryMiB: 48, restarts: 0 }).run(input, ports, processes.hosted);
    expect(result).toMatchObject({
      status: 'failed',
      error: {
        code: 'runner_crashed',
        message: expect.stringContaining('out of memory'),
        fix: expect.stringContaining('assistants.memory'),
      },
    });
    expect(processes.why()).toEqual(['crashed']);
  });

  it('does not wait for a runner that never gets ready', async () => {
    const processes = watchProcesses((pid) => process.kill(pid, 'SIGSTOP'));
    const { input, ports } = scriptedPorts({ replies: () => 'x' });
    expect(await hostWith({ startMs: 200, restarts: 0 }).run(input, ports, processes.hosted)).toMatchObject({
      error: { code: 'runner_crashed', message: expect.stringContaining('runnerStartMs') },
    });
    expect(isAlive(processes.pid())).toBe(false);
  });

  it('does not send a line that is too long, and names the limit', async () => {
    const { input, ports } = scriptedPorts({ replies: () => [{}], result: () => 'x'.repeat(limits.runnerLineBytes) });
    const processes = watchProcesses();
    expect(await hostWith({}).run(input, ports, processes.hosted)).toMatchObject({
      status: 'failed',
      error: { code: 'runner_line_too_long', message: expect.stringContaining('runnerLineBytes') },
    });
    expect(processes.why()).toEqual(['stopped']);
  });
});
