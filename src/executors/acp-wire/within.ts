/** Waits for something, but not for ever. */
import { type Clock, sleep } from '../../base/clock.ts';

export const LATE = Symbol('late');

/** What the promise gives, or `LATE` when it takes longer. A promise that fails, fails here too. */
export async function inTime<Value>(promise: Promise<Value>, ms: number, clock: Clock): Promise<Value | typeof LATE> {
  const done = new AbortController();
  const late = sleep(clock, ms, done.signal).then((): typeof LATE => LATE);
  try {
    return await Promise.race([promise, late]);
  } finally {
    done.abort();
  }
}
