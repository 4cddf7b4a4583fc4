/**
 * The reflect loop: make something, judge it, again until the goal is met or a rule ends it. Everything it knows comes from
 * recorded steps, so a loop that was killed goes on in its iteration: workers that had answered are not asked again, workers
 * that never started are, and an answer can only be the answer to the very task it was started with.
 *
 * Every way out but a met goal is marked as cancelled, and the summary says which rule ended the loop.
 */

import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import { reportText } from '../../events/report-text.ts';
import type { AgentRun } from '../agent-run.ts';
import { ranOut } from '../out-of-budget.ts';
import type { RunResult } from '../steps.ts';
import { adviceFor } from './advice.ts';
import { endLoop } from './ending.ts';
import { evaluate, type Judgement } from './evaluation.ts';
import type { At, LoopWork, Made, MadeResult, ReflectLoop, StopReason } from './reflect-loop.ts';
import { checkStall, noStall, trendOf } from './stall.ts';
import type { GroupConfig } from './workers.ts';

type Iteration =
  | { readonly kind: 'again' }
  | { readonly kind: 'stop'; readonly reason: StopReason; readonly result?: RunResult }
  | Extract<Made, { kind: 'error' }>;

export async function reflect(run: AgentRun, config: GroupConfig, work: LoopWork, request: string): Promise<RunResult> {
  const maxIterations = config.maxIterations ?? limits.reflectIterations;
  const fresh = { unjudged: undefined, latest: undefined, evaluation: undefined, judged: undefined, before: undefined };
  const loop: ReflectLoop = {
    run,
    config,
    work,
    request,
    maxIterations,
    ...fresh,
    stall: noStall,
    scores: [],
    seen: new Set(['']),
  };
  let errors = 0;
  for (let iteration = 1; iteration <= maxIterations; ) {
    const key = errors === 0 ? `iteration/${iteration}` : `iteration/${iteration}/again/${errors}`;
    const step = await iterate(loop, { key, iteration, evaluation: loop.evaluation });
    if (step.kind === 'stop') return await endLoop(loop, iteration, step.reason, step);
    if (step.kind === 'again') {
      errors = 0;
      iteration += 1;
      continue;
    }
    if (step.result.status === 'cancelled') return await endLoop(loop, iteration, 'cancelled', step);
    if (ranOut(run, [step.result]) !== undefined) return await endLoop(loop, iteration, 'budget_exhausted', step);
    errors += 1;
    if (errors >= limits.reflectErrors) return await endLoop(loop, iteration, 'error_budget', step);
    await run.steps.sleep(`${key}/back-off`, limits.reflectBackOffMs * errors);
  }
  return await endLoop(loop, maxIterations, 'max_iterations');
}

/** What was made but could not be judged is not made again. */
async function iterate(loop: ReflectLoop, at: At): Promise<Iteration> {
  const made = loop.unjudged ?? (await loop.work.make(at));
  if (made.kind !== 'made') return made;
  loop.latest = made;
  loop.unjudged = made;
  const judged = await judgementOf(loop, at, made);
  if (judged.kind === 'failed') return { kind: 'error', result: judged.result };
  loop.unjudged = undefined;
  return await goOn(loop, at, made, judged);
}

async function judgementOf(loop: ReflectLoop, { key, iteration }: At, made: MadeResult): Promise<Judgement> {
  const { run, config, work, request, maxIterations } = loop;
  if (config.evaluator === undefined) return await work.judge(key, made);
  const last = iteration === maxIterations;
  const { report, verification } = made.result;
  const judged = { request, synthesis: reportText(report), verification, iteration, last };
  return await evaluate(run, config.evaluator, { key: `${key}/evaluation`, ...judged });
}

type Judged = Extract<Judgement, { kind: 'judged' }>;

async function goOn(loop: ReflectLoop, { key, iteration }: At, made: MadeResult, judged: Judged): Promise<Iteration> {
  const { run, work } = loop;
  loop.scores = [...loop.scores, judged.score];
  loop.judged = judged;
  if (judged.goalMet) {
    await noteEvaluation(loop, iteration, key, judged, []);
    return { kind: 'stop', reason: 'goal_met' };
  }
  const checked = await stallOf(loop, key, made.said ?? made.result.report.body);
  const advice = adviceFor(made.outcomes, work.workers, loop.scores, checked.verdict);
  await noteEvaluation(loop, iteration, key, judged, advice);
  if (checked.verdict !== 'moving') {
    const { consecutive } = checked.state;
    const payload = { iteration, similarity: checked.similarity, consecutive, stops: checked.verdict === 'stalled' };
    await run.steps.emit(`${key}/stalled`, { type: 'group.stalled', payload });
  }
  loop.evaluation = [judged.rationale, ...advice].join('\n');
  return checked.verdict === 'stalled' ? { kind: 'stop', reason: 'stalled' } : { kind: 'again' };
}

/**
 * Whoever paused the loop has looked at it, so it counts anew. Files that hold what they never held before, or a test that
 * ends otherwise than last time, are no stall.
 */
async function stallOf(loop: ReflectLoop, key: string, body: string) {
  const now = await loop.run.steps.step(`${key}/progress`, () => loop.run.progress());
  const { before, seen } = loop;
  if (before !== undefined && now.pauses !== before.pauses) loop.stall = noStall;
  const checked = checkStall(loop.stall, body, !seen.has(now.files) || now.tests !== (before?.tests ?? ''));
  loop.before = now;
  loop.stall = checked.state;
  seen.add(now.files);
  return checked;
}

async function noteEvaluation(
  loop: ReflectLoop,
  iteration: number,
  key: string,
  judged: Judged,
  advice: readonly string[],
): Promise<void> {
  const { score, rationale, goalMet, dimensions } = judged;
  const payload = {
    iteration,
    score,
    rationale,
    goalMet,
    evaluator: loop.config.evaluator ?? loop.run.agent.name,
    trend: trendOf(loop.scores),
    ...present({ dimensions }),
    ...(advice.length === 0 ? {} : { advice: [...advice] }),
  };
  await loop.run.steps.emit(`${key}/evaluated`, { type: 'group.evaluated', payload });
}
