/** What a provider says that it counted, as far as it can be true. */
import { limits } from '../base/limits.ts';
import type { Usage } from '../events/messages.ts';

/**
 * No request is empty and no words are free: a provider that counts nothing where there is something has not counted, nor has
 * one that counts more than any window holds. What is not counted is taken at its reserved value.
 */
export function plausibleUsage(usage: Usage, spoke: boolean): Usage {
  const counts = {
    inputTokens: counted(usage.inputTokens, 1),
    cacheReadTokens: counted(usage.cacheReadTokens, 0),
    cacheWriteTokens: counted(usage.cacheWriteTokens, 0),
    outputTokens: counted(usage.outputTokens, spoke ? 1 : 0),
    reasoningTokens: counted(usage.reasoningTokens, 0),
  };
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== undefined));
}

const counted = (tokens: number | undefined, least: number): number | undefined =>
  tokens !== undefined && tokens >= least && tokens <= limits.plausibleTokens ? Math.ceil(tokens) : undefined;
