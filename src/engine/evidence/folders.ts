/**
 * In which folder each run worked. Paths of files are recorded relative to it, so what was seen in another folder (a worktree, a
 * member's own place) says nothing about the file of the same path in this one.
 */
import { realpathSync } from 'node:fs';
import type { LedgerEvent } from '../../events/envelope.ts';
import type { RunNode, Tree } from '../tree.ts';

/** `events` begin with the start of the tree's root, or before it, oldest first. */
export function foldersOf(tree: Tree, events: readonly LedgerEvent[]): (run: string) => string {
  const common = real(tree.workspace);
  const folders = new Map<string, string>();
  for (const event of events) {
    if (event.event_type !== 'run.started') continue;
    const { workspace, parent = '' } = event.payload;
    folders.set(event.run_id, workspace === undefined ? (folders.get(parent) ?? common) : real(workspace));
  }
  return (run) => folders.get(run) ?? common;
}

/** Only what was seen in the folder of this run. */
export function seenInFolderOf(tree: Tree, node: RunNode, events: readonly LedgerEvent[]): readonly LedgerEvent[] {
  const folderOf = foldersOf(tree, events);
  const here = real(tree.workspaceOf(node));
  return events.filter((event) => event.event_type !== 'run.started' && folderOf(event.run_id) === here);
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
