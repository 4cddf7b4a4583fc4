/**
 * Tests that ended before they ran. A source that ends the process with 0 when it is loaded takes the tests with it, and their
 * runner is content. What the runner printed shows it: it began and never came to its count, or it names a whole file as if
 * that were a test.
 */
import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { limits } from '../../base/limits.ts';

/** What a runner prints first, and what it prints when it has come to its end; each as often as the other. */
const COURSES: readonly { readonly begun: RegExp; readonly ended: RegExp }[] = [
  { begun: /^=+ test session starts =+$/gm, ended: /\bin [\d.]+s\b.*$/gm },
  { begun: /^running \d+ tests?$/gm, ended: /^test result: /gm },
];
/** `node --test` names a file in which no test came to its end. */
const WHOLE_FILE = /^(?:✔|ok \d+ -) (\S+\.[cm]?[jt]sx?)(?: \([\d.]+ms\))?$/gm;
/** Both stand in a file that has tests. */
const HAS_TESTS = [/\bnode:test\b/, /\b[\w$]+(?:\.[\w$]+)*\(\s*["'`]/];

/** With these, a file of which no test was asked for is named as well. */
const ONLY_SOME = /--test-(?:name-pattern|skip-pattern|only|rerun)/;

/** Why what was printed shows that tests did not run; `folders` are those that they may have run in. */
export function endedEarly(line: string, output: string, folders: readonly string[]): string | undefined {
  const text = stripVTControlCharacters(output);
  const count = (pattern: RegExp): number => [...text.matchAll(pattern)].length;
  if (COURSES.some(({ begun, ended }) => count(begun) > count(ended))) return 'the tests began and did not come to their end';
  if (ONLY_SOME.test(line) || ONLY_SOME.test(text)) return undefined;
  for (const [, path = ''] of text.matchAll(WHOLE_FILE))
    if (folders.some((folder) => hasTests(resolve(folder, path)))) return `${path} ended before its tests had run`;
  return undefined;
}

function hasTests(path: string): boolean {
  try {
    if (statSync(path).size > limits.fingerprintTextBytes) return false;
    const text = readFileSync(path, 'utf8');
    return HAS_TESTS.every((one) => one.test(text));
  } catch {
    return false;
  }
}
