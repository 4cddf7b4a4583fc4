/**
 * Where tasks work, and how their work comes back: places of their own, patches of what was done there, one patch of several,
 * and the way into the user's files. What always holds:
 *
 * - The user's index, HEAD, branches, stash and files are not touched by anything here but `apply`, and by that only as asked.
 * - Nothing that a repository brings is run: no hooks, no filters, no drivers, no monitors, no addresses of its modules.
 * - What somebody has written is never dropped: what is undone is kept as a patch first, and a place with work that was not
 *   captured is not removed unless that is said.
 * - Everything may be cut off anywhere and asked for again.
 */
import type { Result } from '../base/result.ts';
import type { Failure } from '../events/catalogue.ts';
import type { WatchedChange } from '../tools/watch/watched-file.ts';

/** Where a task works: in a worktree of its own that began at `base`, or in a folder as it is. */
export type WorkPlace =
  | { readonly kind: 'worktree'; readonly path: string; readonly base: string; readonly repo: string }
  | {
      readonly kind: 'in-place';
      readonly path: string;
      /** How the folder was when the task began, where it lies in a repository. */
      readonly base?: string | undefined;
      readonly repo?: string | undefined;
    };

export interface WantedPlace {
  /** A folder in the repository. */
  readonly repo: string;
  readonly session: string;
  /** Asked for again under the same name, it is the same place. */
  readonly task: string;
  /** A commit; `working-tree` for how the user's files are now, whether committed or not. `HEAD` unless said. */
  readonly base?: string | undefined;
  /** Work on this new branch, which begins with `troupe/`, instead of on none. */
  readonly branch?: string | undefined;
  readonly inPlace?: boolean | undefined;
  /** A patch that is to be looked at on its base: it lies there from the beginning, and nobody works there. */
  readonly patch?: Uint8Array | undefined;
}

export interface PreparedPlace {
  readonly place: WorkPlace;
  /** What somebody should know: a module that could not be filled, ignored files that were not copied. */
  readonly notes: readonly string[];
}

/** Paths as task packages name them, relative to the top of the repository. Without `include` everything may be written. */
export interface DomainPaths {
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly noTouch: readonly string[];
}

export interface PatchedFile {
  readonly path: string;
  /** Where it was before, when it was renamed. */
  readonly from?: string | undefined;
  readonly change: 'added' | 'changed' | 'deleted' | 'renamed';
  readonly addedLines: number;
  readonly removedLines: number;
  readonly binary?: boolean | undefined;
}

/** What was done at a place, against where it began. */
export interface CapturedWork {
  /** For `git apply`, whole: binary files, renames, modes, links. Empty when nothing was changed. */
  readonly patch: Uint8Array;
  readonly files: readonly PatchedFile[];
  /** What was written where it must not be: taken back at the place (not in a folder as it is), and kept as patches. */
  readonly outside: readonly OutsideWrite[];
  /** What is there and in no patch, such as changes inside a module. */
  readonly uncaptured: readonly string[];
  /** Work that no patch can hold, each with why: it is at the place and nowhere else, and the place stays. */
  readonly lost: readonly string[];
}

export interface OutsideWrite {
  readonly path: string;
  readonly why: string;
  /** The file with the patch that holds it; absent where it was only told. */
  readonly kept?: string | undefined;
}

/** One task's work, to be put together with others of the same base. */
export interface TaskPatch {
  readonly task: string;
  readonly patch: Uint8Array;
}

/** One side of a file on which tasks do not agree; without a `blob` the file is not there. */
export interface ConflictSide {
  readonly task: string;
  readonly mode?: string | undefined;
  readonly blob?: string | undefined;
}

export interface MergeConflict {
  readonly path: string;
  /** `content`, `add/add`, `modify/delete`, `binary`, `rename/rename` and what else git calls it. */
  readonly kind: string;
  readonly says: string;
  readonly sides: readonly ConflictSide[];
  /** Where both changed the same lines: how they were, and what each made of them; bounded. */
  readonly hunks: readonly { readonly line: number; readonly base: string; readonly ours: string; readonly theirs: string }[];
}

/** A task whose work stands against that of tasks before it: all of it is left out, and nothing of it is lost. */
export interface LeftTask {
  readonly task: string;
  /** With whom: tasks before it that changed the same files. */
  readonly against: readonly string[];
  readonly conflicts: readonly MergeConflict[];
  /**
   * From the base to all of the merged work with this task's on top, with marks where they disagree: what a resolver begins
   * with.
   */
  readonly marked: Uint8Array;
}

export interface MergedWork {
  /** The work of all tasks in `merged`, as one. */
  readonly patch: Uint8Array;
  readonly files: readonly PatchedFile[];
  readonly merged: readonly string[];
  readonly left: readonly LeftTask[];
}

/** A repository as somebody with an empty folder needs it. */
export interface PackedRepository {
  readonly top: string;
  /** The folder that was asked for, from the top. */
  readonly below: string;
  readonly head: string;
  /** How the user's files were: `head`, or a commit on it that no branch knows. */
  readonly base: string;
  /** The files of `head`, as a pack of git's objects without history. */
  readonly pack: Uint8Array;
  /** What is different at `base`. */
  readonly files: readonly KeptFile[];
}

/** A file as it was at one moment, against a base: with its content, gone, or again as it is there. */
export interface KeptFile {
  readonly path: string;
  readonly mode?: string | undefined;
  readonly content?: Uint8Array | undefined;
  readonly back?: true | undefined;
}

/** Every file that is not as in the base, by what git calls its content; `undefined` for one that is gone. */
export type KnownFiles = ReadonlyMap<string, { readonly mode: string; readonly blob: string } | undefined>;

export interface ChangedSince {
  readonly files: readonly KeptFile[];
  readonly known: KnownFiles;
}

export interface RestoredPlace {
  readonly known: KnownFiles;
  /** The patch with what was there and had not been kept. */
  readonly dropped?: string | undefined;
}

export interface Workspaces {
  prepare(wanted: WantedPlace, signal?: AbortSignal): Promise<Result<PreparedPlace, Failure>>;
  capture(place: WorkPlace, domain?: DomainPaths): Promise<Result<CapturedWork, Failure>>;
  /**
   * What differs from where the place began, in its folder `below`, and is not as it was seen last: by the checksum of each
   * path, `null` for one that is gone.
   */
  unseen(
    place: WorkPlace,
    below: string,
    seen: ReadonlyMap<string, string | null>,
  ): Promise<Result<readonly WatchedChange[], Failure>>;
  /** What lies at the place and is in no patch, because git ignores it: files, and folders with a `/` behind them. */
  ignored(place: WorkPlace): Promise<Result<readonly string[], Failure>>;
  /** Refuses while there is work that `captured` does not hold, unless `force`. */
  remove(place: WorkPlace, options: RemoveOptions): Promise<Result<RemovedPlace, Failure>>;
  /**
   * Puts work onto a place that is as it began: what was done elsewhere, or a merge with marks that is to be resolved there.
   */
  lay(place: WorkPlace, patch: Uint8Array): Promise<Result<void, Failure>>;
  merge(wanted: WantedMerge): Promise<Result<MergedWork, Failure>>;
  /** Makes of accepted work what later places begin from. */
  advance(wanted: WantedAdvance): Promise<Result<AdvancedWork, Failure>>;
  /** What a task wrote outside of its domain in a folder as it is goes back where that harms nobody, and is told. */
  takeBack(wanted: WantedTakeBack): Promise<Result<readonly OutsideWrite[], Failure>>;
  /** What is not as `known` any more, for whoever builds the place elsewhere. */
  changes(place: WorkPlace, known: KnownFiles): Promise<Result<ChangedSince, Failure>>;
  /** A worktree exactly as it was kept: the base, and all that was changed. */
  restore(place: WorkPlace, files: readonly KeptFile[]): Promise<Result<RestoredPlace, Failure>>;
  /** How the user's files are now, for somebody who has nothing of them. */
  pack(folder: string): Promise<Result<PackedRepository, Failure>>;
  /** Builds the repository that was packed below the home of whoever calls, and says where. */
  receive(packed: Pick<PackedRepository, 'head' | 'base' | 'pack' | 'files'>): Promise<Result<string, Failure>>;
}

/** What was seen of a task that works in a folder as it is. */
export interface WantedTakeBack {
  readonly place: WorkPlace & { readonly kind: 'in-place' };
  readonly session: string;
  readonly task: string;
  readonly domain: DomainPaths;
  /** Its files from the top, with their checksums before and after it; `null` where there was none. */
  readonly written: ReadonlyMap<string, { readonly before: string | null; readonly after: string | null }>;
}

export interface RemoveOptions {
  /** The patch that was captured last: a place that holds just that has nothing to lose. */
  readonly captured?: Uint8Array | undefined;
  readonly force?: boolean | undefined;
  /** What else lies there goes into a patch beside the place, instead of holding it up. */
  readonly keepRest?: boolean | undefined;
}

export interface RemovedPlace {
  readonly removed: boolean;
  /** A branch with commits of its own stays. */
  readonly kept?: string | undefined;
}

export interface WantedMerge {
  readonly repo: string;
  readonly base: string;
  /** In the order in which they count: what stands against an earlier one is left. */
  readonly patches: readonly TaskPatch[];
}

export interface WantedAdvance {
  readonly repo: string;
  /** Where all work began. */
  readonly from: string;
  /** What the patch is against. */
  readonly base: string;
  readonly patch: Uint8Array;
}

export interface AdvancedWork {
  /** In nobody's branch; a place can begin there. */
  readonly commit: string;
  /** From where all work began to this commit. */
  readonly patch: Uint8Array;
  readonly files: readonly PatchedFile[];
}
