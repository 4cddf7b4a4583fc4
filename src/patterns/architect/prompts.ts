/** What architects and executors are told. What executors wrote is fenced, and what the runtime saw is told apart from it. */
import { fenced, fenceNote } from '../../base/fence.ts';
import { limits } from '../../base/limits.ts';
import { counted } from '../../base/wording.ts';
import { verificationLine } from '../../events/verification-text.ts';
import type { Merged } from '../task-support.ts';
import { unchecked } from '../verification.ts';
import type { Failed } from './policy.ts';
import type { ArchitectSettings } from './settings.ts';
import type { Before, EndedAttempt } from './units.ts';

const RULES = (settings: ArchitectSettings): string =>
  [
    '## You are the architect',
    'You look, plan, ask, hand over and judge. You cannot change files or run commands, and nobody does it for you but an executor: ' +
      'work goes out as tasks, each about named files, within named limits, with an acceptance that can be checked.',
    `- \`clarify\` asks the person. There are ${counted(settings.clarifyRounds, 'round')} of questions before a task is handed over; ` +
      'ask only for what you cannot find out by looking.',
    '- `delegate` hands tasks over. An executor knows nothing but its package: say in the goal all that it needs. Keep tasks small. ' +
      `A task has at most ${settings.maxCliCalls} commands and ${Math.floor(settings.maxDurationMs / 1_000)} seconds. ` +
      'Write an acceptance that can be run: a line that begins with a command between backticks is run by the runtime and decides. ' +
      'One that fails before the work and passes after it proves that it was done; one that passes without it proves nothing.',
    '- `judge` says what becomes of a task that came back. What the runtime saw is proof; what the executor says is its word. A task ' +
      'whose commands fail cannot be accepted: hand it over again, about less, or give it up.',
    '- `final_report` answers the person, when everything is accepted or cannot be done. Say what was done and what was not.',
  ].join('\n');

export const architectSystem = (settings: ArchitectSettings, own: string): string =>
  [own, RULES(settings)].filter(Boolean).join('\n\n');

/** What an executor gets: its package, what is known, and nothing else. */
export function packagePrompt(yaml: string, context: string, before: string | undefined, nonce: string): string {
  return [
    `Task Package (YAML):\n\n\`\`\`yaml\n${yaml}\`\`\``,
    'Do this task and nothing beyond it. Change only what is in `include_paths` and neither in `exclude_paths` nor in `no_touch`: ' +
      'what you write elsewhere is taken back. The runtime looks at the files itself and runs the acceptance itself. ' +
      'End with a short account of what you changed and what you could not do.',
    ...(context === '' && before === undefined ? [] : [fenceNote(nonce)]),
    ...(context === '' ? [] : ['## WHAT IS KNOWN', fenced('context', nonce, context)]),
    ...(before === undefined ? [] : ['## WHAT CAME OF AN EARLIER ATTEMPT', fenced('earlier', nonce, before)]),
  ].join('\n\n');
}

interface TaskCameBack extends EndedAttempt {
  readonly failed: Failed | undefined;
  readonly before?: Before | undefined;
}

/** What came of tasks, for whoever handed them over. */
export function taskResultsPrompt(results: readonly TaskCameBack[], nonce: string): string {
  return [fenceNote(nonce), ...results.map((one) => resultText(one, nonce)), JUDGE_NOW].join('\n\n');
}

const JUDGE_NOW =
  'Now judge each of these tasks with `judge`. If all of their acceptance was run and passed and nothing is left to do, you may ' +
  'give your final report instead.';

export function resultText({ attempt, result, collected, failed, before }: TaskCameBack, nonce: string): string {
  const { unit, task } = attempt;
  const { files, undone, noticed, ran, tests, diff, patch } = collected;
  const changed = files.map(({ path, added, removed }) => `${path} (+${added} −${removed})`).join(', ');
  const lines = unit.wanted.acceptance.map(({ line, command }) => {
    if (command === undefined) return `  - ${line}: no command, judge it yourself`;
    const outcome = ran.find((one) => one.command === command);
    if (outcome === undefined) return `  - ${line}: NOT RUN`;
    return outcome.passed
      ? `  - ${line}: passed, run by the runtime${beforeText(before, command)}`
      : `  - ${line}: FAILED, run by the runtime: ${outcome.why ?? ''}`;
  });
  const printed = ran.filter(({ passed, output }) => !passed && (output ?? '') !== '');
  return [
    `## RESULT OF ${task}: ${unit.wanted.goal.split('\n')[0]}`,
    [
      'Seen by the runtime:',
      `- ended: ${failed === undefined ? result.status : `FAILED: ${failed.message}`} (attempt ${unit.attempt}, executor ${unit.executor})`,
      `- changed: ${changed || 'nothing'}`,
      ...(undone.length === 0 ? [] : [`- outside of its scope, taken back: ${undone.join(', ')}`]),
      ...(noticed.length === 0 ? [] : [`- outside of its scope, still there: ${noticed.join(', ')}`]),
      ...(tests.length === 0
        ? []
        : [
            `- tests: ${tests.map((one) => `${one.command} ${one.passed ? 'passed' : 'failed'}${one.tests === undefined ? '' : ` (${one.tests})`}`).join('; ')}`,
          ]),
      ...(patch === undefined ? [] : [`- patch: ${patch}`]),
      `- ${verificationLine(before?.why === undefined ? result.verification : unchecked([before.why]))}`,
      '- acceptance:',
      ...lines,
    ].join('\n'),
    ...printed.map(({ command, output }) => `\`${command}\` printed:\n\n${fenced('output', nonce, bounded(output ?? ''))}`),
    ...(diff === '' ? [] : [`The changes:\n\n${fenced('diff', nonce, bounded(diff, limits.taskDiffCharacters))}`]),
    `What the executor says, which proves nothing:\n\n${fenced('executor', nonce, bounded(result.report.body))}`,
  ].join('\n\n');
}

function beforeText(before: Before | undefined, command: string): string {
  const then = before?.ran.find((one) => one.command === command);
  if (then?.ended === 'failed') return '; it failed before the work';
  return then?.ended === 'passed' ? '; it passed before the work, too' : '';
}

function bounded(text: string, most: number = limits.taskWordCharacters): string {
  if (text.length <= most) return text;
  return `${text.slice(0, Math.floor(most / 2))}\n[…]\n${text.slice(-Math.floor(most / 2))}`;
}

export interface ClarifyAnswer {
  readonly question: string;
  readonly answer: string | undefined;
}

export function answersPrompt(answered: readonly ClarifyAnswer[], left: number, nonce: string): string {
  const texts = answered.map(
    ({ question, answer }) => `${question}\n\n${answer === undefined ? 'Nobody answered.' : fenced('answer', nonce, answer)}`,
  );
  const rounds =
    left === 0
      ? 'That was the last round of questions before the next task: decide with what you know, and say what you assumed.'
      : `${counted(left, 'round')} of questions left before the next task.`;
  return ['## ANSWERS', fenceNote(nonce), ...texts, rounds].join('\n\n');
}

/** What became of tasks without the architect's word, and what is to be decided now. */
export const noticePrompt = (notices: readonly string[]): string =>
  [
    ...notices,
    'Go on: hand over what is still to be done with `delegate`, or give your final report. Nothing is at work now.',
  ].join('\n\n');

export const refusedPrompt = (why: string): string => `Not taken: ${why}`;

export function mergeText(
  { conflicts, files }: Merged,
  tasks: readonly string[],
  kept: readonly string[],
  nonce: string,
): string {
  if (conflicts.length === 0) return `Accepted and put together: ${tasks.join(', ')} (${counted(files, 'file')} changed in all).`;
  const lines = conflicts.map(({ path, tasks: of, why }) => `- ${path} (${of.join(', ')})${why === undefined ? '' : `: ${why}`}`);
  return [
    `What was accepted does not fit together in ${counted(conflicts.length, 'file')}:\n${lines.join('\n')}`,
    'Nothing is lost: the patches that are left out are kept. Hand over a task about just these files that brings both changes ' +
      'together, or ask the person with `clarify`. What is left out:',
    ...kept.map((diff) => fenced('patch', nonce, bounded(diff, limits.taskDiffCharacters))),
  ].join('\n\n');
}
