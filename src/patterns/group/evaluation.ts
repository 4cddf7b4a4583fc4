/** Judging a group's result: by an evaluator that answers in a fixed form, or by the orchestrator's own last line. */
import { z } from 'zod';
import { parseJson } from '../../base/json.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import type { ToolCallPart } from '../../events/messages.ts';
import { succeeded } from '../../events/succeeded.ts';
import type { Ending, Exit } from '../../loop/port.ts';
import type { AgentRun } from '../agent-run.ts';
import type { RunResult } from '../steps.ts';
import { ask } from './orchestrator.ts';
import { evaluationPrompt, type Judged } from './prompts.ts';
import { missingPart, saysComplete, saysNeedsIteration, withoutSentinels } from './sentinels.ts';

/** The score that it takes. */
export const GOAL = 0.9;
const TOOL = 'evaluate';
const score = z.number().min(0).max(1);
const DIMENSIONS = ['completeness', 'correctness', 'coherence', 'actionability', 'toolVerification'] as const;

const evaluation = z.strictObject({
  score,
  rationale: z.string().min(1),
  dimensions: z.strictObject(Object.fromEntries(DIMENSIONS.map((name) => [name, score.optional()]))).optional(),
});

export type Judgement =
  | {
      readonly kind: 'judged';
      readonly score: number;
      readonly rationale: string;
      readonly goalMet: boolean;
      readonly dimensions?: Readonly<Record<string, number>> | undefined;
    }
  | { readonly kind: 'failed'; readonly result: RunResult };

export interface EvaluationRequest extends Judged {
  readonly key: string;
}

export async function evaluate(run: AgentRun, evaluator: string, at: EvaluationRequest): Promise<Judgement> {
  const nonce = await run.steps.nonce(`${at.key}/fence`);
  const prompt = evaluationPrompt(at, nonce);
  const result = await ask(run, at.key, 'evaluator', prompt, undefined, evaluator);
  if (!succeeded(result)) return { kind: 'failed', result: unscored(evaluator, result) };
  const parsed = parseJson(result.report.body);
  const judged = evaluation.safeParse(parsed.ok ? parsed.value : undefined);
  if (!judged.success) return { kind: 'failed', result };
  const { rationale, dimensions } = judged.data;
  // The judge decides, not the orchestrator whose work it judges.
  const goalMet = judged.data.score >= GOAL || saysComplete(rationale);
  return {
    kind: 'judged',
    score: judged.data.score,
    rationale: withoutSentinels(rationale) || rationale,
    goalMet,
    dimensions: dimensions as Record<string, number> | undefined,
  };
}

/** Somebody whose only task is to give a score did not fail at anything else. */
function unscored(evaluator: string, result: RunResult): RunResult {
  if (result.error?.code !== 'no_report') return result;
  return { ...result, error: { ...result.error, message: `The evaluator ${evaluator} gave no score.` } };
}

/** The form in which an evaluator answers: a score that cannot be read is an error it is told of, never a guess. */
export function evaluateExit() {
  const dimensions = Object.fromEntries(DIMENSIONS.map((name) => [name, { type: 'number', minimum: 0, maximum: 1 }]));
  return {
    spec: {
      name: TOOL,
      description: 'Gives your judgement. Ends your work.',
      inputSchema: {
        type: 'object',
        properties: {
          score: {
            type: 'number',
            minimum: 0,
            maximum: 1,
            description: 'The overall score; 0.9 and more means that the goal is met',
          },
          rationale: { type: 'string', description: 'Why, and what would have to change' },
          dimensions: { type: 'object', properties: dimensions, additionalProperties: false },
        },
        required: ['score', 'rationale'],
        additionalProperties: false,
      },
    },
    take: (call: ToolCallPart) => judgement(call.input),
  } satisfies Exit;
}

/** The same as a plain answer, for models that rather write JSON than call a tool. */
export function plainJudgement(text: string): Result<Ending, string> {
  const parsed = parseJson(/^```(?:json)?\n([\s\S]*)\n```$/.exec(text.trim())?.[1] ?? text);
  return parsed.ok ? judgement(parsed.value) : fail(`Not taken: call ${TOOL} with a score from 0 to 1 and a rationale.`);
}

function judgement(input: unknown): Result<Ending, string> {
  const parsed = evaluation.safeParse(input);
  if (!parsed.success) return fail(`Not taken: ${z.prettifyError(parsed.error)}`);
  const report = { format: 'json' as const, body: JSON.stringify(parsed.data) };
  return ok({ success: true, report, claims: [], exit: { tool: TOOL, value: {} } });
}

const NEEDS_MORE = 0.4;
const UNDECIDED = 0.7;

export function selfJudged(synthesis: string): Judgement {
  const goalMet = saysComplete(synthesis) && !saysNeedsIteration(synthesis);
  const value = goalMet ? 1 : saysNeedsIteration(synthesis) ? NEEDS_MORE : UNDECIDED;
  return { kind: 'judged', score: value, rationale: missingPart(synthesis) || 'Nothing was said.', goalMet };
}
