/**
 * An answer that may take an hour, to somebody who waits for all of it. Between us there may be those who take silence for death:
 * after a while it begins with blanks, which JSON allows, and its status is then said, whatever comes.
 */
import { type Clock, sleep } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import type { EdgeReply } from './edge.ts';

export interface Unhurried {
  readonly clock: Clock;
  /** `late` is what is said where the status can be no other than 200. */
  readonly done: Promise<{ readonly reply: EdgeReply & { readonly kind: 'value' }; readonly late: unknown }>;
  /** Whoever waited has gone. */
  left(): void;
}

export async function unhurried({ clock, done, left }: Unhurried): Promise<EdgeReply> {
  const patience = new AbortController();
  const first = await Promise.race([done, sleep(clock, limits.streamHeartbeatMs, patience.signal)]);
  patience.abort();
  if (typeof first === 'object') return first.reply;
  let isOver = false;
  return {
    kind: 'stream',
    type: 'application/json',
    async *pieces(signal) {
      for (yield ' '; !signal.aborted; yield ' ') {
        const next = await Promise.race([done, sleep(clock, limits.streamHeartbeatMs, signal)]);
        if (typeof next !== 'object') continue;
        isOver = true;
        return yield JSON.stringify(next.late);
      }
    },
    close: () => {
      if (!isOver) left();
    },
  };
}
