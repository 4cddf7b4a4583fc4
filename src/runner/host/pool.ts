/**
 * Runners that are started ahead, so that a loop need not wait for one. Each plays one loop; the next is started in its
 * place. Those that wait cost memory and nothing else: they keep nothing alive, and leave when they have waited too long.
 */
import { type Clock, sleep } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import type { Confined } from './confinement.ts';
import { type RunnerProcess, startRunner } from './process.ts';

export interface RunnerSettings {
  /** What the JavaScript heap of one runner may hold. */
  readonly memoryMiB: number;
  /** How many runners wait ready. */
  readonly warm: number;
  /** How often a runner that died is replaced within one loop. */
  readonly restarts: number;
  /** How long a loop may stay in runners, and how long a runner waits for one. */
  readonly lifetimeMs: number;
  /** How long a runner may take to start. */
  readonly startMs: number;
  /** What is started; without it, the worker beside this file. */
  readonly how?: ((memoryMiB: number) => Confined) | undefined;
}

export interface RunnerPool {
  /** One that is ready, or one that has just been started. */
  take(): RunnerProcess;
  warm(): void;
  close(): Promise<void>;
}

export function createRunnerPool(clock: Clock, settings: RunnerSettings): RunnerPool {
  const start = (): RunnerProcess => startRunner(clock, settings.memoryMiB, settings.how?.(settings.memoryMiB));
  /** With what takes back its end for having waited too long. */
  const waiting = new Map<RunnerProcess, () => void>();
  let closed = false;

  const dismiss = async (runner: RunnerProcess): Promise<void> => {
    waiting.get(runner)?.();
    waiting.delete(runner);
    runner.peer.notify('shutdown', {});
    await runner.stop(limits.stopGraceMs);
  };

  const refill = (): void => {
    for (let missing = settings.warm - waiting.size; missing > 0 && !closed; missing -= 1) {
      const runner = start();
      runner.hold(false);
      waiting.set(
        runner,
        clock.after(settings.lifetimeMs, () => void dismiss(runner)),
      );
      // One that died while it waited is not replaced before somebody needs one: what cannot start must not start for ever.
      void runner.gone.then(() => {
        waiting.get(runner)?.();
        waiting.delete(runner);
      });
    }
  };

  return {
    take() {
      const [ready] = waiting;
      const runner = ready?.[0] ?? start();
      ready?.[1]();
      waiting.delete(runner);
      runner.hold(true);
      // The loop comes first: the next runner is started when this one is on its way.
      void runner.ready.then(() => sleep(clock, 0)).then(refill);
      return runner;
    },
    warm: refill,
    async close() {
      closed = true;
      await Promise.all([...waiting.keys()].map(dismiss));
    },
  };
}
