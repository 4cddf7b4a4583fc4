/** Who works on root runs, as the engine has it: this process, or workers elsewhere. */
import type { RunId, SessionId } from '../base/ids.ts';
import type { Payloads } from '../events/catalogue.ts';
import type { Fence, NewEvent, RunRow } from '../ledger/port.ts';
import type { ResumeOutcome, RunHandle } from './port.ts';
import type { AgentSetup } from './record/agent-setup.ts';
import type { DrivenRun } from './record/driven-run.ts';
import type { Past } from './record/past.ts';

export interface DriveTask {
  readonly session: SessionId;
  readonly run: RunId;
  readonly fence: Fence;
  readonly workspace: string;
  readonly started: Payloads['run.started'];
  readonly past: Past;
  readonly rootSetup?: AgentSetup | undefined;
  /** Written before anything else. */
  opening(root: DrivenRun): readonly NewEvent[];
}

export interface Driver {
  /** Others work on runs, who may have nothing of the project but the ledger. */
  readonly handsOver?: boolean;
  /** Resolves when the opening events are durable and work has begun. */
  drive(task: DriveTask): Promise<RunHandle>;
  /** A run that is just being left is neither: whoever asks waits until it is decided. */
  driving(run: RunId): Promise<RunHandle | undefined>;
  /** For a driver elsewhere: has a root run go on that somebody may be working on, and follows it. */
  takeUp?(root: RunRow): Promise<ResumeOutcome>;
  /**
   * For a driver elsewhere: something is about to be appended for a run from outside. Makes sure that it is noticed even if this
   * process dies right after, and gives what to call once it is appended.
   */
  foresee?(row: RunRow): Promise<() => Promise<void>>;
  /** For a driver here: ends the cancelled runs below a root that nobody drives, and leaves the rest as it is. */
  endBelow?(root: RunRow): Promise<'done' | 'more'>;
  /** Interrupts everything and waits until it has stopped. */
  stop(reason: string): Promise<void>;
}
