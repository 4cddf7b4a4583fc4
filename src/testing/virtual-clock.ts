/** Time that passes only when a test says so: hours of waiting cost nothing, and the same seed waits in the same order. */
import { type Clock, sleep, systemClock } from '../base/clock.ts';

/** A clock that a test moves. */
export interface VirtualClock extends Clock {
  /** Goes on to the next timer and lets it ring. False when there is none. */
  advance(): boolean;
  /**
   * Lets time pass, timer by timer, whenever this process has been quiet for a moment, until the work is done. Only for work in
   * this process: a child process or a server needs real time, and its timeout would ring first.
   */
  until<Value>(work: Promise<Value>): Promise<Value>;
}

interface Timer {
  readonly at: number;
  readonly order: number;
  callback(): void;
}

/** How long nothing has to happen before the next timer rings. */
const QUIET_MS = 1;

/** Starts at this time, in milliseconds since 1970, and stands still. */
export function createVirtualClock(startMs: number): VirtualClock {
  const timers = new Set<Timer>();
  let time = startMs;
  let order = 0;
  const advance = (): boolean => {
    let next: Timer | undefined;
    for (const timer of timers)
      if (next === undefined || timer.at < next.at || (timer.at === next.at && timer.order < next.order)) next = timer;
    if (next === undefined) return false;
    timers.delete(next);
    time = Math.max(time, next.at);
    next.callback();
    return true;
  };
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
    advance,
    async until(work) {
      let done = false;
      const end = (): void => {
        done = true;
      };
      const settled = work.then(end, end);
      for (;;) {
        await Promise.race([settled, sleep(systemClock, QUIET_MS)]);
        if (done) return await work;
        advance();
      }
    },
  };
}
