/**
 * A loop without workers: the agent does the work with its own tools, then looks at its own answer again and again, until it
 * says on a line of its own that nothing is left to improve, or an evaluator is content.
 */
import type { RunId } from '../../base/ids.ts';
import { type UserMessage, userText } from '../../events/messages.ts';
import { succeeded } from '../../events/succeeded.ts';
import type { AgentRun } from '../agent-run.ts';
import type { RunResult } from '../steps.ts';
import { afterRound, type NamedResult, resting } from '../verification.ts';
import type { Judgement } from './evaluation.ts';
import { ask } from './orchestrator.ts';
import type { LoopWork } from './reflect-loop.ts';
import { saysReflectionComplete, withoutSentinels } from './sentinels.ts';
import { type GroupConfig, LONGEST } from './workers.ts';

const SAY_WHEN_DONE =
  'If nothing is left to improve, end your answer with a line that says only [[REFLECTION_COMPLETE]]; it is not part of the answer.';
const REVIEW =
  'Look at your answer again, as somebody who did not write it: compare it with the request, check what can be checked with your ' +
  'tools, and correct what is wrong or missing. Give the whole improved answer.';
const VERDICT =
  'Is your last answer as good as it can be, compared with the request? Say in one or two sentences what is still wrong or missing.';

export function ownWork(run: AgentRun, config: GroupConfig, request: UserMessage): LoopWork {
  const speaksJson = run.agent.output?.format === 'json' || run.agent.output?.schema !== undefined;
  const decides = config.evaluator === undefined;
  const hint = decides && !speaksJson ? `\n\n${SAY_WHEN_DONE}` : '';
  let last: RunResult | undefined;
  let before: readonly NamedResult[] = [];

  return {
    async make({ key, iteration, evaluation }) {
      const wanting = evaluation === undefined || !(speaksJson || !decides) ? '' : `\n\nThis was found wanting:\n\n${evaluation}`;
      const input: UserMessage =
        iteration === 1 && last === undefined
          ? { role: 'user', content: [...request.content, ...(hint === '' ? [] : [{ type: 'text' as const, text: hint }])] }
          : userText(`${REVIEW}${wanting}${hint}`);
      const result = await work(run, `${key}/work`, input, last?.finalRun);
      if (!succeeded(result)) return { kind: 'error', result };
      // Only the word that ends it, and nothing else: the answer is the one before.
      const silent = withoutSentinels(result.report.body) === '' && last !== undefined;
      const round = [{ name: `${run.agent.name} in iteration ${iteration}`, result }];
      const kept =
        silent && last !== undefined ? { ...resting(last, round), finalRun: result.finalRun } : resting(result, before);
      before = afterRound(before, round);
      last = kept;
      return { kind: 'made', result: kept, outcomes: [], missing: [], said: result.report.body };
    },
    async judge(key, made) {
      if (!speaksJson) return ownJudgement(made.said ?? made.result.report.body);
      const verdict = await ask(run, `${key}/verdict`, 'planner', `${VERDICT} ${SAY_WHEN_DONE}`, made.result.finalRun);
      return succeeded(verdict) ? ownJudgement(verdict.report.body) : { kind: 'failed', result: verdict };
    },
    late: async () => [],
    workers: [],
  };
}

const NOT_YET = 0.7;

function ownJudgement(text: string): Judgement {
  const goalMet = saysReflectionComplete(text);
  return {
    kind: 'judged',
    score: goalMet ? 1 : NOT_YET,
    rationale: withoutSentinels(text) || 'Nothing is left to improve.',
    goalMet,
  };
}

async function work(run: AgentRun, key: string, input: UserMessage, continues: RunId | undefined): Promise<RunResult> {
  const handle = await run.steps.start(key, run.agent.name, input, {
    kind: 'loop',
    role: 'reflection',
    as: 'self',
    member: run.agent.name,
    timeLimit: LONGEST,
    continues,
  });
  const [result] = await run.steps.settled([handle]);
  return result as RunResult;
}
