/**
 * Whether an executor still gets anywhere. Only what the runtime saw counts: files that hold what they did not hold before, and
 * tests that ended as they had not before. Whoever is slow but moves is never stopped; to change something and change it back is
 * no progress, and time in which somebody is asked or the work is paused does not count.
 */
import type { TaskProgress } from '../task-support.ts';

export interface Motion {
  /** Everything that the files and the tests were ever seen as. */
  readonly files: readonly string[];
  readonly tests: readonly string[];
  /** How long nothing new was seen. */
  readonly stillMs: number;
}

export const noMotion: Motion = { files: [], tests: [], stillMs: 0 };

/** What was seen after so much more time. */
export function moved(before: Motion, seen: TaskProgress, passedMs: number): Motion {
  const isNew = !before.files.includes(seen.files) || !before.tests.includes(seen.tests);
  const known = (words: readonly string[], word: string) => (words.includes(word) ? words : [...words, word]);
  const stillMs = isNew ? 0 : seen.waits ? before.stillMs : before.stillMs + passedMs;
  return { files: known(before.files, seen.files), tests: known(before.tests, seen.tests), stillMs };
}

export const isStalled = (motion: Motion, patienceMs: number): boolean => motion.stillMs >= patienceMs;
