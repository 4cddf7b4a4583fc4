/** The host of sessions in child processes: see port.ts for what it promises. */
import type { Clock } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import type { SessionHost } from '../port.ts';
import { createRunnerPool, type RunnerSettings } from './pool.ts';
import { hostSession } from './session.ts';

export interface SessionHostOptions {
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

export function createSessionHost({ clock, settings: changed = {} }: SessionHostOptions): SessionHost {
  const settings: RunnerSettings = { ...defaults, ...changed };
  const pool = createRunnerPool(clock, settings);
  const closed = new AbortController();
  const underWay = new Set<Promise<unknown>>();
  return {
    run(input, ports, hosted) {
      const result = hostSession({ clock, settings, pool, closed: closed.signal }, input, ports, hosted);
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
