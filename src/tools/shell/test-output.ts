/** How many tests passed, read from what a test runner printed. It only ever takes away from an exit code of 0. */
import { limits } from '../../base/limits.ts';

/**
 * Each finds a number of tests that passed in one line; all of them are added up. What a command prints may be 16 MiB of
 * anything: nothing here may take longer than in proportion to the line.
 */
const COUNTS: readonly { readonly count: RegExp; readonly behind?: RegExp }[] = [
  // node --test
  { count: /^(?:ℹ|#) pass (\d+)$/ },
  // jest, vitest
  { count: /^[ \t]*Tests:?[ \t](?:.*?[ \t])?(\d+) passed\b/ },
  // pytest
  { count: /(?:^=*|[ \t])(\d+) passed\b/, behind: / in [\d.]+s/ },
  // mocha
  { count: /^[ \t]*(\d+) passing\b/ },
  // cargo
  { count: /^test result: ok\. (\d+) passed;/ },
  // unittest
  { count: /^Ran (\d+) tests? in / },
  // jest --json
  { count: /"numPassedTests": ?(\d+)/ },
];
const NONE = [
  /\bno tests? (?:files? )?(?:found|ran|to run|were found)\b/i,
  /\bno test specified\b/i,
  /^collected 0 items/,
  /^\?[ \t]+\S+[ \t]+\[no test files\]$/,
  /^1\.\.0$/,
  // how a command is used, in its own words
  /^(?:npm|pnpm|yarn) (?:test|run(?:-script)?|start) \[/,
];

/** Colours and what moves the cursor. */
const CONTROLS = /(?!\t)\p{Cc}\[[0-?]*[ -/]*[@-~]/gu;

export function passedTests(output: string): number | undefined {
  let passed: number | undefined;
  let none = false;
  for (const line of linesOf(output)) {
    const counts = COUNTS.flatMap((kind) => countIn(line, kind));
    if (counts.length > 0) passed = counts.reduce((sum, count) => sum + count, passed ?? 0);
    none ||= NONE.some((pattern) => pattern.test(line));
  }
  return passed ?? (none ? 0 : undefined);
}

/** The numbers of tests that passed, one for each time that a runner has told one. */
export function testSummaries(output: string): readonly number[] {
  const summaries: number[] = [];
  for (const line of linesOf(output)) summaries.push(...COUNTS.flatMap((kind) => countIn(line, kind)));
  return summaries;
}

/** One at a time, as there may be millions. What stands far to the right in a line is no summary. */
function* linesOf(output: string): Generator<string> {
  for (const [line] of output.matchAll(/[^\r\n]+/g))
    yield line.slice(0, limits.summaryLineCharacters).replace(CONTROLS, '').trimEnd();
}

function countIn(line: string, { count, behind }: (typeof COUNTS)[number]): readonly number[] {
  const match = count.exec(line);
  if (match === null) return [];
  return behind === undefined || behind.test(line.slice(match.index + match[0].length)) ? [Number(match[1])] : [];
}
