/** A report as JUnit has it: what servers of continuous integration read. */
import type { Tested, TestReport, Trial } from './report.ts';

const escaped = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    // XML has no sign for these.
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out.
    .replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd');

const seconds = (milliseconds: number): string => (milliseconds / 1_000).toFixed(3);

export function junit({ tests, notRun, broken, total }: TestReport): string {
  const cases = tests.flatMap((tested) => tested.trials.map((trial, index) => caseOf(tested, trial, index)));
  const left = notRun.map(
    (name) => `    <testcase classname="troupe" name="${escaped(name)}"><skipped message="no budget was left"/></testcase>`,
  );
  const wrong = broken.map(
    ({ file, why }) =>
      `    <testcase classname="troupe" name="${escaped(file)}"><error message="cannot be used">${escaped(why)}</error></testcase>`,
  );
  const failures = tests.flatMap(({ trials }) => trials).filter(({ passed }) => !passed).length;
  const all = cases.length + left.length + wrong.length;
  const sums = [`tests="${all}"`, `failures="${failures}"`, `errors="${wrong.length}"`, `skipped="${left.length}"`];
  const counts = [...sums, `time="${seconds(total.durationMs)}"`].join(' ');
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${counts}>`,
    `  <testsuite name="troupe" ${counts}>`,
    ...cases,
    ...left,
    ...wrong,
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

function caseOf({ name, agent, trials }: Tested, trial: Trial, index: number): string {
  const called = trials.length === 1 ? name : `${name} (trial ${index + 1} of ${trials.length})`;
  const begin = `    <testcase classname="${escaped(agent)}" name="${escaped(called)}" time="${seconds(trial.durationMs)}"`;
  if (trial.passed) return `${begin}/>`;
  const failed = trial.checks.filter(({ passed }) => !passed);
  const words = failed.map(({ check, why }) => `${check}: ${why ?? ''}`).join('\n');
  const [first = { check: 'failed' }] = failed;
  const told = escaped(`${words}\nrun ${trial.run ?? '-'}`);
  return `${begin}>\n      <failure message="${escaped(first.check)}">${told}</failure>\n    </testcase>`;
}
