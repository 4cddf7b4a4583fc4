/** What a prompt has used, as far as the provider counted it and prices are known. */
import type { SessionUpdate } from '@agentclientprotocol/sdk';
import type { RunId } from '../../base/ids.ts';
import type { EventOf } from '../../events/envelope.ts';
import { type RunTree, subtreeSpending } from '../../projections/run-tree.ts';

const NANO = 1e9;

export interface Spent {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly nanoUsd: number;
  /** Calls of models without a known price: nothing of them is in the sum. */
  readonly unknownCalls: number;
  readonly calls: number;
}

export const nothingSpent: Spent = {
  ...{ inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, nanoUsd: 0, unknownCalls: 0, calls: 0 },
};

export function spentBelow(tree: RunTree, run: RunId): Spent {
  const { inputTokens, outputTokens, cacheReadTokens, nanoUsd, unknownCalls, calls } = subtreeSpending(tree, run);
  return { inputTokens, outputTokens, cacheReadTokens, nanoUsd, unknownCalls, calls };
}

/** What came since: of a run that goes on, what was told of it before is not told again. */
export function spentSince(now: Spent, before: Spent): Spent {
  return {
    inputTokens: now.inputTokens - before.inputTokens,
    outputTokens: now.outputTokens - before.outputTokens,
    cacheReadTokens: now.cacheReadTokens - before.cacheReadTokens,
    nanoUsd: now.nanoUsd - before.nanoUsd,
    unknownCalls: now.unknownCalls - before.unknownCalls,
    calls: now.calls - before.calls,
  };
}

/** The `usage` of a prompt's response. */
export function usageOf({ inputTokens, outputTokens, cacheReadTokens }: Spent) {
  return { totalTokens: inputTokens + outputTokens, inputTokens, outputTokens, cachedReadTokens: cacheReadTokens };
}

/** How full the window is, and what the whole session has cost. */
export function usageUpdate({ payload }: EventOf<'model.response'>, size: number, nanoUsd: number): SessionUpdate {
  const { inputTokens = 0, outputTokens = 0 } = payload.usage;
  return {
    ...{ sessionUpdate: 'usage_update', used: inputTokens + outputTokens, size },
    cost: { amount: nanoUsd / NANO, currency: 'USD' },
  };
}

export const usdOf = ({ nanoUsd }: Pick<Spent, 'nanoUsd'>): number => nanoUsd / NANO;
