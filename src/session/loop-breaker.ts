/**
 * Notices an agent that repeats itself: the same tool, the same arguments, the same result. It is told at `nudgeAt` and
 * stopped at `stopAt`. Anything different in between starts the count anew.
 */
import { canonicalJson } from '../base/json.ts';
import { type ToolCallPart, type ToolResultPart, textOf } from '../events/messages.ts';

export type Verdict = 'go on' | 'nudge' | 'stop';

export interface LoopBreaker {
  /** To be told of every turn's calls and results, in order. */
  observe(calls: readonly ToolCallPart[], results: readonly ToolResultPart[]): Verdict;
}

export function createLoopBreaker(nudgeAt: number, stopAt: number): LoopBreaker {
  let last = '';
  let repeats = 0;
  return {
    observe(calls, results) {
      const turn = calls
        .map((call, index) => `${call.name} ${canonicalJson(call.input)} ${textOf(results[index]?.content ?? [])}`)
        .join('\n');
      repeats = turn === last ? repeats + 1 : 1;
      last = turn;
      if (repeats >= stopAt) return 'stop';
      return repeats === nudgeAt ? 'nudge' : 'go on';
    },
  };
}
