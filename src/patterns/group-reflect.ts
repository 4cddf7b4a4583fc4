/**
 * The reflect loop: plan, divide, collect, put together, judge; again until the goal is met or a rule ends it. Everything it
 * knows comes from recorded steps, so a loop that was killed goes on in its iteration: workers that had answered are not asked
 * again, workers that never started are.
 *
 * Every way out but a met goal is marked as cancelled, and the summary says which rule ended the loop.
 */
import type { RunId } from '../base/ids.ts';
import { limits } from '../base/limits.ts';
import { type AgentRun, succeeded } from './agent-run.ts';
import { adviceFor } from './group-advice.ts';
import { evaluate, type Judgement, selfJudged } from './group-evaluation.ts';
import { divide, plan, synthesise } from './group-orchestrator.ts';
import type { GroupConfig, Worker, WorkerOutcome } from './group-workers.ts';
import { withoutSentinels } from './sentinels.ts';
import { checkStall, noStall, type StallState, trendOf } from './stall.ts';
import type { RunResult } from './steps.ts';

export type StopReason =
  | 'goal_met'
  | 'nothing_left'
  | 'max_iterations'
  | 'stalled'
  | 'error_budget'
  | 'no_assignments'
  | 'cancelled';

interface Loop {
  readonly run: AgentRun;
  readonly config: GroupConfig;
  readonly workers: readonly Worker[];
  readonly request: string;
  readonly maxIterations: number;
  orchestrator: RunId | undefined;
  synthesis: RunResult | undefined;
  evaluation: string | undefined;
  stall: StallState;
  scores: number[];
  progress: string;
}

type Iteration =
  | { readonly kind: 'again' }
  | { readonly kind: 'stop'; readonly reason: StopReason }
  | { readonly kind: 'error'; readonly result: RunResult };

export async function reflect(
  run: AgentRun,
  config: GroupConfig,
  workers: readonly Worker[],
  request: string,
): Promise<RunResult> {
  const maxIterations = config.maxIterations ?? limits.reflectIterations;
  const loop: Loop = {
    run,
    config,
    workers,
    request,
    maxIterations,
    orchestrator: undefined,
    synthesis: undefined,
    evaluation: undefined,
    stall: noStall,
    scores: [],
    progress: '',
  };
  let errors = 0;
  for (let iteration = 1; iteration <= maxIterations; ) {
    const key = errors === 0 ? `iteration/${iteration}` : `iteration/${iteration}/again/${errors}`;
    const step = await iterate(loop, iteration, key);
    if (step.kind === 'stop') return await end(loop, iteration, step.reason);
    if (step.kind === 'again') {
      errors = 0;
      iteration += 1;
      continue;
    }
    if (step.result.status === 'cancelled') return await end(loop, iteration, 'cancelled', step.result);
    errors += 1;
    if (errors >= limits.reflectErrors) return await end(loop, iteration, 'error_budget', step.result);
    await run.steps.sleep(`${key}/back-off`, limits.reflectBackOffMs * errors);
  }
  return await end(loop, maxIterations, 'max_iterations');
}

async function iterate(loop: Loop, iteration: number, key: string): Promise<Iteration> {
  const { run, config, workers, request } = loop;
  const planned = await plan(run, config, workers, {
    key: `${key}/plan`,
    request,
    iteration,
    continues: loop.orchestrator,
    ...(loop.evaluation === undefined ? {} : { evaluation: loop.evaluation }),
  });
  if (planned.kind === 'failed') return { kind: 'error', result: planned.result };
  if (planned.kind === 'direct') return { kind: 'stop', reason: iteration === 1 ? 'no_assignments' : 'nothing_left' };

  const outcomes = await divide(run, config, workers, planned, { key: `${key}/work`, request });
  const mode = config.evaluator === undefined ? 'judge' : 'answer';
  const synthesis = await synthesise(run, {
    key: `${key}/synthesis`,
    outcomes,
    missing: [],
    continues: planned.orchestrator,
    mode,
  });
  if (!succeeded(synthesis)) return { kind: 'error', result: synthesis };
  loop.orchestrator = synthesis.finalRun;
  loop.synthesis = synthesis;
  return await judge(loop, iteration, key, outcomes, synthesis);
}

async function judge(
  loop: Loop,
  iteration: number,
  key: string,
  outcomes: readonly WorkerOutcome[],
  synthesis: RunResult,
): Promise<Iteration> {
  const { run, config, request } = loop;
  const body = synthesis.report.body;
  const judged =
    config.evaluator === undefined
      ? selfJudged(body)
      : await evaluate(run, config.evaluator, {
          key: `${key}/evaluation`,
          request,
          synthesis: body,
          iteration,
          last: iteration === loop.maxIterations,
        });
  if (judged.kind === 'failed') return { kind: 'error', result: judged.result };
  await note(loop, iteration, key, judged);
  if (judged.goalMet) return { kind: 'stop', reason: 'goal_met' };

  const progress = await run.steps.step(`${key}/progress`, () => run.progress());
  const checked = checkStall(loop.stall, body, progress !== loop.progress);
  loop.stall = checked.state;
  loop.progress = progress;
  if (checked.verdict !== 'moving') {
    const payload = {
      iteration,
      similarity: checked.similarity,
      consecutive: checked.state.consecutive,
      stops: checked.verdict === 'stalled',
    };
    await run.steps.emit(`${key}/stalled`, { type: 'group.stalled', payload });
  }
  const advice = adviceFor(outcomes, loop.workers, loop.scores, checked.verdict);
  loop.evaluation = [judged.rationale, ...advice].join('\n');
  return checked.verdict === 'stalled' ? { kind: 'stop', reason: 'stalled' } : { kind: 'again' };
}

async function note(loop: Loop, iteration: number, key: string, judged: Extract<Judgement, { kind: 'judged' }>): Promise<void> {
  loop.scores = [...loop.scores, judged.score];
  const { score, rationale, goalMet, dimensions } = judged;
  const evaluator = loop.config.evaluator ?? loop.run.agent.name;
  const payload = {
    iteration,
    score,
    rationale,
    goalMet,
    evaluator,
    trend: trendOf(loop.scores),
    ...(dimensions === undefined ? {} : { dimensions }),
  };
  await loop.run.steps.emit(`${key}/evaluated`, { type: 'group.evaluated', payload });
}

const SAYS: Readonly<Record<StopReason, string>> = {
  goal_met: 'the goal was met',
  nothing_left: 'the orchestrator found nothing left to do',
  max_iterations: 'the limit of iterations was reached (maxIterations)',
  stalled: 'the answers stopped changing',
  error_budget: `${limits.reflectErrors} errors in a row`,
  no_assignments: 'the orchestrator assigned nothing to anybody',
  cancelled: 'it was cancelled',
};

async function end(loop: Loop, iteration: number, reason: StopReason, failure?: RunResult): Promise<RunResult> {
  const { run, synthesis } = loop;
  const goalMet = reason === 'goal_met' || reason === 'nothing_left';
  const summary = `Ended after ${iteration} of at most ${loop.maxIterations} iterations: ${SAYS[reason]}.`;
  await run.steps.emit('ended', {
    type: 'group.ended',
    payload: { reason, goalMet, cancelled: !goalMet, iterations: iteration, summary },
  });
  if (failure?.status === 'cancelled') return failure;
  if (synthesis === undefined) return failed(run, reason, summary, failure);
  const report = { ...synthesis.report, body: withoutSentinels(synthesis.report.body) };
  const error = goalMet ? undefined : { code: reason, message: summary };
  return { ...synthesis, report, finalAgent: run.agent.name, status: goalMet ? 'completed' : 'completed_unverified', error };
}

function failed(run: AgentRun, reason: StopReason, summary: string, failure: RunResult | undefined): RunResult {
  const message = failure?.error === undefined ? summary : `${summary} ${failure.error.message}`;
  return {
    status: 'failed',
    report: { format: 'text', body: message, synthetic: true },
    finalAgent: run.agent.name,
    finalRun: run.run,
    turns: 0,
    error: { code: reason, message },
  };
}
