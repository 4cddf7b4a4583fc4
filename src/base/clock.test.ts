import { describe, expect, it } from 'vitest';
import { createClock, type SystemTimers, sleep } from './clock.ts';

const TIMER_MAX_MS = 2_147_483_647;
const DAY_MS = 86_400_000;

/** The timers of a system that rings `earlyMs` before it should, as Node does by up to one; time passes only with `next`. */
function timersThatRing(earlyMs: number) {
  let time = 0.375;
  const asked: number[] = [];
  const open = new Set<{ readonly at: number; readonly ring: () => void }>();
  const system: SystemTimers = {
    // The time of day comes in whole milliseconds.
    now: () => Math.floor(1_000_000 + time),
    elapsed: () => time,
    start(delayMs, callback) {
      asked.push(delayMs);
      // What Node does with a delay that is too long.
      const honoured = delayMs > TIMER_MAX_MS ? 1 : Math.max(1, delayMs);
      const timer = { at: time + honoured - earlyMs, ring: callback };
      open.add(timer);
      return () => void open.delete(timer);
    },
  };
  const next = (): void => {
    const [first] = [...open].toSorted((one, other) => one.at - other.at);
    if (first === undefined) throw new Error('there is no timer');
    open.delete(first);
    time = Math.max(time, first.at);
    first.ring();
  };
  return { clock: createClock(system), asked, open, next, time: () => time };
}

/** Lets timers ring until it has. Gives how many rang. */
function untilRung(delayMs: number, timers: ReturnType<typeof timersThatRing>): number {
  let rung = false;
  timers.clock.after(delayMs, () => {
    rung = true;
  });
  let rings = 0;
  for (; !rung; rings += 1) timers.next();
  return rings;
}

describe('a timer', () => {
  it.each([1 / 64, 1 / 2, 63 / 64])('of a system that rings %s ms early never does', (earlyMs) => {
    for (const delayMs of [0, 0.25, 1, 5, 5.5, 1_000]) {
      const timers = timersThatRing(earlyMs);
      const begun = timers.time();
      const due = timers.clock.now() + delayMs;
      untilRung(delayMs, timers);
      expect(timers.time() - begun).toBeGreaterThanOrEqual(delayMs);
      expect(timers.clock.now()).toBeGreaterThanOrEqual(Math.floor(due));
    }
  });

  it.each([TIMER_MAX_MS - 1, TIMER_MAX_MS, TIMER_MAX_MS + 1, 25 * DAY_MS, 400 * DAY_MS])(
    'of %i ms rings when they have passed, and asks the system for nothing longer than it can do',
    (delayMs) => {
      const timers = timersThatRing(0);
      const begun = timers.time();
      const rings = untilRung(delayMs, timers);
      expect(timers.time() - begun).toBeGreaterThanOrEqual(delayMs);
      expect(timers.time() - begun).toBeLessThan(delayMs + 2);
      expect(rings).toBeLessThanOrEqual(Math.ceil(delayMs / TIMER_MAX_MS) + 1);
      expect(Math.max(...timers.asked)).toBeLessThanOrEqual(TIMER_MAX_MS);
    },
  );

  it('that is for ever does not ring', () => {
    const timers = timersThatRing(0);
    timers.clock.after(Number.POSITIVE_INFINITY, () => expect.unreachable());
    for (let rings = 0; rings < 100; rings += 1) timers.next();
    expect(timers.open.size).toBe(1);
  });

  it('that is taken back in its second part is gone', () => {
    const timers = timersThatRing(0);
    const takeBack = timers.clock.after(25 * DAY_MS, () => expect.unreachable());
    timers.next();
    expect(timers.open.size).toBe(1);
    takeBack();
    expect(timers.open.size).toBe(0);
  });
});

describe('sleeping on a clock', () => {
  it('lasts for weeks and to the end', async () => {
    const timers = timersThatRing(0.9);
    const until = timers.clock.now() + 60 * DAY_MS;
    const slept = sleep(timers.clock, 60 * DAY_MS);
    while (timers.open.size > 0) timers.next();
    expect(await slept).toBe('elapsed');
    expect(timers.clock.now()).toBeGreaterThanOrEqual(until);
  });

  it('ends with its signal, and leaves no timer', async () => {
    const timers = timersThatRing(0);
    const stop = new AbortController();
    const slept = sleep(timers.clock, 60 * DAY_MS, stop.signal);
    timers.next();
    stop.abort();
    expect(await slept).toBe('aborted');
    expect(timers.open.size).toBe(0);
    expect(await sleep(timers.clock, 5, stop.signal)).toBe('aborted');
  });
});
