/** Tells whether a file changed without reading it: by its times, its size and which file it is. */
import { statSync } from 'node:fs';
import type { Clock } from '../base/clock.ts';

/** Asked for one by one this takes far less time than through the thread pool; pauses let others work in between. */
const AT_ONCE = 128;
/** The clocks of file systems tick this slowly at worst: what changed so recently may change again under the same stamp. */
const TICK_MS = 2_000;

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
