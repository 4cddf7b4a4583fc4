/** A runner may die at any moment: its loop goes on in another, and no port is asked twice. */
import { afterAll, describe, expect, it } from 'vitest';
import { builtRunner } from '../../../test/support/runner/built-runner.ts';
import {
  isAlive,
  type PortScript,
  scriptedPorts,
  testLimits,
  watchProcesses,
} from '../../../test/support/runner/scripted-ports.ts';
import { systemClock } from '../../base/clock.ts';
import { runLoop } from '../../loop/loop.ts';
import type { Hosted } from '../port.ts';
import { createLoopHost } from './host.ts';

const host = createLoopHost({ clock: systemClock, settings: { warm: 2, ...builtRunner } });
host.warm();
afterAll(() => host.close());

/** Every kind of call: messages from others, models, tools side by side, and a condensing. */
const script: PortScript = {
  replies: (turn) => (turn < 4 ? [{ input: { turn } }, { name: 'act', input: { turn } }] : 'done'),
  result: () => 'x'.repeat(900),
  incoming: (turn) => (turn === 2 ? ['news'] : []),
  unheard: () => false,
  input: { limits: { ...testLimits, contextWindow: 2_000, maxOutputTokens: 500 } },
};
const here = scriptedPorts(script);
const expected = await runLoop(here.input, here.ports);
const keys = here.protocol.map((line) => line.slice(0, line.indexOf(' ')));

type Moment = 'while it is asked' | 'after it was answered';

async function killedAt(key: string, moment: Moment) {
  let killed = false;
  const next = Promise.withResolvers<void>();
  const processes = watchProcesses((_pid, attempt) => void (attempt === 2 && next.resolve()));
  const kill = (): void => {
    killed = true;
    // It may have come to its end by itself.
    if (isAlive(processes.pid())) process.kill(processes.pid(), 'SIGKILL');
  };
  const during = async (asked: string): Promise<void> => {
    if (killed || asked !== key) return;
    if (moment === 'while it is asked') {
      kill();
      // The next runner is there while it is still under way.
      await next.promise;
    } else setImmediate(kill);
  };
  const there = scriptedPorts({ ...script, during });
  const result = await host.run(there.input, there.ports, processes.hosted);
  return { result, processes, protocol: there.protocol, killed };
}

describe('a runner that is killed', () => {
  it('tried every kind of call', () => {
    const kinds = new Set(keys.map((key) => key.split('/')[0]));
    expect([...kinds].toSorted()).toEqual(['condense', 'incoming', 'model', 'tool', 'unheard']);
  });

  it.each(keys.map((key) => [key]))('while %s is asked is replaced', async (key) => {
    const { result, processes, protocol } = await killedAt(key, 'while it is asked');
    expect(result).toEqual(expected);
    expect(protocol.toSorted()).toEqual(here.protocol.toSorted());
    expect(processes.why()).toEqual(['crashed', 'done']);
    expect(processes.news.at(-1)).toMatchObject({ exitCode: 0 });
    expect(processes.isPaired()).toBe(true);
  });

  it.each(keys.filter((_key, index) => index % 4 === 1).map((key) => [key]))('after %s was answered is replaced', async (key) => {
    const { result, processes, protocol } = await killedAt(key, 'after it was answered');
    expect(result).toEqual(expected);
    expect(protocol.toSorted()).toEqual(here.protocol.toSorted());
    expect(processes.isPaired()).toBe(true);
  });

  it('before it began is replaced', async () => {
    const processes = watchProcesses((pid, attempt) => void (attempt < 3 && process.kill(pid, 'SIGKILL')));
    const there = scriptedPorts(script);
    expect(await host.run(there.input, there.ports, processes.hosted)).toEqual(expected);
    expect(processes.why()).toEqual(['crashed', 'crashed', 'done']);
  });

  it('too often fails the loop, which says how', async () => {
    const processes = watchProcesses();
    const last = Promise.withResolvers<void>();
    let asked = false;
    const there = scriptedPorts({
      replies: (turn) => (turn === 1 ? 'half of it' : [{}]),
      input: { plain: () => ({ ok: false, error: 'more' }) },
      // Still under way when the second runner asks for it, and the third.
      during: (key) => {
        if (key !== 'model/2') return undefined;
        asked = true;
        process.kill(processes.pid(), 'SIGKILL');
        return last.promise;
      },
    });
    const again = ({ turn }: { readonly turn: number }): boolean =>
      turn === 2 && asked && process.kill(processes.pid(), 'SIGKILL');
    const hosted: Hosted = {
      ...processes.hosted,
      onProgress: (progress) => void again(progress),
      onProcess(news) {
        processes.hosted.onProcess(news);
        if (processes.why().length === 4) last.resolve();
      },
    };
    const result = await host.run(there.input, there.ports, hosted);
    expect(result).toMatchObject({
      status: 'failed',
      turns: 2,
      error: { code: 'runner_crashed', message: expect.stringContaining('died 4 times, the last time: ended by SIGKILL') },
      report: { synthetic: true, body: expect.stringContaining('half of it') },
    });
    expect(processes.why()).toEqual(['crashed', 'crashed', 'crashed', 'crashed']);
    expect(there.protocol.filter((line) => line.startsWith('model/2'))).toHaveLength(1);
  });
});
