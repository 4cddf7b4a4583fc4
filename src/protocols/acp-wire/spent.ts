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
  /** Calls whose tokens nobody has counted. */
  readonly uncountedCalls: number;
}

export const nothingSpent: Spent = {
  ...{ inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, nanoUsd: 0, unknownCalls: 0, calls: 0, uncountedCalls: 0 },
};

export function spentBelow(tree: RunTree, run: RunId): Spent {
  const { inputTokens, outputTokens, cacheReadTokens, nanoUsd, unknownCalls, calls, uncountedCalls } = subtreeSpending(tree, run);
  return { inputTokens, outputTokens, cacheReadTokens, nanoUsd, unknownCalls, calls, uncountedCalls };
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
    uncountedCalls: now.uncountedCalls - before.uncountedCalls,
  };
}

/** The `usage` of a prompt's response; none where nothing was counted. */
export function usageOf({ inputTokens, outputTokens, cacheReadTokens, uncountedCalls }: Spent) {
  if (uncountedCalls > 0 && inputTokens + outputTokens === 0) return undefined;
  return { totalTokens: inputTokens + outputTokens, inputTokens, outputTokens, cachedReadTokens: cacheReadTokens };
}

/** How full the window is, and what the whole session has cost; nothing where that was not counted. */
export function usageUpdate({ payload }: EventOf<'model.response'>, size: number, nanoUsd: number): SessionUpdate | undefined {
  const { inputTokens, outputTokens = 0 } = payload.usage;
  if (inputTokens === undefined) return undefined;
  return {
    ...{ sessionUpdate: 'usage_update', used: inputTokens + outputTokens, size },
    cost: { amount: nanoUsd / NANO, currency: 'USD' },
  };
}

export const usdOf = ({ nanoUsd }: Pick<Spent, 'nanoUsd'>): number => nanoUsd / NANO;
