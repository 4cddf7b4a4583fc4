/** `troupe test`: runs what was kept as tests, says what failed and what has changed since the last time. */
import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import { counted } from '../../base/wording.ts';
import { readableCost, readableDuration } from '../../projections/readable.ts';
import { createGrounds } from '../../trials/grounds.ts';
import { junit } from '../../trials/junit.ts';
import { keepReport, lastReport } from '../../trials/kept-reports.ts';
import { brokenText, readTests } from '../../trials/read-files.ts';
import type { Tested, TestReport, Trial } from '../../trials/report.ts';
import { runTests } from '../../trials/run-tests.ts';
import { type CommandContext, callOf, type JsonOption, printJson, usageError } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { safeLine, safeText } from '../terminal/safe-text.ts';
import { groundPlace, untilStopped } from './until-stopped.ts';

export interface TestOptions extends JsonOption {
  readonly trials?: number | undefined;
  readonly budgetUsd?: number | undefined;
  readonly model?: string | undefined;
  readonly junit?: string | undefined;
  readonly keep?: boolean | undefined;
  readonly update?: boolean | undefined;
}

const NANO = 1e9;

export async function testCommand(context: CommandContext, names: readonly string[], options: TestOptions): Promise<ExitCode> {
  const { clock, cwd, terminal } = context;
  if (options.trials !== undefined && options.trials > limits.testTrials)
    throw usageError(`${options.trials} trials are more than ${limits.testTrials} (testTrials)`, 'Give fewer: --trials');
  const report = await untilStopped(context, async (signal) => {
    await using grounds = createGrounds(groundPlace(context), { signal, keepFiles: options.keep === true, model: options.model });
    const { root, home } = await grounds.place();
    const { tests, broken } = await readTests(root, names);
    if (broken.length > 0) terminal.progress.line(safeText(brokenText(broken)));
    if (tests.length === 0) throw usageError('There are no tests in tests/', 'Keep a run as one: troupe test add last');
    const before = await lastReport(home);
    const made = await runTests(grounds.open, tests, {
      ...{ broken, update: options.update === true, ...present({ trials: options.trials, usd: options.budgetUsd, before }) },
      updated: ({ name }, difference) => terminal.progress.line(safeText(`${name} is brought up to date. ${difference}`)),
      tried: ({ name }, trial, number, of) =>
        terminal.progress.line(`${trial.passed ? '✓' : '✗'} ${name}${of === 1 ? '' : ` ${number}/${of}`}  ${costAndTime(trial)}`),
    });
    await keepReport(home, made, clock.now());
    return made;
  });
  if (options.junit !== undefined) await writeFile(resolve(cwd, options.junit), junit(report));
  if (options.json === true) printJson(context, 'test', report);
  else print(context, report);
  if (report.broken.length > 0) return exitCodes.usage;
  if (report.notRun.length > 0) return exitCodes.budget;
  return report.passed ? exitCodes.completed : exitCodes.failed;
}

const costAndTime = ({ usd, unknownCalls, durationMs }: Pick<Trial, 'usd' | 'unknownCalls' | 'durationMs'>): string =>
  `${readableCost({ nanoUsd: Math.round(usd * NANO), unknownCalls })} · ${readableDuration(durationMs)}`;

const CHANGES: Readonly<Record<Tested['change'], string>> = {
  new: '',
  same: '',
  fixed: ' (failed before)',
  broken: ' (passed before)',
};

function print(context: CommandContext, { tests, notRun, broken, total, before }: TestReport): void {
  const { out } = context.terminal;
  for (const tested of tests) {
    const passed = tested.trials.filter((trial) => trial.passed).length;
    const times = tested.trials.length > 1 ? ` ${passed} of ${tested.trials.length} trials` : '';
    const kind = tested.frozen === true ? ` ${tested.updated === true ? 'brought up to date' : 'over its answers'}` : '';
    out.line(`${tested.passed ? '✓' : '✗'} ${tested.name} (${safeLine(tested.agent)})${times}${kind}${CHANGES[tested.change]}`);
    for (const [index, trial] of tested.trials.entries())
      printFailures(context, trial, tested.trials.length > 1 ? index + 1 : undefined);
    for (const line of adviceOf(tested)) out.line(`    ${line}`);
  }
  out.line('');
  const failed = tests.filter((tested) => !tested.passed).length;
  const counts = [
    `${tests.length - failed} passed`,
    `${failed} failed`,
    ...(notRun.length > 0 ? [`${notRun.length} not run`] : []),
    ...(broken.length > 0 ? [`${broken.length} cannot be used`] : []),
  ];
  out.line(`${counts.join(', ')} · ${counted(total.trials, 'trial')} · ${costAndTime(total)}`);
  for (const { file } of broken) out.line(`✗ ${safeLine(file)} cannot be used`);
  if (notRun.length > 0) out.line(`no budget was left for ${notRun.join(', ')}: raise --budget-usd`);
  if (before !== null)
    out.line(
      `before  ${before.passed} passed, ${before.failed} failed · ${costAndTime({ ...before, unknownCalls: 0 })} · ${before.at}`,
    );
}

function printFailures(context: CommandContext, trial: Trial, number: number | undefined): void {
  const { out } = context.terminal;
  const failed = trial.checks.filter(({ passed }) => !passed);
  for (const { check, why } of failed) {
    const [first = '', ...rest] = safeText(why ?? '').split('\n');
    out.line(`    ${number === undefined ? '' : `trial ${number}: `}${safeLine(check)}: ${first}`);
    for (const line of rest) out.line(`      ${line}`);
  }
  if (failed.length === 0) return;
  if (trial.run !== null) out.line(`      ${callOf(context)} show ${trial.run}`);
  if (trial.workspace !== null) out.line(`      its files: ${trial.workspace}`);
}

/** What judges said: advice, marked as such. */
function adviceOf({ trials }: Tested): readonly string[] {
  return trials.flatMap(({ scores }) =>
    scores.map(({ judge, score, reason }) =>
      `${safeLine(judge)}: ${score === null ? 'no score' : score.toFixed(2)} ${safeLine(reason)}`.trimEnd(),
    ),
  );
}
