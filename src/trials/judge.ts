/** A judge reads what was asked and answered and gives a score. It advises: nothing passes or fails by it. */
import { z } from 'zod';
import { messageOf } from '../base/errors.ts';
import { fenced, fenceNote } from '../base/fence.ts';
import { parseJson } from '../base/json.ts';
import { limits } from '../base/limits.ts';
import type { Random } from '../base/random.ts';
import type { Troupe } from '../library/troupe.ts';
import type { Score } from './report.ts';
import type { Judge } from './test-file.ts';

const given = z.object({ score: z.number().min(0).max(1), reason: z.string().default('') });

const QUESTION = 'How well does the answer do what was asked?';

interface Asked {
  readonly prompt: string;
  readonly answer: string;
}

interface JudgingTerms {
  readonly workspace: string;
  readonly random: Random;
  readonly signal: AbortSignal;
  /** What is left for it of what all trials together may cost. */
  readonly usdLeft: number | undefined;
}

/** Without anything left it is not asked. */
export async function scoreOf(
  troupe: Pick<Troupe, 'run'>,
  { agent, question = QUESTION }: Judge,
  judged: Asked,
  { workspace, random, signal, usdLeft }: JudgingTerms,
): Promise<Score & { readonly usd: number; readonly unknownCalls: number }> {
  const none = (reason: string, cost = { usd: 0, unknownCalls: 0 }) => ({ judge: agent, score: null, reason, ...cost });
  if (usdLeft !== undefined && usdLeft <= 0) return none('No budget was left for it.');
  const budget = usdLeft === undefined ? undefined : { usd: usdLeft };
  try {
    const outcome = await troupe.run(agent, promptOf(question, judged, random), { workspace, signal, budget });
    const cost = { usd: outcome.cost.usd, unknownCalls: outcome.cost.unknownCalls };
    if (outcome.status === 'waiting') return none('It asked a question instead.', cost);
    if (!('report' in outcome)) return none(`It was ${outcome.status}.`, cost);
    const read = given.safeParse(objectIn(outcome.report.body));
    return read.success ? { judge: agent, ...read.data, ...cost } : none('It gave no score that can be read.', cost);
  } catch (error) {
    return none(messageOf(error));
  }
}

function promptOf(question: string, { prompt, answer }: Asked, random: Random): string {
  const nonce = Buffer.from(random.bytes(8)).toString('hex');
  const cut = answer.length > limits.judgedCharacters ? `${answer.slice(0, limits.judgedCharacters)} …` : answer;
  return [
    question,
    'Answer with JSON only: {"score": a number from 0 to 1, "reason": "one sentence"}.',
    fenceNote(nonce),
    fenced('asked', nonce, prompt),
    fenced('answered', nonce, cut),
  ].join('\n\n');
}

/** Models put fences and words around what they were asked for. */
function objectIn(text: string): unknown {
  const [found = ''] = /\{[\s\S]*\}/.exec(text) ?? [];
  const parsed = parseJson(found);
  return parsed.ok ? parsed.value : undefined;
}
