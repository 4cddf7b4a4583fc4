/**
 * The tests that a project keeps in `tests/`, each as something that a test runner can call: vitest, `node --test` or any other
 * that takes a name and an async function.
 */
import { resolve } from 'node:path';
import type { AgentDefinition } from '../agents/definition/definition.ts';
import { type ChecksOf, isObject, isText, requireGiven } from '../base/check-given.ts';
import { systemClock } from '../base/clock.ts';
import { TroupeError } from '../base/errors.ts';
import { broughtChecks } from '../library/check-options.ts';
import { openProject } from '../project/open.ts';
import type { OrdinaryTool } from '../tools/port.ts';
import { createGrounds, type GroundPlace } from '../trials/grounds.ts';
import { readTests } from '../trials/read-files.ts';
import type { Tested } from '../trials/report.ts';
import { runTests } from '../trials/run-tests.ts';
import type { KeptTest } from '../trials/test-file.ts';

/** Whose tests, and how its agents are opened. */
export interface KeptTestsOptions {
  /** The project's folder; the current one without it. */
  readonly root?: string | undefined;
  /** Where keys and settings are read from; the environment of the process without it. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** The model of all agents in live tests, whatever tests and agents name. */
  readonly model?: string | undefined;
  /** As for `createTroupe`. */
  readonly agents?: readonly AgentDefinition[] | undefined;
  /** As for `createTroupe`. */
  readonly tools?: readonly OrdinaryTool[] | undefined;
}

/** One kept test. */
export interface KeptTestCase {
  readonly name: string;
  /** Makes its trials. Rejects when it does not pass, with every check that failed and what was there instead. */
  run(): Promise<void>;
}

const CHECKS: ChecksOf<KeptTestsOptions> = { ...broughtChecks, root: isText, env: isObject, model: isText };

/** Reads them; nothing is tried before `run` is called. A file that is no test is a case that fails, with why. */
export async function keptTests(options: KeptTestsOptions = {}): Promise<readonly KeptTestCase[]> {
  requireGiven('keptTests', options, CHECKS);
  const { root = '.', env = process.env, model, agents, tools } = options;
  const cwd = resolve(root);
  const { tests, broken } = await readTests(cwd);
  // A runner that is given nothing is green.
  if (tests.length === 0)
    throw new TroupeError('usage', `There are no tests in ${cwd}/tests`, { fix: 'Keep a run: troupe test add last' });
  const place: GroundPlace = { clock: systemClock, cwd, env, openProject, extras: { agents, tools } };
  return [
    ...tests.map((kept) => ({ name: kept.name, run: () => tryKept(place, kept, model) })),
    ...broken.map(({ file, why }) => ({ name: file, run: () => Promise.reject(new Error(`${file} ${why}`)) })),
  ];
}

async function tryKept(place: GroundPlace, kept: KeptTest, model: string | undefined): Promise<void> {
  const { signal } = new AbortController();
  await using grounds = createGrounds(place, { signal, model, keepFiles: false });
  const { tests } = await runTests(grounds.open, [kept], { tried: () => undefined });
  const failed = tests.filter(({ passed }) => !passed);
  if (failed.length > 0) throw new Error(failed.map(failureText).join('\n'));
}

function failureText({ name, trials }: Tested): string {
  const lines = trials.flatMap(({ checks, run }, index) =>
    checks
      .filter(({ passed }) => !passed)
      .map(({ check, why }) => `${trials.length > 1 ? `trial ${index + 1}: ` : ''}${check}: ${why ?? ''} (${run ?? 'no run'})`),
  );
  return [`${name} does not pass:`, ...lines].join('\n');
}
