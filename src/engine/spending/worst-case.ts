/**
 * What an attempt at a model call could cost at most. What the same model has counted before for the beginning of the
 * conversation is taken as it is; the rest is taken at its upper bound, and the answer to use all the tokens it may.
 */
import { present } from '../../base/present.ts';
import type { Amounts } from '../../events/catalogue.ts';
import type { Message, Usage } from '../../events/messages.ts';
import type { TurnRequest } from '../../loop/port.ts';
import type { Prices, ToolSpec } from '../../models/port.ts';
import { frameBound, messageBound, toolBound } from '../../models/token-bound.ts';

/** The part of a request that is sent, beside the system prompt. */
export type Sent = Pick<TurnRequest, 'messages' | 'tools' | 'toolChoice' | 'outputSchema'>;

/** The most that one attempt on one model can cost. */
export interface WorstCase {
  readonly model: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly amounts: Amounts;
}

export interface SpendMeter {
  worstCase(model: string, sent: Sent, maxOutputTokens: number): WorstCase;
  /** What a model counted for a request. */
  counted(model: string, sent: Sent, usage: Usage): void;
}

/** What a model has counted: everything up to and with `last`. Another one would count otherwise. */
interface Known {
  readonly tokens: number;
  readonly messages: number;
  readonly last: Message | undefined;
  readonly tools: ReadonlySet<ToolSpec>;
  /** Providers say more about tools when one must be called. */
  readonly frame: string;
}

/** Of an attempt that no budget limits: nothing is reserved for it. */
export const unlimited = (model: string): WorstCase => ({
  model,
  inputTokens: 0,
  outputTokens: 0,
  amounts: { calls: 0, tokens: 0 },
});

const frameOf = ({ toolChoice, outputSchema }: Sent): string => JSON.stringify([toolChoice ?? 'auto', outputSchema ?? null]);

export function createSpendMeter(prices: Prices, system: string): SpendMeter {
  const counts = new Map<string, Known>();
  const inputTokens = (model: string, sent: Sent): number => {
    const { messages, tools, outputSchema } = sent;
    const frame = frameBound(system, tools.length > 0, outputSchema);
    const known = counts.get(model);
    // When the conversation was condensed, nothing of what is known holds any more.
    const from = known !== undefined && messages[known.messages - 1] === known.last ? known : undefined;
    const changed = from !== undefined && from.frame !== frameOf(sent);
    let sum = from === undefined ? frame : from.tokens + (changed ? frame - frameBound(system, false, undefined) : 0);
    for (const tool of tools) if (from?.tools.has(tool) !== true) sum += toolBound(tool);
    for (let index = from?.messages ?? 0; index < messages.length; index += 1)
      sum += messageBound(model, messages[index] as Message);
    return sum;
  };
  return {
    worstCase(model, sent, maxOutputTokens) {
      const input = inputTokens(model, sent);
      const nanoUsd = prices.worstCase(model, input, maxOutputTokens);
      const amounts = { calls: 1, tokens: input + maxOutputTokens, ...present({ nanoUsd }) };
      return { model, inputTokens: input, outputTokens: maxOutputTokens, amounts };
    },
    counted(model, sent, { inputTokens: tokens }) {
      if (tokens === undefined) return;
      const { messages, tools } = sent;
      const last = messages.at(-1);
      counts.set(model, { tokens, messages: messages.length, last, tools: new Set(tools), frame: frameOf(sent) });
    },
  };
}
