/** Where time comes in. Everything that needs to know or wait takes a `Clock`; only this file reads the real one. */

/** Time, and a way to wait for it. */
export interface Clock {
  /** Milliseconds since 1970. May jump, also backwards: use it for labels, never for durations. */
  now(): number;
  /** Milliseconds since some start, never going backwards: use it for durations. */
  elapsed(): number;
  /**
   * Calls back once, when `delayMs` have passed by `elapsed`, never earlier, however long that is; and returns what takes it
   * back. Does not keep the process alive unless `hold`.
   */
  after(delayMs: number, callback: () => void, hold?: 'hold'): () => void;
}

/** What a system gives: clocks, and timers that are good for some weeks and may ring a moment early. */
export interface SystemTimers {
  now(): number;
  elapsed(): number;
  /** Gives what takes it back. */
  start(delayMs: number, callback: () => void, hold: boolean): () => void;
}

/** Longer timers than this overflow in Node and would ring at once. */
const TIMER_MAX_MS = 2_147_483_647;

/** Timers of Node count in whole milliseconds by a clock of their own: one that rings early is set again for what is left. */
export function createClock({ now, elapsed, start }: SystemTimers): Clock {
  return {
    now,
    elapsed,
    after(delayMs, callback, hold) {
      const due = elapsed() + Math.max(0, delayMs);
      let takeBack = (): void => undefined;
      const wait = (leftMs: number): void => {
        takeBack = start(Math.min(Math.ceil(leftMs), TIMER_MAX_MS), ring, hold !== undefined);
      };
      const ring = (): void => {
        const leftMs = due - elapsed();
        if (leftMs > 0) wait(leftMs);
        else callback();
      };
      wait(Math.max(0, delayMs));
      return () => takeBack();
    },
  };
}

export const systemClock: Clock = createClock({
  now: () => Date.now(),
  elapsed: () => performance.now(),
  start(delayMs, callback, hold) {
    const timer = setTimeout(callback, delayMs);
    if (!hold) timer.unref();
    return () => clearTimeout(timer);
  },
});

/** Resolves when everything that is ready has had its turn. Takes no time. */
export function eventLoopTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/** Resolves after `delayMs`, never earlier, or as soon as `signal` aborts. Says which. */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<'elapsed' | 'aborted'> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) return resolve('aborted');
    const onAbort = (): void => {
      cancel();
      resolve('aborted');
    };
    const cancel = clock.after(
      delayMs,
      () => {
        signal?.removeEventListener('abort', onAbort);
        resolve('elapsed');
      },
      'hold',
    );
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

const HOUR_MS = 3_600_000;

/** Keeps the process alive until it is taken back: for waiting on something that does not do so itself. */
export function holdProcess(): () => void {
  const timer = setInterval(() => undefined, HOUR_MS);
  return () => clearInterval(timer);
}
