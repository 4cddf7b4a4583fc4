/**
 * Time that passes only while nothing else happens: a timer rings when the event loop has gone round so often without anybody
 * setting another, and no file is being read or written. So whoever can get something done has done it before a time-out comes,
 * on any machine. For plays without processes and sockets, which go on from one turn of the event loop to the next.
 */
import type { Clock } from '../../src/base/clock.ts';
import { createVirtualClock } from '../../src/testing/virtual-clock.ts';

const QUIET_TURNS = 200;

/** A file of a slow disk, or on a busy machine, takes longer than any number of turns. */
const waitsForFiles = (): boolean => process.getActiveResourcesInfo().some((name) => name.startsWith('FSReq'));

export function createQuietClock(startMs = 1_000_000): Clock {
  const clock = createVirtualClock(startMs);
  let timers = 0;
  let quiet = 0;
  let going = false;
  const goRound = (): void => {
    going = timers > 0;
    if (!going) return;
    quiet += 1;
    if (quiet > QUIET_TURNS) {
      quiet = 0;
      if (!waitsForFiles()) clock.advance();
    }
    setImmediate(goRound);
  };
  return {
    ...clock,
    after(delayMs, callback) {
      let open = true;
      const close = (): void => {
        if (open) timers -= 1;
        open = false;
      };
      timers += 1;
      quiet = 0;
      const cancel = clock.after(delayMs, () => {
        close();
        callback();
      });
      if (!going) {
        going = true;
        setImmediate(goRound);
      }
      return () => {
        close();
        cancel();
      };
    },
  };
}
