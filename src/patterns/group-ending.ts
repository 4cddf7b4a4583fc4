/** How a reflect loop ends: by exactly one rule, which it names. Only a met goal is a success. */
import { limits } from '../base/limits.ts';
import type { Payloads } from '../events/catalogue.ts';
import type { Loop } from './group-reflect.ts';
import { withMissing } from './group-workers.ts';
import { withoutSentinels } from './sentinels.ts';
import type { RunResult } from './steps.ts';

export type StopReason = Payloads['group.ended']['reason'];

const SAYS: Readonly<Record<StopReason, string>> = {
  goal_met: 'the goal was met',
  nothing_left: 'the orchestrator found nothing left to do',
  max_iterations: 'the limit of iterations was reached (maxIterations)',
  stalled: 'the answers stopped changing',
  error_budget: `${limits.reflectErrors} errors in a row`,
  no_assignments: 'the orchestrator assigned nothing to anybody who is there',
  cancelled: 'it was cancelled',
};

/** `last` is what the loop ended on, when that is not its latest result. */
export async function endLoop(loop: Loop, iterations: number, reason: StopReason, last?: RunResult): Promise<RunResult> {
  const { run, latest } = loop;
  const goalMet = reason === 'goal_met' || reason === 'nothing_left';
  const why = reason === 'error_budget' ? ` The last one: ${last?.error?.message ?? 'no judgement could be read'}.` : '';
  const summary = `Ended after ${iterations} of at most ${loop.maxIterations} iterations: ${SAYS[reason]}.${why}`;
  const payload = { reason, goalMet, cancelled: !goalMet, iterations, summary };
  await run.steps.emit('ended', { type: 'group.ended', payload });
  const error = goalMet ? undefined : { code: reason, message: summary };
  if (latest === undefined) return withoutResult(loop, reason, summary, last);
  const body = withoutSentinels(latest.result.report.body);
  const report = withMissing({ ...latest.result.report, body }, latest.missing);
  const status = goalMet ? latest.result.status : reason === 'cancelled' ? 'cancelled' : 'completed_unverified';
  // Its claims were checked where they were made.
  return { ...latest.result, report, finalAgent: run.agent.name, status, error, claims: undefined };
}

/** Nothing was made: what was said last is still shown. */
function withoutResult({ run }: Loop, reason: StopReason, summary: string, last: RunResult | undefined): RunResult {
  const said = last === undefined || last.report.synthetic === true ? '' : `\n\nThe last words were:\n\n${last.report.body}`;
  return {
    status: reason === 'cancelled' ? 'cancelled' : 'failed',
    report: { format: 'text', body: `${summary}${said}`, synthetic: true },
    finalAgent: run.agent.name,
    finalRun: run.run,
    turns: 0,
    error: { code: reason, message: summary },
  };
}
