/** How many streams each caller has open, of whatever kind. */
import type { Clock } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import { endlessResponse } from './endless-response.ts';

export interface OpenStreams {
  /** `undefined` when they have as many as they may. */
  open(stream: OpenedStream): Response | undefined;
}

export interface OpenedStream {
  readonly caller: string;
  cut(): void;
  frames(signal: AbortSignal): AsyncGenerator<Uint8Array, void>;
  /** Whether they still may read it: a login ends, and what somebody else begins in a session is not theirs. */
  stays(): Promise<boolean>;
  ended?(): void;
}

export function createOpenStreams(clock: Clock, stopping: AbortSignal): OpenStreams {
  const counts = new Map<string, number>();
  return {
    open({ caller, cut, frames, stays, ended }) {
      const count = counts.get(caller) ?? 0;
      if (count >= limits.streamsPerCaller) return undefined;
      counts.set(caller, count + 1);
      return endlessResponse({
        ...{ clock, stopping, cut, frames, stays },
        ended: () => {
          ended?.();
          const left = (counts.get(caller) ?? 1) - 1;
          if (left > 0) counts.set(caller, left);
          else counts.delete(caller);
        },
      });
    },
  };
}
