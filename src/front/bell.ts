/** Waits for the first sign that there may be something new, whoever gives it, and misses none between two looks. */
import type { Clock } from '../base/clock.ts';

interface Bell {
  /** From now on what rings is remembered. */
  listen(): void;
  /** Whether it rings within this time, or has rung since. */
  heard(withinMs: number): Promise<'news' | 'nothing'>;
  stop(): void;
}

export function createBell(
  clock: Clock,
  signal: AbortSignal,
  hang: (ring: () => void) => readonly ((() => void) | undefined)[],
): Bell {
  let rang = false;
  let wake = (): void => undefined;
  const ring = (): void => {
    rang = true;
    wake();
  };
  const stops = hang(ring);
  signal.addEventListener('abort', ring);
  return {
    listen: () => {
      rang = false;
    },
    heard: (withinMs) =>
      new Promise((resolve) => {
        if (rang || signal.aborted) return resolve('news');
        const cancel = clock.after(withinMs, () => resolve('nothing'));
        wake = () => {
          cancel();
          resolve('news');
        };
      }),
    stop: () => {
      for (const stop of stops) stop?.();
      signal.removeEventListener('abort', ring);
    },
  };
}
