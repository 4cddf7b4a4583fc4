/**
 * Notices an agent that repeats itself: the same tool, the same arguments, the same result. It is told at `nudgeAt` and
 * stopped at `stopAt`. Anything different in between starts the count anew.
 */
import { canonicalJson } from '../base/json.ts';
import { type Message, type ToolCallPart, type ToolResultPart, textOf, toolCallsOf } from '../events/messages.ts';

export type Verdict = 'go on' | 'nudge' | 'stop';

export interface LoopBreaker {
  /** To be told of every turn's calls and results, in order. */
  observe(calls: readonly ToolCallPart[], results: readonly ToolResultPart[]): Verdict;
  /** Counts anew, from what is left of a conversation: who goes on from there must come to the same verdicts. */
  recall(messages: readonly Message[]): void;
}

export function createLoopBreaker(nudgeAt: number, stopAt: number): LoopBreaker {
  let last = '';
  let repeats = 0;
  const observe: LoopBreaker['observe'] = (calls, results) => {
    const turn = calls
      .map((call, index) => `${call.name} ${canonicalJson(call.input)} ${textOf(results[index]?.content ?? [])}`)
      .join('\n');
    repeats = turn === last ? repeats + 1 : 1;
    last = turn;
    if (repeats >= stopAt) return 'stop';
    return repeats === nudgeAt ? 'nudge' : 'go on';
  };
  return {
    observe,
    recall(messages) {
      last = '';
      repeats = 0;
      for (const { calls, results } of latestTurns(messages, stopAt)) observe(calls, results);
    },
  };
}

interface Turn {
  readonly calls: readonly ToolCallPart[];
  readonly results: readonly ToolResultPart[];
}

/** Oldest first. No verdict depends on more of them than it takes to be stopped. */
function latestTurns(messages: readonly Message[], most: number): readonly Turn[] {
  const turns: Turn[] = [];
  for (let index = messages.length - 2; index >= 0 && turns.length < most; index -= 1) {
    const [message, results] = [messages[index], messages[index + 1]];
    if (message?.role === 'assistant' && results?.role === 'tool')
      turns.push({ calls: toolCallsOf(message), results: results.content });
  }
  return turns.reverse();
}
