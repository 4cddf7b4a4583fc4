import { describe, expect, it } from 'vitest';
import { sleep } from '../base/clock.ts';
import { createVirtualClock } from './virtual-clock.ts';

const START_MS = Date.UTC(2026, 0, 1);
const DAY_MS = 86_400_000;

describe('a virtual clock', () => {
  it('stands still until it is moved, and rings in order', () => {
    const clock = createVirtualClock(START_MS);
    const rung: string[] = [];
    clock.after(2, () => rung.push('second'));
    clock.after(1, () => rung.push('first'));
    clock.after(2, () => rung.push('third'));
    clock.after(1, () => rung.push('never'))();
    expect([clock.now(), clock.elapsed(), rung]).toEqual([START_MS, 0, []]);
    expect([clock.advance(), clock.advance(), clock.advance(), clock.advance()]).toEqual([true, true, true, false]);
    expect([rung, clock.elapsed()]).toEqual([['first', 'second', 'third'], 2]);
  });

  it('lets days pass until the work is done, and gives what came of it', async () => {
    const clock = createVirtualClock(START_MS);
    const work = async (): Promise<string> => {
      for (let day = 0; day < 3; day += 1) await sleep(clock, DAY_MS);
      return 'done';
    };
    expect(await clock.until(work())).toBe('done');
    expect(clock.elapsed()).toBe(3 * DAY_MS);
  });

  it('gives an error back', async () => {
    const clock = createVirtualClock(START_MS);
    const work = sleep(clock, DAY_MS).then(() => Promise.reject(new Error('too late')));
    await expect(clock.until(work)).rejects.toThrow('too late');
  });
});
