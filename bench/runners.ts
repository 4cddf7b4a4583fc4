/**
 * What a runner costs: `node bench/runners.ts [--repetitions 20]`. Prints, as tables, how long it takes from asking for a
 * session to its first model request, with a runner that waits and without, beside the same in this process; and the memory
 * of a runner that waits.
 */
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { systemClock } from '../src/base/clock.ts';
import { runLoop } from '../src/loop/loop.ts';
import type { LoopInput, LoopPorts, LoopResult } from '../src/loop/port.ts';
import { createLoopHost } from '../src/runner/host/host.ts';
import { startRunner } from '../src/runner/host/process.ts';
import { scriptedPorts, watchProcesses } from '../test/support/runner/scripted-ports.ts';

const MIB = 1024;

type Play = (input: LoopInput, ports: LoopPorts) => Promise<LoopResult>;

/** Milliseconds from the call to the first model request. */
async function firstRequestMs(run: Play): Promise<number> {
  let asked = 0;
  const { input, ports } = scriptedPorts({
    replies: () => 'done',
    during: () => {
      asked = performance.now();
    },
  });
  const started = performance.now();
  await run(input, ports);
  return asked - started;
}

export interface RunnerFigures {
  readonly inlineMs: readonly number[];
  readonly warmMs: readonly number[];
  readonly coldMs: readonly number[];
  /** Of one runner that waits; the proportional size shares what several processes map among them. */
  readonly idleRssMib: number;
  readonly idlePssMib: number | undefined;
}

export async function measureRunners(repetitions: number): Promise<RunnerFigures> {
  const times = async (once: () => Promise<number>): Promise<number[]> => {
    const taken: number[] = [];
    for (let index = 0; index < repetitions; index += 1) taken.push(await once());
    return taken.toSorted((left, right) => left - right);
  };
  const cold = createLoopHost({ clock: systemClock, settings: { warm: 0 } });
  const inlineMs = await times(() => firstRequestMs(runLoop));
  const coldMs = await times(() => firstRequestMs((input, ports) => cold.run(input, ports, watchProcesses().hosted)));
  const warmMs = await times(async () => {
    const host = createLoopHost({ clock: systemClock, settings: { warm: 1 } });
    host.warm();
    // Nothing tells from outside that a runner waits; it takes a fraction of this.
    await new Promise((resolve) => setTimeout(resolve, 800));
    const taken = await firstRequestMs((input, ports) => host.run(input, ports, watchProcesses().hosted));
    await host.close();
    return taken;
  });
  await cold.close();
  return { inlineMs, warmMs, coldMs, ...(await idleMemory()) };
}

/** Several wait at once, so that what they share is shared as it would be. */
async function idleMemory(): Promise<Pick<RunnerFigures, 'idleRssMib' | 'idlePssMib'>> {
  const runners = Array.from({ length: 4 }, () => startRunner(systemClock, 256));
  await Promise.all(runners.map((runner) => runner.ready));
  const sizes = runners.map(({ pid }) => ({
    rss: field(`/proc/${pid}/status`, 'VmRSS'),
    pss: field(`/proc/${pid}/smaps_rollup`, 'Pss'),
  }));
  await Promise.all(runners.map((runner) => runner.stop(0)));
  const mean = (values: readonly (number | undefined)[]): number | undefined => {
    const known = values.filter((value) => value !== undefined);
    return known.length < values.length ? undefined : known.reduce((sum, value) => sum + value, 0) / known.length;
  };
  return { idleRssMib: mean(sizes.map(({ rss }) => rss)) ?? 0, idlePssMib: mean(sizes.map(({ pss }) => pss)) };
}

/** A size in MiB from a file of the kernel's; `undefined` when it may not be read. */
function field(path: string, name: string): number | undefined {
  try {
    const found = new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(readFileSync(path, 'utf8'));
    return found?.[1] === undefined ? undefined : Number(found[1]) / MIB;
  } catch {
    return undefined;
  }
}

export function renderRunners(figures: RunnerFigures): string {
  const at = (values: readonly number[], share: number): string =>
    (values[Math.min(values.length - 1, Math.floor(values.length * share))] ?? Number.NaN).toFixed(1);
  const row = (name: string, values: readonly number[]): string => `| ${name} | ${at(values, 0.5)} ms | ${at(values, 0.95)} ms |`;
  const mib = (value: number | undefined): string => (value === undefined ? 'not readable' : `${value.toFixed(1)} MiB`);
  return [
    '| from asking for a session to its first model request | median | 95 % |',
    '|---|---|---|',
    row('in this process', figures.inlineMs),
    row('in a runner that waited', figures.warmMs),
    row('in a runner started for it', figures.coldMs),
    '',
    '| memory of a runner that waits | |',
    '|---|---|',
    `| resident (RSS) | ${mib(figures.idleRssMib)} |`,
    `| its share of what is resident (PSS) | ${mib(figures.idlePssMib)} |`,
    '',
  ].join('\n');
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { values } = parseArgs({ options: { repetitions: { type: 'string', default: '20' } } });
  const repetitions = Number(values.repetitions);
  if (!Number.isInteger(repetitions) || repetitions < 1) throw new Error('--repetitions takes a whole number from 1');
  process.stdout.write(renderRunners(await measureRunners(repetitions)));
}
