/**
 * Passes a cancellation on to the runner and sees to it that it comes to an end. A runner that waits for us is not slow, and one
 * that still goes through what was recorded is at work: only silence counts against it.
 */
import type { Clock } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import type { RunnerProcess } from './process.ts';

export interface Cancelling {
  cancel(): void;
  /** To be told whenever the runner has said something, or nothing is under way for it any more. */
  heard(): void;
  end(): void;
}

export function createCancelling(clock: Clock, runner: RunnerProcess, isWaited: () => boolean, giveUp: () => void): Cancelling {
  let cancelled = false;
  let forget = (): void => {};
  const arm = (): void => {
    forget();
    if (cancelled) forget = clock.after(limits.runnerGraceMs, () => (isWaited() ? undefined : giveUp()), 'hold');
  };
  return {
    cancel() {
      if (cancelled) return;
      cancelled = true;
      runner.peer.notify('cancel', {});
      arm();
    },
    heard: arm,
    end() {
      cancelled = false;
      forget();
    },
  };
}
