/** A runner must not be noticed: every loop ends as it does in this process, and the ports are asked the very same things. */
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { builtRunner } from '../../../test/support/runner/built-runner.ts';
import { anyPlay, scenarios } from '../../../test/support/runner/scenarios.ts';
import { isAlive, type PortScript, scriptedPorts, watchProcesses } from '../../../test/support/runner/scripted-ports.ts';
import { systemClock } from '../../base/clock.ts';
import { runLoop } from '../../loop/loop.ts';
import { createLoopHost } from './host.ts';

const host = createLoopHost({ clock: systemClock, settings: { warm: 2, ...builtRunner } });
host.warm();
afterAll(() => host.close());

/** Calls that run side by side may be asked in any order. */
const sorted = (protocol: readonly string[]): readonly string[] => protocol.toSorted();

async function compare(script: () => PortScript): Promise<void> {
  const here = scriptedPorts(script());
  const there = scriptedPorts(script());
  const processes = watchProcesses();
  const expected = await runLoop(here.input, here.ports);
  expect(await host.run(there.input, there.ports, processes.hosted)).toEqual(expected);
  expect(sorted(there.protocol)).toEqual(sorted(here.protocol));
  expect(there.lists.size).toBe(here.lists.size);
  expect(processes.why()).toEqual(['done']);
  expect(processes.isPaired()).toBe(true);
}

describe('a loop in a runner ends as it does without one', () => {
  it.each(Object.entries(scenarios))('%s', async (_name, script) => {
    await compare(script);
  });

  it('whatever is said', async () => {
    await fc.assert(fc.asyncProperty(anyPlay, compare), { numRuns: 25 });
  });
});

describe('the process of a runner', () => {
  it.each([
    ['completed', scenarios['a plain answer'], 0],
    ['failed', scenarios['no report at all'], 1],
    ['budget_exhausted', scenarios['an exhausted budget'], 4],
    ['cancelled', scenarios['a loop cancelled before it began'], 130],
  ] as const)('of a loop that ends %s ends by itself with the exit code of it', async (status, script, exitCode) => {
    const processes = watchProcesses();
    const { input, ports } = scriptedPorts(script?.() ?? { replies: () => '' });
    expect(await host.run(input, ports, processes.hosted)).toMatchObject({ status });
    expect(processes.news).toMatchObject([
      { kind: 'started', attempt: 1 },
      { kind: 'ended', exitCode, signal: null, why: 'done' },
    ]);
    expect(isAlive(processes.pid())).toBe(false);
  });

  it('tells how far it is', async () => {
    const processes = watchProcesses();
    const { input, ports } = scriptedPorts({ replies: (turn) => (turn < 3 ? [{ input: { turn } }] : 'done') });
    await host.run(input, ports, processes.hosted);
    expect(processes.turns).toEqual([1, 2, 3]);
  });
});
