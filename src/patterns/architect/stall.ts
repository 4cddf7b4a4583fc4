/**
 * Whether an executor still gets anywhere. Only what the runtime saw counts: files that hold what they did not hold before, and
 * tests that ended as they had not before. Whoever is slow but moves is never stopped; to change something and change it back is
 * no progress, and time in which somebody is asked or the work is paused does not count. A command that is under way may be a
 * build that shows nothing until it is done: while one is, patience is longer, but has an end as well.
 */
import type { TaskProgress } from '../task-support.ts';

export interface Motion {
  /** Everything that the files and the tests were ever seen as. */
  readonly files: readonly string[];
  readonly tests: readonly string[];
  /** How long nothing new was seen, and no command was under way. */
  readonly stillMs: number;
  /** How long nothing new was seen while one was. */
  readonly busyMs: number;
}

export const noMotion: Motion = { files: [], tests: [], stillMs: 0, busyMs: 0 };

/** So many times as long it may be busy with commands. */
const WHILE_BUSY = 3;

/** What was seen after so much more time. */
export function moved(before: Motion, seen: TaskProgress, passedMs: number): Motion {
  const isNew = !before.files.includes(seen.files) || !before.tests.includes(seen.tests);
  const known = (words: readonly string[], word: string) => (words.includes(word) ? words : [...words, word]);
  const counted = seen.waits ? 0 : passedMs;
  const [still, busy] = seen.works === true ? [0, counted] : [counted, 0];
  return {
    files: known(before.files, seen.files),
    tests: known(before.tests, seen.tests),
    stillMs: isNew ? 0 : before.stillMs + still,
    busyMs: isNew ? 0 : before.busyMs + busy,
  };
}

export const isStalled = ({ stillMs, busyMs }: Motion, patienceMs: number): boolean =>
  stillMs >= patienceMs || stillMs + busyMs >= patienceMs * WHILE_BUSY;
