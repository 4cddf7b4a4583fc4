/** What a loop could do better next time: told to the orchestrator and to whoever watches, never done by itself. */
import { counted } from '../../base/wording.ts';
import { type StallVerdict, trendOf } from './stall.ts';
import type { Worker, WorkerOutcome } from './workers.ts';

const SHORT_CHARACTERS = 100;

export function adviceFor(
  outcomes: readonly WorkerOutcome[],
  workers: readonly Worker[],
  scores: readonly number[],
  verdict: StallVerdict,
): string[] {
  const advice: string[] = [];
  for (const { worker, ok, text } of outcomes) {
    if (!ok) advice.push(`${worker} failed: give its task to somebody else, or give it a smaller one.`);
    else if (text.length < SHORT_CHARACTERS) {
      const model = workers.find((one) => one.name === worker)?.model;
      advice.push(
        `${worker} answered with ${counted(text.length, 'character')}${model === undefined ? '' : ` (model ${model})`}: ask for more, or use a stronger model.`,
      );
    }
  }
  const [before, latest] = scores.slice(-2);
  if (trendOf(scores) === 'degrading') {
    advice.push(`The score fell from ${before} to ${latest}: go back to what was better, or change the models.`);
  }
  if (verdict === 'warn') advice.push('The answer is almost the same as before: try something different.');
  return advice;
}
