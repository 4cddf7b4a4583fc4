/**
 * Notices that something changed in folders. Only a hint: a folder that is not there yet, too many of them or a file system
 * that cannot tell mean that changes there go unnoticed, so whoever listens also looks from time to time.
 */
import { type FSWatcher, watch } from 'node:fs';
import { limits } from '../../base/limits.ts';

export interface FolderWatch {
  /** Calls back until what it returns is called. */
  start(onChange: () => void): () => void;
  /** Which folders count from now on. */
  follow(folders: readonly string[]): void;
}

export function createFolderWatch(): FolderWatch {
  const watchers = new Map<string, FSWatcher>();
  let wanted: ReadonlySet<string> = new Set();
  let listener: (() => void) | undefined;

  const forget = (folder: string): void => {
    watchers.get(folder)?.close();
    watchers.delete(folder);
  };
  const arrange = (): void => {
    for (const folder of watchers.keys()) if (listener === undefined || !wanted.has(folder)) forget(folder);
    if (listener === undefined) return;
    for (const folder of wanted) {
      if (watchers.has(folder) || watchers.size >= limits.watchedFolders) continue;
      const watcher = watchFolder(folder, () => listener?.(), forget);
      if (watcher !== undefined) watchers.set(folder, watcher);
    }
  };
  return {
    start: (onChange) => {
      listener = onChange;
      arrange();
      return () => {
        listener = undefined;
        arrange();
      };
    },
    follow: (folders) => {
      wanted = new Set(folders);
      arrange();
    },
  };
}

function watchFolder(folder: string, onChange: () => void, onLost: (folder: string) => void): FSWatcher | undefined {
  try {
    const watcher = watch(folder, { persistent: false }, onChange);
    watcher.on('error', () => onLost(folder));
    return watcher;
  } catch {
    return undefined;
  }
}
