import { describe, expect, it } from 'vitest';
import type { Clock } from '../base/clock.ts';
import { seededRandom } from '../base/random.ts';
import { createQuota, type Slot } from './quota.ts';

/** A clock that stands still until it is moved. */
function handClock(): Clock & { advance(milliseconds: number): void } {
  let now = 0;
  const timers = new Set<{ at: number; callback: () => void }>();
  return {
    now: () => now,
    elapsed: () => now,
    after: (delayMs, callback) => {
      const timer = { at: now + delayMs, callback };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    advance: (milliseconds) => {
      now += milliseconds;
      for (const timer of [...timers]) {
        if (timer.at > now) continue;
        timers.delete(timer);
        timer.callback();
      }
    },
  };
}

const never = new AbortController().signal;
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function setUp(concurrency: number) {
  const clock = handClock();
  const quota = createQuota({ clock, random: seededRandom(1), concurrency });
  const entered: number[] = [];
  const slots: (Slot | undefined)[] = [];
  const enter = (number: number, signal = never, account = 'a'): void => {
    void quota.acquire(account, signal).then((slot) => {
      slots.push(slot);
      if (slot !== undefined) entered.push(number);
    });
  };
  return { clock, enter, entered, slots };
}

describe('createQuota', () => {
  it('lets so many in at once, the others in the order in which they came', async () => {
    const { enter, entered, slots } = setUp(2);
    for (const number of [1, 2, 3, 4]) enter(number);
    await settled();
    expect(entered).toEqual([1, 2]);
    slots[0]?.release('done');
    slots[0]?.release('done');
    await settled();
    expect(entered).toEqual([1, 2, 3]);
    slots[1]?.release('failed');
    await settled();
    expect(entered).toEqual([1, 2, 3, 4]);
  });

  it('stops everybody on the account after a 429, then lets fewer in, then more again', async () => {
    const { clock, enter, entered, slots } = setUp(4);
    for (let number = 1; number <= 4; number += 1) enter(number);
    await settled();
    slots[0]?.release({ rateLimitedForMs: 1_000 });
    slots[1]?.release({ rateLimitedForMs: 1_000 });
    slots[2]?.release('done');
    slots[3]?.release('done');
    for (let number = 5; number <= 9; number += 1) enter(number);
    await settled();
    expect(entered).toHaveLength(4);
    clock.advance(999);
    await settled();
    expect(entered).toHaveLength(4);
    clock.advance(101);
    await settled();
    expect(entered.slice(4)).toEqual([5, 6]);
    for (const slot of slots.slice(4)) slot?.release('done');
    await settled();
    for (const slot of slots.slice(6)) slot?.release('done');
    await settled();
    expect(entered).toHaveLength(9);
  });

  it('keeps accounts apart', async () => {
    const { enter, entered, slots } = setUp(1);
    enter(1);
    enter(2, never, 'b');
    await settled();
    expect(entered).toEqual([1, 2]);
    slots[0]?.release({ rateLimitedForMs: 60_000 });
    slots[1]?.release('done');
    enter(3, never, 'b');
    await settled();
    expect(entered).toEqual([1, 2, 3]);
  });

  it('forgets a caller that gives up, while queueing or before', async () => {
    const { enter, entered, slots } = setUp(1);
    const controller = new AbortController();
    enter(1);
    enter(2, controller.signal);
    enter(3);
    await settled();
    controller.abort();
    enter(4, controller.signal);
    slots[0]?.release('done');
    await settled();
    expect(entered).toEqual([1, 3]);
    expect(slots.filter((slot) => slot === undefined)).toHaveLength(2);
  });
});
