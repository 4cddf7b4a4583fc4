/**
 * What hosts a loop outside of this process. It takes what `runLoop` takes and gives what it gives; in between stands a
 * child process that holds no key, no ledger and no file: whatever the loop wants done is asked of the ports on this side.
 *
 * - R1 The child sees only what travels over its pipes. Its environment is empty but for what Node needs to start.
 * - R2 A child that dies is replaced, and the new one gets the recorded answers again: no model or tool is asked twice.
 * - R3 What a port throws (an interruption, say) stops the child and is thrown on, the very same value.
 * - R4 No child outlives this process, a cancelled loop, its lifetime or `close`; nor does anything it started.
 */
import type { LoopInput, LoopPorts, LoopResult } from '../loop/port.ts';

/** What becomes of the process that hosts a loop. Every `started` is followed by one `ended`. */
export type ProcessNews =
  | { readonly kind: 'started'; readonly pid: number; readonly attempt: number }
  | {
      readonly kind: 'ended';
      readonly pid: number;
      readonly exitCode: number | null;
      readonly signal: string | null;
      readonly why: 'done' | 'stopped' | 'crashed' | 'too_old';
    };

export interface Hosted {
  /** Names the loop on the wire. */
  readonly thread: string;
  onProcess(news: ProcessNews): void;
  /** Told by the child as it goes, for display only. */
  onProgress?(progress: { readonly turn: number }): void;
}

export interface LoopHost {
  run(input: LoopInput, ports: LoopPorts, hosted: Hosted): Promise<LoopResult>;
  /** Starts the children that are kept ready, so that the first loop does not wait for one. */
  warm(): void;
  /** Ends every child. Loops that were under way reject. */
  close(): Promise<void>;
}
