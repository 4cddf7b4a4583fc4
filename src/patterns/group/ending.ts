/** How a reflect loop ends: by exactly one rule, which it names. Only a met goal is a success. */
import { limits } from '../../base/limits.ts';
import { counted, sentence } from '../../base/wording.ts';
import type { RunStatus } from '../../events/catalogue.ts';
import type { RunResult } from '../steps.ts';
import { UNCHECKED, unverified, withVerification } from '../verification.ts';
import { GOAL } from './evaluation.ts';
import type { ReflectLoop, StopReason } from './reflect-loop.ts';
import { withoutSentinels } from './sentinels.ts';
import { type WorkerOutcome, withLate, withMissing } from './workers.ts';

const SAYS: Readonly<Record<StopReason, string>> = {
  goal_met: 'the goal was met',
  nothing_left: 'the orchestrator found nothing left to do',
  max_iterations: 'the limit of iterations was reached (maxIterations)',
  stalled: 'the answers stopped changing',
  error_budget: `${limits.reflectErrors} errors in a row`,
  all_failed: 'it was called done, but every worker had failed',
  no_assignments: 'the orchestrator assigned nothing to anybody who is there',
  cancelled: 'it was cancelled',
  budget_exhausted: 'its budget has nothing left',
};

/** What the loop ended on, when that is not its latest result. */
export interface Last {
  readonly result?: RunResult;
  /** What workers had done that nobody could put together any more. */
  readonly outcomes?: readonly WorkerOutcome[] | undefined;
}

export async function endLoop(loop: ReflectLoop, iterations: number, rule: StopReason, last: Last = {}): Promise<RunResult> {
  const { run, latest } = loop;
  const reason = asItWas(rule, latest?.outcomes ?? []);
  const late = await loop.work.late();
  const end = endOf(loop, reason);
  const goalMet = end.outcome === 'met';
  const exhausted = reason === 'budget_exhausted' ? last.result?.exhausted : undefined;
  const why = `${detail(reason, last)}${goalMet ? '' : scored(loop)}`;
  const summary = `Ended after ${iterations} of at most ${counted(loop.maxIterations, 'iteration')}: ${SAYS[reason]}.${why}`;
  const payload = { ...end, iterations, summary };
  await run.steps.emit('ended', { type: 'group.ended', payload });
  const error = goalMet ? undefined : { code: reason, message: summary };
  if (latest === undefined) return withLate(withoutResult(loop, reason, summary, last), late);
  const body = withoutSentinels(latest.result.report.body);
  const whole = withMissing({ ...latest.result.report, body }, latest.missing);
  const report = whole.format === 'json' ? whole : { ...whole, body: `${whole.body}${leftOver(last)}` };
  const result = { ...latest.result, report, finalAgent: run.agent.name, error, exhausted };
  const status = ENDS[reason];
  if (status !== undefined) return withLate(withVerification({ ...result, status }, UNCHECKED), late);
  const { verification } = latest.result;
  const found = verification.state === 'unverified' ? verification.reasons : [];
  return withLate(withVerification(result, goalMet ? verification : unverified([summary, ...found])), late);
}

function endOf({ config }: ReflectLoop, reason: StopReason) {
  switch (reason) {
    case 'goal_met':
      return { outcome: 'met', reason } as const;
    case 'nothing_left':
      // Where somebody judges, the one who is judged does not decide: it is not enough for a goal that was missed.
      return config.evaluator === undefined ? ({ outcome: 'met', reason } as const) : ({ outcome: 'missed', reason } as const);
    case 'cancelled':
    case 'budget_exhausted':
      return { outcome: 'cut_off', reason } as const;
    default:
      return { outcome: 'missed', reason } as const;
  }
}

/** The last word of the judge, for whoever reads only why the goal was missed. */
function scored({ config, judged }: ReflectLoop): string {
  if (config.evaluator === undefined || judged === undefined) return '';
  return ` ${config.evaluator} gave it ${judged.score} of the ${GOAL} that it takes: ${sentence(judged.rationale)}`;
}

/** Whoever calls it done, nothing was done where everybody failed. */
function asItWas(rule: StopReason, outcomes: readonly WorkerOutcome[]): StopReason {
  const content = rule === 'goal_met' || rule === 'nothing_left';
  return content && outcomes.length > 0 && outcomes.every(({ ok }) => !ok) ? 'all_failed' : rule;
}

/** Nothing was made: what was said last is still shown. */
function withoutResult({ run }: ReflectLoop, reason: StopReason, summary: string, last: Last): RunResult {
  const spoken = last.result?.report.synthetic === true ? undefined : last.result?.report.body;
  const said = spoken === undefined ? '' : `\n\nThe last words were:\n\n${spoken}`;
  return {
    status: ENDS[reason] ?? 'failed',
    report: { format: 'text', body: `${summary}${said}${leftOver(last)}`, synthetic: true },
    finalAgent: run.agent.name,
    finalRun: run.run,
    turns: 0,
    error: { code: reason, message: summary },
    exhausted: last.result?.exhausted,
    verification: UNCHECKED,
  };
}

/** Ways out that say by themselves how the run has ended. */
const ENDS: Readonly<Partial<Record<StopReason, RunStatus>>> = { cancelled: 'cancelled', budget_exhausted: 'budget_exhausted' };

function detail(reason: StopReason, { result }: Last): string {
  if (reason === 'budget_exhausted') return ` ${result?.error?.message ?? ''}`;
  return reason === 'error_budget' ? ` The last one: ${sentence(result?.error?.message ?? 'no judgement could be read')}` : '';
}

function leftOver({ outcomes = [] }: Last): string {
  if (outcomes.length === 0) return '';
  const parts = outcomes.map(({ worker, ok, text }) => `### ${worker}${ok ? '' : ' (failed)'}\n\n${text}`);
  return ['', 'These results were not put together any more:', ...parts].join('\n\n');
}
