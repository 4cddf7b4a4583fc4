/**
 * One iteration of a group with workers: plan, divide, collect, put together. An iteration that is tried again goes on where
 * it failed: tasks that were done stay done, and no result is thrown away because the next step broke.
 */
import type { RunId } from '../../base/ids.ts';
import { succeeded } from '../../events/succeeded.ts';
import type { AgentRun } from '../agent-run.ts';
import { afterRound, type NamedResult } from '../verification.ts';
import { selfJudged } from './evaluation.ts';
import { type Assigned, allMissing, ask, divide, plan, synthesise } from './orchestrator.ts';
import { JUDGE_YOURSELF } from './prompts.ts';
import type { At, LoopWork, Made } from './reflect-loop.ts';
import {
  endedAmong,
  type GroupConfig,
  type LateTask,
  lateOutcomes,
  partsOf,
  putTogether,
  type Worker,
  type WorkerOutcome,
} from './workers.ts';

export function groupWork(run: AgentRun, config: GroupConfig, workers: readonly Worker[], request: string): LoopWork {
  const speaksJson = run.agent.output?.format === 'json' || run.agent.output?.schema !== undefined;
  const judges = config.evaluator === undefined && !speaksJson;
  let orchestrator: RunId | undefined;
  let planned: Assigned | undefined;
  let outcomes: readonly WorkerOutcome[] | undefined;
  let late: readonly LateTask[] = [];
  let before: readonly NamedResult[] = [];
  let iterationOf = 0;

  const divided = async (at: At): Promise<Extract<Made, { kind: 'stop' | 'error' }> | undefined> => {
    const { key, iteration, evaluation } = at;
    const asked = { key: `${key}/plan`, request, iteration, evaluation, continues: orchestrator, mayAnswer: false };
    const plans = await plan(run, config, workers, asked);
    if (plans.kind === 'failed') return { kind: 'error', result: plans.result };
    if (plans.kind === 'assigned') {
      planned = plans;
      return undefined;
    }
    const nothingLeft = plans.kind === 'direct' && iteration > 1;
    return { kind: 'stop', reason: nothingLeft ? 'nothing_left' : 'no_assignments', result: plans.result };
  };

  return {
    async make(at) {
      if (at.iteration !== iterationOf) [iterationOf, planned, outcomes] = [at.iteration, undefined, undefined];
      const stopped = planned === undefined ? await divided(at) : undefined;
      if (stopped !== undefined || planned === undefined) return stopped as Made;
      if (outcomes === undefined) {
        const collected = await divide(run, config, workers, planned, { key: `${at.key}/work`, request, late });
        [outcomes, late] = [collected.outcomes, collected.late];
      }
      const out = endedAmong(run, outcomes);
      if (out !== undefined) return { kind: 'error', result: out, outcomes };
      const mode = judges ? 'judge' : 'answer';
      const result = await synthesise(run, { key: `${at.key}/synthesis`, outcomes, planned, late, mode });
      if (!succeeded(result)) return { kind: 'error', result, outcomes };
      orchestrator = result.finalRun;
      const whole = putTogether(result, outcomes, before);
      before = afterRound(before, partsOf(outcomes));
      return { kind: 'made', result: whole, outcomes, missing: allMissing(planned, outcomes) };
    },
    async judge(key, made) {
      if (judges) return selfJudged(made.result.report.body);
      const verdict = await ask(run, `${key}/verdict`, 'planner', JUDGE_YOURSELF, orchestrator);
      if (!succeeded(verdict)) return { kind: 'failed', result: verdict };
      orchestrator = verdict.finalRun;
      return selfJudged(verdict.report.body);
    },
    late: () => lateOutcomes(run, late),
    workers,
  };
}
