/** Where tasks are found. The ledger is the truth; what else holds them is a copy that says how new it is. */
import type { TaskContext } from '../projections/tasks/task-json.ts';
import type { TaskState } from '../projections/tasks/task-states.ts';

/** A task as it is stored, and the position in its session's ledger that it stands for: the larger is the newer. */
export interface StoredTask {
  readonly task: TaskContext;
  readonly position: number;
}

export interface TaskFilter {
  readonly state?: TaskState | undefined;
  readonly session?: string | undefined;
  /** At most so many. */
  readonly limit: number;
  /** The id of the last task of the page before. */
  readonly after?: string | undefined;
}

export interface TaskPage {
  /** Newest first; of a run that went on after its end the latest task. */
  readonly tasks: readonly StoredTask[];
  /** What `after` takes, when there may be more. */
  readonly next?: string | undefined;
  /** Not all that there are were looked at: the limit that ended it. */
  readonly cutBy?: 'redisScanKeys' | 'runLookup' | undefined;
}

export interface TaskReader {
  load(id: string): Promise<StoredTask | undefined>;
  list(filter: TaskFilter): Promise<TaskPage>;
}

/** `newer`: what is there is as new or newer, and stays. */
export type SaveOutcome = { readonly kind: 'saved' } | { readonly kind: 'newer'; readonly position: number };

export interface TaskStore extends TaskReader {
  save(task: StoredTask): Promise<SaveOutcome>;
}
