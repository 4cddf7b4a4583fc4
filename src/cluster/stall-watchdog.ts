/**
 * Ends a worker that stood still for longer than its leases last: it was frozen or its event loop was blocked, others have taken
 * over its runs, and what it still holds in memory is of the past. The ledger refuses its writes anyway; ending it also keeps it
 * from asking models again. A process that somebody looks at with a debugger stands still on purpose.
 */
import { url as debuggerUrl } from 'node:inspector';
import type { Clock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';

export interface StallWatchdog {
  /** To be called before work is taken on: what waited in a socket is read before any timer fires. */
  look(): void;
  stop(): void;
}

export interface StallOptions {
  readonly clock: Clock;
  readonly stalled: (milliseconds: number) => void;
  readonly leaseMs?: number | undefined;
  readonly isDebugged?: (() => boolean) | undefined;
}

export function watchForStalls(options: StallOptions): StallWatchdog {
  const { clock, stalled, leaseMs = limits.leaseMs, isDebugged = () => debuggerUrl() !== undefined } = options;
  const time = (): readonly [number, number] => [clock.elapsed(), clock.now()];
  let last = time();
  const look = (): void => {
    const now = time();
    // While a machine sleeps only the time of day goes on.
    const gap = Math.max(now[0] - last[0], now[1] - last[1]) - limits.stallCheckMs;
    last = now;
    if (gap > leaseMs && !isDebugged()) stalled(gap);
  };
  let cancel = (): void => undefined;
  const tick = (): void => {
    look();
    cancel = clock.after(limits.stallCheckMs, tick);
  };
  tick();
  return { look, stop: () => cancel() };
}
