/** Time that passes only when a test says so: hours of waiting cost nothing, and the same seed waits in the same order. */
import type { Clock } from '../../src/base/clock.ts';

export interface VirtualClock extends Clock {
  /** Goes on to the next timer and lets it ring. False when there is none. */
  advance(): boolean;
}

interface Timer {
  readonly at: number;
  readonly order: number;
  callback(): void;
}

export function createVirtualClock(startMs: number): VirtualClock {
  const timers = new Set<Timer>();
  let time = startMs;
  let order = 0;
  return {
    now: () => time,
    elapsed: () => time - startMs,
    after(delayMs, callback) {
      order += 1;
      // Whole milliseconds and at least one, as real timers.
      const timer = { at: time + Math.max(1, Math.ceil(delayMs)), order, callback };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    advance() {
      let next: Timer | undefined;
      for (const timer of timers)
        if (next === undefined || timer.at < next.at || (timer.at === next.at && timer.order < next.order)) next = timer;
      if (next === undefined) return false;
      timers.delete(next);
      time = Math.max(time, next.at);
      next.callback();
      return true;
    },
  };
}
