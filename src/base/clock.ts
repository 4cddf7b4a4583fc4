/** Where time comes in. Everything that needs to know or wait takes a `Clock`; only this file reads the real one. */

export interface Clock {
  /** Milliseconds since 1970. May jump, also backwards: use it for labels, never for durations. */
  now(): number;
  /** Milliseconds since some start, never going backwards: use it for durations. */
  elapsed(): number;
  /** Calls back once after `delayMs`, and returns what takes it back. Does not keep the process alive unless `hold`. */
  after(delayMs: number, callback: () => void, hold?: 'hold'): () => void;
}

/** Longer timers than this overflow in Node and would fire at once. */
const TIMER_MAX_MS = 2_147_483_647;

export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  after: (delayMs, callback, hold) => {
    const timer = setTimeout(callback, Math.min(Math.max(0, delayMs), TIMER_MAX_MS));
    if (hold === undefined) timer.unref();
    return () => clearTimeout(timer);
  },
};

/** Resolves after `delayMs`, or as soon as `signal` aborts. Says which. */
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
