/**
 * What a model call could cost at most. What the provider has counted before is taken as it is; what is new is assumed to
 * be dense text (two bytes per token), and the answer to use all the tokens it may.
 */
import type { Amounts } from '../events/catalogue.ts';
import type { Message, Usage } from '../events/messages.ts';
import type { Prices, ToolSpec } from '../models/port.ts';

const BYTES_PER_TOKEN = 2;
/** An image costs a provider-dependent number of tokens; this is above what the common ones charge for a large one. */
const TOKENS_PER_IMAGE = 6_000;

export interface SpendMeter {
  /** For the dearest of the models that may be asked. */
  worstCase(models: readonly string[], messages: readonly Message[], maxOutputTokens: number): Amounts;
  /** What the provider counted for a call that held `messages`. */
  counted(messages: readonly Message[], usage: Usage): void;
}

export function createSpendMeter(prices: Prices, system: string, tools: readonly ToolSpec[]): SpendMeter {
  let knownTokens = Math.ceil((system.length + JSON.stringify(tools).length) / BYTES_PER_TOKEN);
  let knownMessages = 0;
  const inputTokens = (messages: readonly Message[]): number => {
    const from = knownMessages <= messages.length ? knownMessages : 0;
    return messages.slice(from).reduce((sum, message) => sum + denseTokens(message), knownTokens);
  };
  return {
    worstCase(models, messages, maxOutputTokens) {
      const input = inputTokens(messages);
      const known = models.map((model) => prices.worstCase(model, input, maxOutputTokens)).filter((price) => price !== undefined);
      return { calls: 1, tokens: input + maxOutputTokens, ...(known.length === 0 ? {} : { nanoUsd: Math.max(...known) }) };
    },
    counted(messages, usage) {
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

export function spent(usage: Usage, nanoUsd: number | undefined): Amounts {
  const tokens = (usage.inputTokens ?? 0) + (usage.outputTokens ?? 0);
  return { calls: 1, tokens, ...(nanoUsd === undefined ? {} : { nanoUsd }) };
}
