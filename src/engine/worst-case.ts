/**
 * What a model call could cost at most. What the provider has counted before is taken as it is; what is new is assumed to
 * be dense text (two bytes per token), and the answer to use all the tokens it may.
 */
import type { Amounts } from '../events/catalogue.ts';
import type { Message, Usage } from '../events/messages.ts';
import type { Prices } from '../models/port.ts';
import type { TurnRequest } from '../session/port.ts';

const BYTES_PER_TOKEN = 2;
/** An image costs a provider-dependent number of tokens; this is above what the common ones charge for a large one. */
const TOKENS_PER_IMAGE = 6_000;

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
  /** What the provider counted for a request. */
  counted(sent: Sent, usage: Usage): void;
}

export function createSpendMeter(prices: Prices, system: string): SpendMeter {
  let knownTokens: number | undefined;
  let knownMessages = 0;
  const inputTokens = ({ messages, tools }: Sent): number => {
    const front = knownTokens ?? Math.ceil((system.length + JSON.stringify(tools).length) / BYTES_PER_TOKEN);
    const from = knownMessages <= messages.length ? knownMessages : 0;
    return messages.slice(from).reduce((sum, message) => sum + denseTokens(message), front);
  };
  return {
    worstCase(model, sent, maxOutputTokens) {
      const input = inputTokens(sent);
      const nanoUsd = prices.worstCase(model, input, maxOutputTokens);
      const amounts = { calls: 1, tokens: input + maxOutputTokens, ...(nanoUsd === undefined ? {} : { nanoUsd }) };
      return { model, inputTokens: input, outputTokens: maxOutputTokens, amounts };
    },
    counted({ messages }, usage) {
      if (usage.inputTokens === undefined) return;
      knownTokens = usage.inputTokens;
      knownMessages = messages.length;
    },
  };
}

function denseTokens(message: Message): number {
  let tokens = 8;
  for (const part of message.content) {
    if (part.type === 'image') tokens += TOKENS_PER_IMAGE;
    else if (part.type === 'tool-result') tokens += denseTokens({ role: 'user', content: part.content });
    else if (part.type === 'tool-call')
      tokens += Math.ceil((part.name.length + JSON.stringify(part.input).length) / BYTES_PER_TOKEN);
    else tokens += Math.ceil(Buffer.byteLength(part.text) / BYTES_PER_TOKEN);
  }
  return tokens;
}
