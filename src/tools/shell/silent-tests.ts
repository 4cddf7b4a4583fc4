/**
 * Tests that run in one process with what they test. A source that ends the process with 0 ends the runner with it, and nobody
 * is left to say so. Such a run shows that tests ran only by its summary.
 */
import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { limits } from '../../base/limits.ts';
import { looksLikeTestRun } from './test-commands.ts';
import { testSummaries } from './test-output.ts';

const SHARED = [
  /^node\s(?:.*\s)?--(?:experimental-)?test-isolation[=\s]none(?:\s|$)/,
  /^(?:python[\d.]*\s+(?:-\S+\s+)*-m\s+|coverage\s+run\s+-m\s+|(?:uv|poetry)\s+run\s+)*(?:pytest|unittest)(?:\s|$)/,
  /^(?:(?:npx|pnpm|yarn|bunx)\s+(?:exec\s+|-y\s+|--yes\s+)*)?(?:mocha|jest)(?:\s|$)/,
];
const INTERPRETER = /^(?:node|deno|bun|tsx|ts-node|python[\d.]*)$/;
/** Without one of these a file has no tests that a runner counts. */
const FRAMEWORK = /\bnode:test\b|\bbun:test\b|^\s*(?:import|from)\s+(?:unittest|pytest)\b/m;

export interface Silence {
  /** The commands of the line before it. */
  readonly after: readonly (readonly string[])[];
  readonly folder: string;
  readonly output: string;
}

/** Why a command that ended with 0 does not show that its tests ran. */
export function silentTests(words: readonly string[], { after, folder, output }: Silence): string | undefined {
  if (!inOneProcess(words, folder)) return undefined;
  const told = (one: readonly string[]): boolean => looksLikeTestRun(one.join(' ')) || inOneProcess(one, folder);
  const passed = testSummaries(output).filter((count) => count > 0).length;
  return passed > after.filter(told).length ? undefined : UNTOLD;
}

const UNTOLD = 'a source can end its tests, as they run in one process with it, and no summary says how many passed';

/** `folder` is where it runs. */
export function inOneProcess(words: readonly string[], folder: string): boolean {
  const line = words.join(' ');
  if (SHARED.some((one) => one.test(line))) return true;
  const [name = '', ...rest] = words;
  if (!INTERPRETER.test(name) || rest.includes('--test')) return false;
  return rest.filter((word) => !word.startsWith('-')).some((word) => FRAMEWORK.test(textOf(resolve(folder, word))));
}

/** As an interpreter finds it: with its ending, or in a folder. */
function textOf(path: string): string {
  for (const candidate of [path, `${path}.js`, `${path}/index.js`, `${path}/__main__.py`])
    try {
      const facts = statSync(candidate);
      if (facts.isFile()) return facts.size > limits.fingerprintTextBytes ? '' : readFileSync(candidate, 'utf8');
    } catch {}
  return '';
}
