/** One run as it is being driven, and the runs above it. */
import { childRunId, forkedRunId, type RunId } from '../../base/ids.ts';
import type { Budget, Payloads } from '../../events/catalogue.ts';
import { taskTermsOf, worksForParent } from '../../events/run-origin.ts';
import type { TaskTerms } from '../../events/tasks/task-terms.ts';
import type { Journal } from './journal.ts';

/** A budget that counts for a run: its own, that of a run above it, or the project's. */
export interface BudgetScope {
  /** A run's id, or `project`. */
  readonly scope: string;
  readonly limit: Budget;
}

export interface DrivenRun {
  readonly run: RunId;
  readonly parent: DrivenRun | undefined;
  readonly depth: number;
  readonly journal: Journal;
  /** The journal holds everything that the run did before; otherwise what it did since it was condensed last. */
  readonly whole: boolean;
  readonly started: Payloads['run.started'];
  readonly scopes: readonly BudgetScope[];
  readonly abort: AbortController;
  /** How many messages were unheard when its loop was over: there was no turn left for these. */
  passedOver?: number;
  /** What was known last of the agent elsewhere, or of the model, that it waited for when it was stopped. */
  lastKnown?: string | undefined;
  /** A task that it began elsewhere may still be at work. */
  leftThere?: boolean;
}

/** The run in whose name this one speaks and hears: its own, or the one whose work it does. */
export function speakerOf(node: DrivenRun): DrivenRun {
  return worksForParent(node.started) && node.parent !== undefined ? speakerOf(node.parent) : node;
}

/** The task that it works for, with the run that does it. */
export function taskAbove(node: DrivenRun): { readonly by: DrivenRun; readonly terms: TaskTerms } | undefined {
  const terms = taskTermsOf(node.started);
  if (terms !== undefined) return { by: node, terms };
  return node.parent === undefined ? undefined : taskAbove(node.parent);
}

interface Above {
  readonly run: RunId;
  readonly started: Pick<Payloads['run.started'], 'forked'>;
}

/** The id of a run below another: it follows from the one above and its key, so whoever runs that again finds it. */
export function childOf({ run, started: { forked } }: Above, key: string): RunId {
  if (forked === undefined) return childRunId(run, key);
  return forkedRunId(forked.in, childRunId(forked.of as RunId, key));
}

/** What the start of a run below one of a forked session says of it. */
export function forkedBelow({ started: { forked } }: Above, key: string): Pick<Payloads['run.started'], 'forked'> {
  return forked === undefined ? {} : { forked: { of: childRunId(forked.of as RunId, key), in: forked.in } };
}
