/** A child run as its parent has it. */
import type { Cause } from '../../ledger/port.ts';
import type { RunResult } from '../../patterns/steps.ts';

export interface ChildRun {
  readonly result: Promise<RunResult>;
  /** The event that ended it, once there is one. */
  ended(): Cause | undefined;
  cancel(reason: string): void;
}
