/**
 * What a pattern that hands tasks over asks of the runtime beside steps: places to work in, what was seen there, and what fits
 * together. Everything here is asked within a step, and asked again after a crash it gives the same.
 */
import type { Payloads } from '../events/catalogue.ts';
import type { TaskPlace, TaskTerms } from '../events/tasks/task-terms.ts';

export type PlaceWanted = {
  readonly task: string;
  /** `undefined`: a worktree where the folder is a repository, and the folder itself where it is none. */
  readonly workspace: 'worktree' | 'in-place' | undefined;
  /** The commit to begin from, where something was accepted before. */
  readonly base: string | undefined;
  /** The files that it may write; absent where it writes none. */
  readonly domain?: Readonly<Record<'include' | 'exclude' | 'noTouch', readonly string[]>> | undefined;
};

export type PlaceFound = { readonly place: TaskPlace } | { readonly refused: string; readonly fix?: string };

/** What the runtime saw of a task's work. None of it is anybody's word. */
export type CollectedWork = {
  readonly files: readonly { readonly path: string; readonly added: number; readonly removed: number }[];
  /** The patch, where it was captured as one. */
  readonly patch?: string;
  /** All changes as text, bounded. */
  readonly diff: string;
  /** Writes outside of what the task is about, which were taken back; or could only be noticed. */
  readonly undone: readonly string[];
  readonly noticed: readonly string[];
  /** The commands of its acceptance, as the runtime ran them; with the end of what a failing one printed. */
  readonly ran: readonly {
    readonly command: string;
    readonly passed: boolean;
    readonly why?: string;
    readonly output?: string;
  }[];
  readonly tests: readonly { readonly command: string; readonly passed: boolean; readonly tests?: number }[];
  readonly calls: number;
  readonly manifest?: string;
};

/** How a command of the acceptance ended where the task began, before anything was done. */
export type RanBefore = {
  readonly command: string;
  /** `missing`: there was no such command to run; `stopped`: it took too long. Neither says how it would have ended. */
  readonly ended: 'passed' | 'failed' | 'missing' | 'stopped';
  /** How many tests passed, where it says. */
  readonly tests?: number;
};

export type BeforeWanted = { readonly task: string; readonly place: TaskPlace; readonly commands: readonly string[] };

export type MergeWanted = {
  /** Of one of the tasks: all of them began where it did. */
  readonly place: TaskPlace;
  /** Where the first of all tasks began. */
  readonly from: string;
  readonly parts: readonly { readonly task: string; readonly patch: string }[];
};

/** What of the tasks does not fit together, as it is recorded. */
export type TaskConflicts = Payloads['task.merged']['conflicts'];

export type Merged = {
  readonly commit?: string;
  readonly patch?: string;
  readonly files: number;
  readonly conflicts: TaskConflicts;
};

/** A mark of what was achieved: the same words mean that nothing was. */
export type TaskProgress = {
  readonly files: string;
  readonly tests: string;
  /** Somebody is asked, or the work is paused: time does not count. */
  readonly waits: boolean;
  /** A command is under way, such as a build that says nothing. */
  readonly works?: boolean | undefined;
};

export interface TaskSupport {
  /** What tasks are named by: the run, and in a fork the one where it all began, so that they are called there as they were. */
  readonly namedBy: string;
  /** The agent that a name stands for where an executor may be named too: itself, or one that is nothing but the executor. */
  executor(name: string): Promise<string>;
  /** The session, and the environment as it is now by a reference. */
  environment(): Promise<{ readonly session: string; readonly environment: string }>;
  prepare(wanted: PlaceWanted): Promise<PlaceFound>;
  /** Of the child that was started under this key. */
  collect(key: string, terms: TaskTerms): Promise<CollectedWork>;
  progress(key: string, terms: TaskTerms): Promise<TaskProgress>;
  /** One after the other where the task began, until one fails. `unknown`: how it was cannot be seen there. */
  before(wanted: BeforeWanted, signal: AbortSignal): Promise<{ readonly ran: readonly RanBefore[]; readonly unknown?: string }>;
  /** `key` names the step, as everywhere. */
  merge(key: string, wanted: MergeWanted): Promise<Merged>;
  /** Only the plan was asked for: nothing is handed over before the run is resumed. */
  readonly planOnly: boolean;
  /** Where a task would be worked on. */
  where(task: string, workspace: PlaceWanted['workspace']): Promise<string>;
  /** How many events the session holds. */
  events(): Promise<number>;
  /** Leaves the run here, once, where only its plan was asked for. */
  hold(): Promise<void>;
}
