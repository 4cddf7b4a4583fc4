import type { Clock } from '../../src/base/clock.ts';
import { startedAt } from './event-list.ts';

/** Time stands still until the test moves it. */
export function handClock(): Clock & { advance(milliseconds: number): void } {
  let now = 0;
  let timers: { readonly at: number; readonly callback: () => void }[] = [];
  return {
    now: () => startedAt(0) + now,
    elapsed: () => now,
    after: (delayMs, callback) => {
      const timer = { at: now + delayMs, callback };
      timers.push(timer);
      return () => {
        timers = timers.filter((one) => one !== timer);
      };
    },
    advance: (milliseconds) => {
      const until = now + milliseconds;
      for (;;) {
        const due = timers.filter((timer) => timer.at <= until).sort((left, right) => left.at - right.at)[0];
        if (due === undefined) break;
        timers = timers.filter((timer) => timer !== due);
        now = due.at;
        due.callback();
      }
      now = until;
    },
  };
}
