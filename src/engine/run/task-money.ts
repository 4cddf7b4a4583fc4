/**
 * What a task may cost, where an agent with models of its own works on it: a budget of its run, so that what does not fit is
 * never asked. What executors cost is counted where they are followed.
 */
import type { AgentDefinition } from '../../agents/definition/definition.ts';
import type { Budget } from '../../events/catalogue.ts';
import { taskTermsOf } from '../../events/run-origin.ts';
import type { RunResult } from '../../patterns/steps.ts';
import { isOverLimit, saying } from '../hearing/stop-reason.ts';
import type { DrivenRun } from '../record/driven-run.ts';
import type { ChildAs } from '../spawning/child-run.ts';
import type { Spends } from '../spending/spending.ts';

/** `found`: who works on it. */
export function moneyOfTask(as: ChildAs, found: AgentDefinition | undefined): Budget | undefined {
  if (as.kind !== 'task' || found?.executor !== undefined) return undefined;
  const { maxUsd } = as.terms.limits;
  return maxUsd === undefined ? undefined : { usd: maxUsd };
}

/** It ends as an executor does that has used up its money: whoever handed the task over goes on without it. */
export function withoutMoney({ spending }: Spends, node: DrivenRun, result: RunResult): RunResult {
  const { started, abort, run } = node;
  const maxUsd = taskTermsOf(started)?.limits.maxUsd;
  const { budget } = started;
  if (maxUsd === undefined || budget?.usd !== maxUsd || result.exhausted !== run || isOverLimit(abort.signal.reason))
    return result;
  const others = budget.calls !== undefined || budget.tokens !== undefined;
  if (others && spending.exhausted({ scopes: [{ scope: run }] })?.unit !== 'nanoUsd') return result;
  const { exhausted: _exhausted, ...rest } = result;
  const message = `${started.agent} would have cost more than ${maxUsd} dollars (maxUsd) and was stopped.`;
  const fix = 'Give it a smaller task, or raise maxUsd.';
  const error = { code: 'executor_limit', category: 'cost', message, fix };
  return saying({ ...rest, status: 'failed', error }, result.error?.message ?? result.status, message);
}
