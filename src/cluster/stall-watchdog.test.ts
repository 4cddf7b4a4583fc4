import { describe, expect, it } from 'vitest';
import type { Clock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import { watchForStalls } from './stall-watchdog.ts';

/** A clock whose timer fires only when the test says so, as on a process that is not given the processor. */
function standingClock() {
  const time = { elapsed: 0, now: 1_000_000 };
  let due: (() => void) | undefined;
  const clock: Clock = {
    now: () => time.now,
    elapsed: () => time.elapsed,
    after: (_delayMs, callback) => {
      due = callback;
      return () => {
        due = undefined;
      };
    },
  };
  const pass = (milliseconds: number, sleeping = false): void => {
    time.now += milliseconds;
    if (!sleeping) time.elapsed += milliseconds;
  };
  const fire = (): void => {
    const callback = due;
    due = undefined;
    callback?.();
  };
  return { clock, pass, fire, pending: () => due !== undefined };
}

function watched(isDebugged = false) {
  const standing = standingClock();
  const stalls: number[] = [];
  const watchdog = watchForStalls({ clock: standing.clock, stalled: (gap) => stalls.push(gap), isDebugged: () => isDebugged });
  return { ...standing, stalls, watchdog };
}

describe('the stall watchdog', () => {
  it('says nothing while time is checked on time, nor after a stop shorter than a lease', () => {
    const { pass, fire, stalls } = watched();
    for (let second = 0; second < 100; second += 1) {
      pass(limits.stallCheckMs);
      fire();
    }
    pass(limits.leaseMs);
    fire();
    expect(stalls).toEqual([]);
  });

  it('notices a stop longer than a lease, with the timer or with the first request after it', () => {
    const timer = watched();
    timer.pass(limits.leaseMs + limits.stallCheckMs + 1);
    timer.fire();
    expect(timer.stalls).toEqual([limits.leaseMs + 1]);
    const request = watched();
    request.pass(60_000);
    request.watchdog.look();
    expect(request.stalls).toHaveLength(1);
  });

  it('notices that the machine slept', () => {
    const { pass, fire, stalls } = watched();
    pass(3_600_000, true);
    fire();
    expect(stalls).toHaveLength(1);
  });

  it('lets somebody with a debugger look in peace', () => {
    const { pass, fire, stalls } = watched(true);
    pass(3_600_000);
    fire();
    expect(stalls).toEqual([]);
  });

  it('leaves no timer when it is stopped', () => {
    const { watchdog, pending } = watched();
    expect(pending()).toBe(true);
    watchdog.stop();
    expect(pending()).toBe(false);
  });
});
