/**
 * The size of a window that is being changed. The terminal breaks what was drawn anew at once, and the program hears of it late:
 * of many changes tmux tells the first one, and the last a quarter of a second later. What is drawn in between stands in the
 * wrong place for good, so nothing is drawn before the size has stayed the same for a while.
 */
import type { Clock } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import type { Screen } from './terminal.ts';

export interface WindowSize {
  /** It was another one a moment ago. */
  isChanging(): boolean;
  /** Nobody is told any more. */
  stop(): void;
}

export interface SizeListener {
  changes(): void;
  settles(): void;
}

export function watchSize(screen: Screen, clock: Clock, listener: SizeListener): WindowSize {
  let cancel: (() => void) | undefined;
  const stopListening = screen.onResize(() => {
    cancel?.();
    listener.changes();
    cancel = clock.after(limits.resizeSettlesMs, () => {
      cancel = undefined;
      listener.settles();
    });
  });
  return {
    isChanging: () => cancel !== undefined,
    stop() {
      cancel?.();
      cancel = undefined;
      stopListening();
    },
  };
}
