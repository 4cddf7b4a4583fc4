/** Tells whether a file changed without reading it: by its times, its size and which file it is. */
import { statSync } from 'node:fs';
import type { Clock } from '../../base/clock.ts';

/** Asked for one by one this takes far less time than through the thread pool; pauses let others work in between. */
const AT_ONCE = 128;
/** The clocks of file systems tick this slowly at worst: what changed so recently may change again under the same stamp. */
const TICK_MS = 2_000;
/** Folders are looked at before every answer: on the file systems of today their clocks tick a hundred times a second. */
const FOLDER_TICK_MS = 100;

/** By path. Empty where a stamp could not be relied on; absent where there is no file. */
export async function stampsOf(paths: readonly string[], clock: Clock): Promise<ReadonlyMap<string, string>> {
  const stamps = new Map<string, string>();
  for (const [index, path] of paths.entries()) {
    if (index > 0 && index % AT_ONCE === 0) await nextTurn();
    const stamp = stampOf(path, clock.now());
    if (stamp !== undefined) stamps.set(path, stamp);
  }
  return stamps;
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function stampOf(path: string, now: number): string | undefined {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined) return undefined;
    if (now - found.ctimeMs < TICK_MS) return '';
    return `${found.mtimeMs} ${found.ctimeMs} ${found.size} ${found.ino}`;
  } catch {
    return undefined;
  }
}

const ABSENT = 'absent';

/**
 * Changes when a file comes into a folder or leaves it. Empty where that cannot be told: the folder changed so recently that it
 * may change again under the same stamp.
 */
export function folderStamp(path: string, clock: Clock, since = clock.now()): string {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined) return ABSENT;
    return since - found.mtimeMs < FOLDER_TICK_MS ? '' : `${found.mtimeMs} ${found.ino}`;
  } catch {
    return ABSENT;
  }
}
