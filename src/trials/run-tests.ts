/** Runs kept tests one after the other, each as often as it says, within one budget, and compares with the last time. */
import { tryFrozen } from './freeze.ts';
import type { BrokenTest } from './read-files.ts';
import type { KeptReport, Tested, TestReport, Trial } from './report.ts';
import type { FrozenTest, KeptTest, TestDefinition } from './test-file.ts';
import { type TrialGround, tryOnce } from './trial.ts';

export interface TestingTerms {
  /** In place of what the tests say. */
  readonly trials?: number | undefined;
  /** What all of them together may cost. */
  readonly usd?: number | undefined;
  /** Files that are no tests. */
  readonly broken?: readonly BrokenTest[] | undefined;
  readonly before?: KeptReport | undefined;
  /** Of runs kept with their answers, what they come to now is what they are to come to. */
  readonly update?: boolean | undefined;
  updated?(test: KeptTest, difference: string): void;
  /** Told as they come. */
  tried(test: KeptTest, trial: Trial, number: number, of: number): void;
}

/** Where a model is asked: the one that a test names, for all agents of it, with what fills their prompts. */
export type OpenGround = (terms: Pick<TestDefinition, 'model' | 'vars'>) => Promise<TrialGround>;

export async function runTests(open: OpenGround, tests: readonly KeptTest[], terms: TestingTerms): Promise<TestReport> {
  const { broken = [] } = terms;
  const done: Tested[] = [];
  const notRun: string[] = [];
  let left = terms.usd;
  for (const kept of tests) {
    if ('frozen' in kept) {
      done.push(await testFrozen(open, kept, terms));
      continue;
    }
    if (left !== undefined && left <= 0) {
      notRun.push(kept.name);
      continue;
    }
    const trials: Trial[] = [];
    let wasCutOff = false;
    const ground = await open(kept.test);
    const times = terms.trials ?? kept.test.trials;
    // What cannot begin cannot begin the next time either.
    const refused = (): boolean => trials.at(-1)?.run === null;
    while (trials.length < times && !refused() && (left === undefined || left > 0)) {
      const { trial, isCutOff } = await tryOnce(ground, kept.test, kept.folder, left);
      trials.push(trial);
      wasCutOff = isCutOff;
      left &&= isCutOff ? 0 : Math.max(0, left - trial.usd);
      terms.tried(kept, trial, trials.length, times);
    }
    // Fewer trials than were asked for prove less than was asked for.
    const passed = trials.length === times && trials.every((trial) => trial.passed);
    if ((trials.length < times && !refused()) || wasCutOff) notRun.push(kept.name);
    done.push({ ...testedWith(kept, trials, passed), change: changeOf(kept.name, passed, terms.before) });
  }
  return {
    passed: notRun.length === 0 && broken.length === 0 && done.every(({ passed }) => passed),
    tests: done,
    notRun,
    broken: [...broken],
    total: totalOf(done.flatMap(({ trials }) => trials)),
    before: beforeOf(terms.before),
  };
}

/** It is the same every time, and costs nothing. */
async function testFrozen(open: OpenGround, kept: FrozenTest, terms: TestingTerms): Promise<Tested> {
  const ground = await open({});
  const began = ground.clock.elapsed();
  const { why, updated } = await tryFrozen(kept, ground, terms.update === true);
  const passed = why === undefined;
  const trial: Trial = {
    ...{ passed, run: null, status: 'replayed', verification: null, scores: [], turns: 0, tokens: 0, usd: 0, unknownCalls: 0 },
    checks: [{ check: SAME, passed, why: why ?? null }],
    ...{ durationMs: Math.round(ground.clock.elapsed() - began), workspace: null },
  };
  terms.tried(kept, trial, 1, 1);
  if (updated !== undefined) terms.updated?.(kept, updated);
  const { name, agent } = kept;
  const rates = { passRate: passed ? 1 : 0, passAll: passed ? 1 : 0, change: changeOf(name, passed, terms.before) };
  return { name, agent, frozen: true, ...(updated === undefined ? {} : { updated: true }), passed, trials: [trial], ...rates };
}

const SAME = 'comes to the same';

function testedWith({ name, test }: { name: string; test: TestDefinition }, trials: Trial[], passed: boolean) {
  return { name, agent: test.agent, passed, trials, passRate: rateOf(trials), passAll: passed ? 1 : 0 };
}

export function rateOf(trials: readonly Trial[]): number {
  return trials.length === 0 ? 0 : trials.filter(({ passed }) => passed).length / trials.length;
}

export function totalOf(trials: readonly Trial[]): TestReport['total'] {
  const sum = (of: (trial: Trial) => number): number => trials.reduce((all, trial) => all + of(trial), 0);
  return {
    trials: trials.length,
    durationMs: sum(({ durationMs }) => durationMs),
    usd: sum(({ usd }) => usd),
    unknownCalls: sum(({ unknownCalls }) => unknownCalls),
  };
}

function changeOf(name: string, passed: boolean, before: KeptReport | undefined): Tested['change'] {
  const last = before?.report.tests.find((one) => one.name === name);
  if (last === undefined) return 'new';
  return last.passed === passed ? 'same' : passed ? 'fixed' : 'broken';
}

function beforeOf(before: KeptReport | undefined): TestReport['before'] {
  if (before === undefined) return null;
  const { tests, total } = before.report;
  const passed = tests.filter((one) => one.passed).length;
  return { at: before.at, usd: total.usd, durationMs: total.durationMs, passed, failed: tests.length - passed };
}
