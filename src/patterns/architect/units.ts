/** Tasks as a run of an architect has them: over all attempts, one attempt, and what came of it. */
import type { TaskTerms } from '../../events/tasks/task-terms.ts';
import type { RunResult } from '../steps.ts';
import type { CollectedWork, RanBefore } from '../task-support.ts';
import type { WantedTask } from './exits.ts';

/** A task over all its attempts. */
export interface Unit {
  /** Its place among the steps of the run, for ever. */
  readonly key: string;
  readonly wanted: WantedTask;
  readonly attempt: number;
  readonly executor: string;
  readonly errors: ReadonlyMap<string, number>;
  /** It may be handed over again only if it is about less. */
  readonly mustShrink: boolean;
  /** The id of the attempt before. */
  readonly again?: string | undefined;
  /** What was wrong with that one. */
  readonly before?: string | undefined;
}

export interface Attempt {
  readonly unit: Unit;
  readonly task: string;
  readonly key: string;
  readonly terms: TaskTerms;
  readonly prompt: string;
}

export interface EndedAttempt {
  readonly attempt: Attempt;
  readonly result: RunResult;
  readonly collected: CollectedWork;
  /** Why it was stopped, if it got nowhere. */
  readonly stalled: string | undefined;
}

/** How the commands of an acceptance ended where the task began. */
export interface Before {
  readonly ran: readonly RanBefore[];
  /** Why what passes now does not show that the work was done; absent when it does. */
  readonly why?: string;
}
