/**
 * Tests that need a program which is not everywhere. Where it is not there they do not run, and say so; in CI that is a failure:
 * nothing is left out there without anybody noticing.
 */
import { describe } from 'vitest';

export type Needed =
  | { readonly kind: 'runs' }
  /** Not here: this is said. */
  | { readonly kind: 'left out'; readonly says: string }
  | { readonly kind: 'refused'; readonly says: string };

/** What becomes of tests that need something. `why` says why it is not there. */
export function whatIsNeeded(tests: string, why: string | undefined, inCi: boolean): Needed {
  if (why === undefined) return { kind: 'runs' };
  if (inCi) return { kind: 'refused', says: `In CI nothing is left out: ${why}` };
  return { kind: 'left out', says: `\nThe tests of "${tests}" do not run: ${why}.\n` };
}

export const inCi = (environment: NodeJS.ProcessEnv = process.env): boolean => Boolean(environment['CI']);

/** Whether these tests run. Says so if not, and throws where none may be left out. */
export function mayRun(tests: string, why: string | undefined, demanded: boolean = inCi()): boolean {
  const needed = whatIsNeeded(tests, why, demanded);
  if (needed.kind === 'refused') throw new Error(needed.says);
  if (needed.kind === 'left out') process.stderr.write(needed.says);
  return needed.kind === 'runs';
}

/** `describe`, where there is what the tests need. */
export function describeWhere(name: string, why: string | undefined, tests: () => void, demanded?: boolean): void {
  describe.skipIf(!mayRun(name, why, demanded))(name, tests);
}
