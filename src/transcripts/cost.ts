/** What an answer in a transcript cost: by the word of the program where it names an amount, else by the list of prices here. */
import type { CallCost } from '../events/messages.ts';
import type { Prices } from '../models/port.ts';
import type { ItemOf, TranscriptHead } from './items.ts';

/** What is kept for an hour costs twice the price of a token that is read, at every size of prompt. */
const HOUR_FACTOR = 2;

export function costOfAnswer(
  { nanoUsd, usage, hourTokens = 0 }: Pick<ItemOf<'answer'>, 'nanoUsd' | 'usage' | 'hourTokens'>,
  model: string,
  prices: Pick<Prices, 'cost' | 'version'>,
  { program, version }: TranscriptHead,
): CallCost | undefined {
  if (nanoUsd !== undefined && nanoUsd > 0)
    return { nanoUsd, prices: version === undefined ? program : `${program} ${version}`, estimated: true };
  const hour = Math.min(hourTokens, usage.cacheWriteTokens ?? 0, usage.inputTokens ?? 0);
  if (hour === 0) return estimated(prices.cost(model, usage), prices.version);
  const others = prices.cost(model, {
    ...usage,
    inputTokens: (usage.inputTokens ?? 0) - hour,
    cacheWriteTokens: (usage.cacheWriteTokens ?? 0) - hour,
  });
  const kept = prices.cost(model, { inputTokens: hour * HOUR_FACTOR, outputTokens: 0 });
  return estimated(others === undefined || kept === undefined ? undefined : others + kept, prices.version);
}

const estimated = (nanoUsd: number | undefined, prices: string): CallCost | undefined =>
  nanoUsd === undefined ? undefined : { nanoUsd, prices, estimated: true };
