/**
 * How news travels. Inside the process a commit tells its listeners directly. News of other processes comes through the
 * file system: SQLite's log changes with every commit, and the doorbell file `<ledger>-bell` is touched by whoever
 * appends an inbound event. File watching may miss something, so a slow check goes beside it.
 * Nothing here keeps the process alive.
 */
import { type FSWatcher, watch, writeFileSync } from 'node:fs';
import type { Clock } from '../base/clock.ts';
import { codeOf } from '../base/errors.ts';
import { limits } from '../base/limits.ts';

export interface Watch {
  /** Calls `onNews` for every change of the file, and now and then without one, while anybody listens. */
  start(): void;
  stop(): void;
}

export function watchFile(path: string | undefined, clock: Clock, onNews: () => void): Watch {
  let watcher: FSWatcher | undefined;
  let cancel: (() => void) | undefined;

  const open = (): void => {
    if (path === undefined || watcher !== undefined) return;
    try {
      watcher = watch(path, { persistent: false }, onNews);
      watcher.on('error', close);
    } catch {
      // No such file yet, or no watching on this file system: the slow check does it, and tries again.
    }
  };
  const close = (): void => {
    watcher?.close();
    watcher = undefined;
  };
  const check = (): void => {
    open();
    onNews();
    cancel = clock.after(limits.safetyCheckMs, check);
  };

  return {
    start: () => {
      if (cancel !== undefined) return;
      open();
      cancel = clock.after(limits.safetyCheckMs, check);
    },
    stop: () => {
      cancel?.();
      cancel = undefined;
      close();
    },
  };
}

/** The name for those who want news of all of them: no session is called so. */
export const EVERY_SESSION = '*';

/** Listeners by name. `onFirst` and `onLast` switch the watching on and off. */
interface Listeners {
  add(name: string, listener: () => void): () => void;
  tell(name: string): void;
  names(): readonly string[];
}

export function createListeners(onFirst: () => void, onLast: () => void): Listeners {
  const byName = new Map<string, Set<() => void>>();
  return {
    add: (name, listener) => {
      if (byName.size === 0) onFirst();
      const group = byName.get(name) ?? new Set();
      byName.set(name, group.add(listener));
      return () => {
        if (!group.delete(listener) || group.size > 0) return;
        byName.delete(name);
        if (byName.size === 0) onLast();
      };
    },
    tell: (name) => {
      for (const listener of [...(byName.get(name) ?? [])]) listener();
    },
    names: () => [...byName.keys()],
  };
}

/** Calls back when what was last is no longer so; `last` tells where it stands. */
export function onLater(listeners: Listeners, name: string, last: () => number, callback: () => void): () => void {
  let seen = last();
  let stopped = false;
  const stop = listeners.add(name, () => {
    const now = last();
    if (now <= seen) return;
    seen = now;
    // Apart from the commit that brought the news: what the listener does cannot harm it.
    queueMicrotask(() => {
      if (!stopped) callback();
    });
  });
  return () => {
    stopped = true;
    stop();
  };
}

/** Rings for the processes that watch the file. A bell that cannot be rung is made up for by their slow check. */
export function ring(path: string): void {
  try {
    // Not emptied first: file systems take that for a file that is replaced, and write it to the disk when it is closed.
    writeFileSync(path, '.', { flag: 'r+' });
  } catch (error) {
    if (codeOf(error) === 'ENOENT') make(path);
  }
}

function make(path: string): void {
  try {
    writeFileSync(path, '.', { mode: 0o600 });
  } catch {
    return;
  }
}
