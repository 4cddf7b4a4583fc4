/** What becomes of a task that came back, and what it is worth: by its acceptance, its limits, or who handed it over. */
import { present } from '../../base/present.ts';
import type { Payloads, Verification } from '../../events/catalogue.ts';
import type { RanBefore } from '../task-support.ts';
import type { NamedResult } from '../verification.ts';
import { UNCHECKED, unchecked, unverified } from '../verification.ts';
import type { TaskJudgement, WantedTask } from './exits.ts';
import type { Failed } from './policy.ts';
import { isWithinScope, smaller } from './scope.ts';
import type { Before, EndedAttempt, Unit } from './units.ts';

/** Stands for all tasks that are to be judged. */
const ALL = '*';

/** A task that came back and waits for a word. */
export interface Open extends EndedAttempt {
  readonly failed: Failed | undefined;
  readonly unit: Unit;
  /** How its commands ended where it began, where that was looked at. */
  readonly before?: Before | undefined;
}

/** A task of which nothing more is to come. */
export interface Done {
  readonly task: string;
  readonly unit: Unit;
  readonly verdict: 'accepted' | 'given_up';
  readonly why: string;
  readonly verification: Verification;
  readonly ended?: EndedAttempt;
}

type Judged = Payloads['task.judged'];
export type TaskVerdict = Omit<TaskJudgement, 'task'> & { readonly task?: WantedTask };

/** One word for all of them is one for each that no other word is for. */
export function forEachOpen(verdicts: readonly TaskVerdict[], open: readonly Open[]): readonly TaskVerdict[] {
  const named = verdicts.map(({ task_id }) => task_id);
  const others = open.map(({ attempt }) => attempt.task).filter((task) => !named.includes(task));
  return verdicts.flatMap((one) => (one.task_id === ALL ? others.map((task_id) => ({ ...one, task_id })) : [one]));
}

/** Why a verdict cannot stand; `undefined` when it can. */
export function verdictProblem(verdict: TaskVerdict, open: readonly Open[]): string | undefined {
  const found = open.find(({ attempt }) => attempt.task === verdict.task_id);
  const ids = open.map(({ attempt }) => attempt.task).join(', ');
  if (found === undefined) return `there is no task ${JSON.stringify(verdict.task_id)} to judge. Open are: ${ids}.`;
  const { unit, failed } = found;
  if (verdict.verdict === 'accepted') {
    if (failed !== undefined) return `${verdict.task_id} failed (${failed.message}) and cannot be accepted: again, or given_up.`;
    const unmet = verdict.acceptance?.find(({ met }) => !met);
    if (unmet !== undefined) return `${verdict.task_id}: ${JSON.stringify(unmet.line)} is not met, so it cannot be accepted.`;
    if (unrun(found).length > 0) return `${verdict.task_id}: ${unrun(found).join(', ')} was not run, so it cannot be accepted.`;
  }
  if (verdict.verdict !== 'again' || verdict.task === undefined) return undefined;
  if (!isWithinScope(verdict.task.scope, unit.wanted.scope))
    return `${verdict.task_id}: again means about no more than before: ${unit.wanted.scope.include.join(', ')}.`;
  if (unit.mustShrink && !smaller(verdict.task.scope, unit.wanted.scope))
    return `${verdict.task_id} must be about less than before this time: fewer or deeper include_paths, or more exclude_paths.`;
  return undefined;
}

/** Commands of the acceptance of which nobody saw how they end. */
const unrun = ({ unit, collected }: Open): string[] =>
  unit.wanted.acceptance.flatMap(({ command }) =>
    command === undefined || collected.ran.some((one) => one.command === command) ? [] : [`\`${command}\``],
  );

/** Whether its acceptance says by itself that it is done: every line was run, and passed. */
export const isProved = (open: Open): boolean =>
  open.failed === undefined &&
  unrun(open).length === 0 &&
  open.unit.wanted.acceptance.every(({ command }) => command !== undefined);

export function judgedPayload(
  { attempt, collected, unit, result, before }: Open,
  by: Judged['by'],
  { verdict, why, acceptance = [] }: Pick<TaskVerdict, 'verdict' | 'why' | 'acceptance'>,
): Judged {
  const lines = unit.wanted.acceptance.map(({ line, command }) => {
    if (command === undefined) {
      const met = acceptance.find((one) => one.line === line)?.met ?? verdict === 'accepted';
      return { line, how: 'judged' as const, met };
    }
    const ran = collected.ran.find((one) => one.command === command);
    const then = before?.ran.find((one) => one.command === command);
    return {
      ...{ line, how: 'run' as const, met: ran?.passed === true },
      ...present({ why: ran === undefined ? 'not run' : ran.why, before: then === undefined ? undefined : beforeWord(then) }),
    };
  });
  return {
    ...{ task: attempt.task, attempt: unit.attempt, verdict, by, why, acceptance: lines },
    verification: verdict === 'accepted' ? breached(worth(lines, result.verification, before), collected.noticed) : UNCHECKED,
  };
}

/** In the words of what is recorded. */
const beforeWord = ({ ended }: RanBefore): 'passed' | 'failed' | 'unknown' =>
  ended === 'passed' || ended === 'failed' ? ended : 'unknown';

/**
 * Proved only when every line was, and would not have been without the work: what somebody judged is not proved, and speaks
 * neither for nor against it.
 */
function worth(lines: Judged['acceptance'], verification: Verification, before: Before | undefined): Verification {
  if (verification.state !== 'verified') return verification;
  if (before?.why !== undefined) return unchecked([before.why]);
  return lines.every(({ how, met }) => how === 'run' && met) ? verification : UNCHECKED;
}

/** What was written where it must not be, and could not be taken back, no passing command makes good. */
function breached(found: Verification, noticed: readonly string[]): Verification {
  if (noticed.length === 0) return found;
  const reason = `it wrote outside of its task, and that is still there: ${noticed.join(', ')}`;
  return unverified([...(found.state === 'unverified' ? found.reasons : []), reason]);
}

/** What the answer rests on: accepted tasks as they were found, and a gap for each that was given up. */
export function restsOnTasks(done: readonly Done[], together: Verification | undefined): readonly NamedResult[] {
  const parts = done.map(({ task, verdict, why, verification }): NamedResult => {
    if (verdict === 'given_up')
      return { name: task, result: { status: 'failed', verification: unchecked([`given up: ${why}`]) } };
    return { name: task, result: { status: statusOf(verification), verification } };
  });
  if (together === undefined) return parts;
  return [...parts, { name: 'all together', result: { status: statusOf(together), verification: together } }];
}

const statusOf = ({ state }: Verification) =>
  state === 'unverified' ? ('completed_unverified' as const) : ('completed' as const);
