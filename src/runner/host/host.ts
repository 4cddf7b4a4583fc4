/** The host of loops in child processes: see port.ts for what it promises. */
import type { Clock } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import type { LoopHost } from '../port.ts';
import { hostLoop } from './hosted-loop.ts';
import { createRunnerPool, type RunnerSettings } from './pool.ts';

export interface LoopHostOptions {
  readonly clock: Clock;
  readonly settings?: Partial<RunnerSettings> | undefined;
}

const defaults: RunnerSettings = {
  memoryMiB: limits.runnerMemoryMiB,
  warm: limits.runnerWarm,
  restarts: limits.runnerRestarts,
  lifetimeMs: limits.assistantLifetimeMs,
  startMs: limits.runnerStartMs,
};

export function createLoopHost({ clock, settings: changed = {} }: LoopHostOptions): LoopHost {
  const settings: RunnerSettings = { ...defaults, ...changed };
  const pool = createRunnerPool(clock, settings);
  const closed = new AbortController();
  const underWay = new Set<Promise<unknown>>();
  return {
    run(input, ports, hosted) {
      const result = hostLoop({ clock, settings, pool, closed: closed.signal }, input, ports, hosted);
      underWay.add(result);
      const forget = (): void => void underWay.delete(result);
      result.then(forget, forget);
      return result;
    },
    warm: pool.warm,
    async close() {
      closed.abort();
      await Promise.allSettled([pool.close(), ...underWay]);
    },
  };
}
