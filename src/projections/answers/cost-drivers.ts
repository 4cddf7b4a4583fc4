/**
 * What made a run dear: whose calls and which turns, what was tried more than once, and how much of what was sent had been sent
 * before. Every figure is a sum over the events that say that something was spent, so it comes to what `costs.ts` says.
 */
import type { EventId, RunId } from '../../base/ids.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import { addSpending, type CallCosts, noSpending, spendingIn } from '../costs.ts';

export interface DearTurn {
  readonly run: RunId;
  readonly agent: string;
  readonly turn: number;
  readonly model: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly nanoUsd: number | null;
  readonly attempts: number;
  readonly event: EventId;
}

export interface Spender {
  readonly agent: string;
  readonly runs: number;
  readonly spent: CallCosts;
}

export interface Growth {
  readonly run: RunId;
  readonly agent: string;
  readonly turns: number;
  readonly firstInputTokens: number;
  readonly lastInputTokens: number;
  /** Tokens of its requests that the request before had already: what a conversation costs for going on. */
  readonly sentAgainTokens: number;
  readonly inputTokens: number;
}

export interface Retries {
  /** Attempts that failed, whether another followed or not. */
  readonly failedAttempts: number;
  /** Answers that came only after an attempt had failed. */
  readonly answersAfterFailure: number;
  /** What attempts without an answer are said to have cost, or may have. */
  readonly spent: CallCosts;
}

export interface CostDrivers {
  readonly total: CallCosts;
  /** Dearest first. */
  readonly agents: readonly Spender[];
  /** Dearest first. */
  readonly turns: readonly DearTurn[];
  readonly retries: Retries;
  /** Those with the most that was sent again first. */
  readonly growth: readonly Growth[];
}

export interface CostDriversFold {
  readonly agents: Map<string, string>;
  readonly spentBy: Map<string, { runs: Set<string>; spent: CallCosts }>;
  readonly turns: DearTurn[];
  total: CallCosts;
  retries: Retries;
}

export const initialCostDrivers = (): CostDriversFold => ({
  ...{ agents: new Map(), spentBy: new Map(), turns: [], total: noSpending() },
  retries: { failedAttempts: 0, answersAfterFailure: 0, spent: noSpending() },
});

/** Updates and returns the accumulator it was given. */
export function foldCostDrivers(fold: CostDriversFold, event: LedgerEvent): CostDriversFold {
  if (event.event_type === 'run.started') fold.agents.set(event.run_id, event.payload.agent);
  if (event.event_type === 'model.failed') fold.retries = { ...fold.retries, failedAttempts: fold.retries.failedAttempts + 1 };
  const spent = spendingIn(event);
  if (spent === undefined) return fold;
  const agent = fold.agents.get(event.run_id) ?? 'unknown';
  const by = fold.spentBy.get(agent) ?? { runs: new Set<string>(), spent: noSpending() };
  by.runs.add(event.run_id);
  fold.spentBy.set(agent, { runs: by.runs, spent: addSpending(by.spent, spent) });
  fold.total = addSpending(fold.total, spent);
  if (event.event_type !== 'model.response') {
    fold.retries = { ...fold.retries, spent: addSpending(fold.retries.spent, spent) };
    return fold;
  }
  const { turn, served, attempts, cost } = event.payload;
  if (attempts > 1) fold.retries = { ...fold.retries, answersAfterFailure: fold.retries.answersAfterFailure + 1 };
  fold.turns.push({
    ...{ run: event.run_id, agent, turn, model: served, attempts, event: event.event_id },
    ...{ inputTokens: spent.inputTokens, outputTokens: spent.outputTokens, nanoUsd: cost?.nanoUsd ?? null },
  });
  return fold;
}

/** What is compared: money where some is known, tokens otherwise. */
export const weightOf = (total: CallCosts): ((of: { readonly nanoUsd: number | null } & Tokens) => number) =>
  total.nanoUsd > 0 ? ({ nanoUsd }) => nanoUsd ?? 0 : ({ inputTokens, outputTokens }) => inputTokens + outputTokens;

interface Tokens {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

export function costDrivers(fold: CostDriversFold): CostDrivers {
  const weight = weightOf(fold.total);
  const agents = [...fold.spentBy].map(([agent, { runs, spent }]) => ({ agent, runs: runs.size, spent }));
  const growth = [...Map.groupBy(fold.turns, ({ run }) => run).values()].map(growthOf).filter(({ turns }) => turns > 1);
  return {
    total: fold.total,
    agents: agents.toSorted((left, right) => weight(right.spent) - weight(left.spent) || compare(left.agent, right.agent)),
    turns: fold.turns.toSorted((left, right) => weight(right) - weight(left)),
    retries: fold.retries,
    growth: growth.toSorted((left, right) => right.sentAgainTokens - left.sentAgainTokens),
  };
}

/** A request carries what the one before did and what came since, unless it was condensed: then it is the smaller. */
function growthOf(turns: readonly DearTurn[]): Growth {
  const inputs = turns.map(({ inputTokens }) => inputTokens);
  const [first] = turns;
  const again = inputs.slice(1).map((input, index) => Math.min(input, inputs[index] ?? 0));
  return {
    ...{ run: first?.run ?? ('' as RunId), agent: first?.agent ?? '', turns: turns.length },
    ...{ firstInputTokens: inputs[0] ?? 0, lastInputTokens: inputs.at(-1) ?? 0 },
    ...{ sentAgainTokens: sum(again), inputTokens: sum(inputs) },
  };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);
const compare = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0);
