/** What a driven session knows of what happened before, in this life and in earlier ones. */
import type { RunId } from '../../base/ids.ts';
import type { Message } from '../../events/messages.ts';
import type { TreesDoings } from '../../projections/doings.ts';
import type { DrivenRun } from './driven-run.ts';
import type { SessionFacts } from './past.ts';

export interface Remembers {
  /** What is durable of what the runs of this process have done. */
  readonly doings: TreesDoings;
  /** Whether a run had begun before this life. */
  begun(run: RunId): boolean;
  /** What was said before in the session that this run continues. */
  history(node: DrivenRun): Promise<readonly Message[]>;
  /** The latest run in this session of a member of the group that `parent` runs. */
  latestOf(member: string, parent: RunId): RunId | undefined;
  /** How long the run has been worked on, in this life and before. The time in which it waits for a person is not among it. */
  activeSoFar(run: RunId): number;
  /** Calls back when that is so long; the result takes it back. */
  whenWorkedFor(run: RunId, activeMs: number, callback: () => void): () => void;
  /** What later runs of the session go by. */
  facts(): SessionFacts;
}
