/**
 * In which folder each run worked. Paths of files are recorded relative to it, so what was seen in another folder (a worktree, a
 * member's own place) says nothing about the file of the same path in this one.
 */
import { realpathSync } from 'node:fs';
import type { LedgerEvent } from '../../events/envelope.ts';
import { parentRun } from '../../events/run-origin.ts';
import type { DrivenRun } from '../record/driven-run.ts';

export interface WorksInFolders {
  /** The session's own folder. */
  readonly workspace: string;
  /** The folder that a run's tools may touch: its own, that of a run above it, or the session's. */
  workspaceOf(node: DrivenRun): string;
  /** Folders that are not where they were when a run was started: by how they were named then. */
  readonly moved: Map<string, string>;
}

export function inFolders(workspace: string): WorksInFolders {
  const moved = new Map<string, string>();
  const workspaceOf = ({ started, parent }: DrivenRun): string => {
    const folder = started.workspace ?? (parent === undefined ? workspace : workspaceOf(parent));
    return moved.get(folder) ?? folder;
  };
  return { workspace, moved, workspaceOf };
}

/** The folder of each run of a tree, from its events: the first is the start of the tree's root, or one before it. */
export interface Folders {
  apply(event: LedgerEvent): void;
  of(run: string): string;
}

export function createFolders(tree: WorksInFolders): Folders {
  const here = (path: string): string => realFolder(tree.moved.get(path) ?? path);
  const common = here(tree.workspace);
  const folders = new Map<string, string>();
  return {
    apply(event) {
      if (event.event_type !== 'run.started') return;
      const { workspace } = event.payload;
      const above = folders.get(parentRun(event.payload) ?? '') ?? common;
      folders.set(event.run_id, workspace === undefined ? above : here(workspace));
    },
    of: (run) => folders.get(run) ?? common,
  };
}

/** Only what was seen in the folder of this run. */
export function seenInFolderOf(tree: WorksInFolders, node: DrivenRun, events: readonly LedgerEvent[]): readonly LedgerEvent[] {
  const folders = createFolders(tree);
  for (const event of events) folders.apply(event);
  const here = realFolder(tree.workspaceOf(node));
  return events.filter((event) => event.event_type !== 'run.started' && folders.of(event.run_id) === here);
}

export function realFolder(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
