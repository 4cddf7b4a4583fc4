/** How many tests passed, read from what a test runner printed. It only ever takes away from an exit code of 0. */

import { stripVTControlCharacters } from 'node:util';

/** Each finds a number of tests that passed; all matches of one kind are added up. */
const COUNTS: readonly RegExp[] = [
  // node --test
  /^(?:ℹ|#) pass (\d+)$/gm,
  // jest, vitest
  /^\s*Tests:?\s+(?:.*?\s)?(\d+) passed\b/gm,
  // pytest
  /^=*\s*(?:.*?\s)?(\d+) passed\b.* in [\d.]+s/gm,
  // mocha
  /^\s*(\d+) passing\b/gm,
  // cargo
  /^test result: ok\. (\d+) passed;/gm,
  // unittest
  /^Ran (\d+) tests? in /gm,
];
const NONE = [
  /\bno tests? (?:files? )?(?:found|ran|to run|were found)\b/i,
  /\bno test specified\b/i,
  /^collected 0 items/m,
  /^\?\s+\S+\s+\[no test files\]$/m,
  /^1\.\.0$/m,
];

export function passedTests(output: string): number | undefined {
  const text = stripVTControlCharacters(output);
  const counts = COUNTS.flatMap((pattern) => [...text.matchAll(pattern)].map((match) => Number(match[1])));
  if (counts.length > 0) return counts.reduce((sum, count) => sum + count, 0);
  return NONE.some((pattern) => pattern.test(text)) ? 0 : undefined;
}
