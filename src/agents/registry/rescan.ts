/**
 * When to look at the agent files again: the first time, when files have come or gone, when something was seen to change, and
 * when the last look is a while ago, because not every change can be seen. One look at a time; whoever asks during one shares
 * the next.
 */
import type { Clock } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';

export interface Rescans {
  /** Resolves when a question can be answered: after the first look, and later after a moment at most. */
  ready(): Promise<void>;
  /** A look that begins after the call. */
  now(): Promise<void>;
  stop(): void;
}

interface RescanOptions {
  readonly clock: Clock;
  readonly moved?: (() => boolean) | undefined;
  readonly watch?: ((onChange: () => void) => () => void) | undefined;
}

/** How long a question waits for a look that is not the first. */
const PATIENCE_MS = 100;

export function createRescans(look: () => Promise<void>, { clock, moved, watch }: RescanOptions): Rescans {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  let lastAt: number | undefined;
  let changed = false;
  const unwatch = watch?.(() => {
    changed = true;
  });

  const start = (): Promise<void> => {
    next = undefined;
    changed = false;
    const mine = look()
      .then(() => {
        lastAt = clock.elapsed();
      })
      .finally(() => {
        if (running === mine) running = undefined;
      });
    running = mine;
    return mine;
  };
  const now = (): Promise<void> => {
    if (running === undefined && next === undefined) return start();
    next ??= running?.then(start, start);
    return next ?? start();
  };
  return {
    now,
    ready: async () => {
      if (lastAt === undefined) return running ?? now();
      if (moved?.() === true) return await now().catch(() => undefined);
      if (changed) return briefly(clock, now());
      if (clock.elapsed() - lastAt < limits.safetyCheckMs) return;
      const looked = briefly(clock, running ?? now());
      // Where changes are seen, the look from time to time is for what slipped through: nobody has to wait for it.
      if (watch === undefined) await looked;
    },
    stop: () => unwatch?.(),
  };
}

/** A look that fails leaves what was known; whoever wants to know calls `now`. */
function briefly(clock: Clock, work: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.after(PATIENCE_MS, resolve, 'hold');
    const done = (): void => {
      cancel();
      resolve();
    };
    work.then(done, done);
  });
}
