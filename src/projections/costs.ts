/**
 * What was spent, by agent and model. Every figure is a sum over `model.response` events, and over what was asked or worked on
 * elsewhere without an answer and may have been charged for: a call each, at an unknown price unless somebody said it. What a
 * crash or a failure left unknown (`budget.settled` in doubt) is counted beside it, because it was reserved but no provider's
 * count exists.
 */
import type { LedgerEvent } from '../events/envelope.ts';
import type { CallCost, Usage } from '../events/messages.ts';
import type { Totals } from './budget.ts';

export interface CallCosts {
  readonly calls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly nanoUsd: number;
  /** Calls whose price is not known: `nanoUsd` holds nothing for them. */
  readonly unknownCalls: number;
  /** Calls whose tokens nobody has counted, or not all of them. */
  readonly uncountedCalls: number;
}

export interface CostLine extends CallCosts {
  readonly agent: string;
  readonly model: string;
}

export interface Costs {
  /** Names of the runs' agents, to tell whose call a response was. */
  readonly agents: Map<string, string>;
  /** What each run asked last: what ends without an answer does not say it. */
  readonly asked: Map<string, string>;
  readonly lines: Map<string, CostLine>;
  total: CallCosts;
  inDoubt: Totals;
}

const nothing: CallCosts = {
  ...{ calls: 0, inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, nanoUsd: 0, unknownCalls: 0, uncountedCalls: 0 },
};

export const initialCosts = (): Costs => ({
  agents: new Map(),
  asked: new Map(),
  lines: new Map(),
  total: nothing,
  inDoubt: { calls: 0, tokens: 0, nanoUsd: 0 },
});

/** Updates and returns the accumulator it was given. */
export function foldCosts(costs: Costs, event: LedgerEvent): Costs {
  if (event.event_type === 'run.started') costs.agents.set(event.run_id, event.payload.agent);
  else if (event.event_type === 'model.request') costs.asked.set(event.run_id, event.payload.model);
  else if (event.event_type === 'budget.settled' && event.payload.inDoubt === true) {
    const { calls, tokens, nanoUsd } = event.payload.spent;
    const before = costs.inDoubt;
    costs.inDoubt = { calls: before.calls + calls, tokens: before.tokens + tokens, nanoUsd: before.nanoUsd + (nanoUsd ?? 0) };
  } else addSpent(costs, event);
  return costs;
}

/** The lines, dearest first; equal ones by name, so that the order is always the same. */
export function costLines(costs: Costs): readonly CostLine[] {
  return [...costs.lines.values()].sort(
    (left, right) => right.nanoUsd - left.nanoUsd || compare(left.agent, right.agent) || compare(left.model, right.model),
  );
}

/** The events that say that something was spent. */
export const spendingTypes = ['model.response', 'model.failed', 'peer.sent', 'peer.state', 'peer.cancelled'] as const;

interface Counted {
  readonly usage?: Usage | undefined;
  readonly cost?: CallCost | undefined;
}

/** One call, by what was counted of it and what it is said to have cost. */
export function spendingOf({ usage = {}, cost }: Counted): CallCosts {
  const { inputTokens, outputTokens, cacheReadTokens = 0 } = usage;
  return {
    ...{ calls: 1, inputTokens: inputTokens ?? 0, outputTokens: outputTokens ?? 0, cacheReadTokens },
    nanoUsd: cost?.nanoUsd ?? 0,
    unknownCalls: cost === undefined ? 1 : 0,
    uncountedCalls: inputTokens === undefined || outputTokens === undefined ? 1 : 0,
  };
}

/** What was spent with an event; `undefined` for one that says nothing of it. */
export function spendingIn(event: LedgerEvent): CallCosts | undefined {
  if ('forked' in event.payload && event.payload.forked === true) return undefined;
  if (event.event_type === 'model.response') return spendingOf(event.payload);
  if (event.event_type === 'model.failed')
    return event.payload.inDoubt === true || event.payload.cost !== undefined ? spendingOf(event.payload) : undefined;
  // The one before it, which may have been taken.
  if (event.event_type === 'peer.sent') return event.payload.again === true ? spendingOf({}) : undefined;
  if (event.event_type === 'peer.cancelled') return event.payload.unanswered === true ? spendingOf(event.payload) : undefined;
  if (event.event_type !== 'peer.state') return undefined;
  // Of all others there is an answer, which says it.
  return ['failed', 'rejected', 'canceled'].includes(event.payload.state) ? spendingOf(event.payload) : undefined;
}

/** As it may have been written down before anybody asked who counts. */
type WrittenCosts = Omit<CallCosts, 'uncountedCalls'> & { readonly uncountedCalls?: number | undefined };

export function addSpending(left: WrittenCosts, right: WrittenCosts): CallCosts {
  return {
    calls: left.calls + right.calls,
    inputTokens: left.inputTokens + right.inputTokens,
    outputTokens: left.outputTokens + right.outputTokens,
    cacheReadTokens: left.cacheReadTokens + right.cacheReadTokens,
    nanoUsd: left.nanoUsd + right.nanoUsd,
    unknownCalls: left.unknownCalls + right.unknownCalls,
    uncountedCalls: (left.uncountedCalls ?? 0) + (right.uncountedCalls ?? 0),
  };
}

export const noSpending = (): CallCosts => nothing;

/** What was spent on each day (UTC), as `2026-11-18`, from the same events as the lines: both come to the same total. */
export type CostDays = Map<string, CallCosts>;

const DAY_CHARACTERS = 10;

/** Updates and returns the accumulator it was given; the figures inside are replaced, never changed. */
export function foldCostDays(days: CostDays, event: LedgerEvent): CostDays {
  const spent = spendingIn(event);
  if (spent === undefined) return days;
  const day = event.timestamp.slice(0, DAY_CHARACTERS);
  return days.set(day, addSpending(days.get(day) ?? nothing, spent));
}

function addSpent(costs: Costs, event: LedgerEvent): void {
  const spent = spendingIn(event);
  if (spent === undefined) return;
  const agent = costs.agents.get(event.run_id) ?? 'unknown';
  const model = event.event_type === 'model.response' ? event.payload.served : (costs.asked.get(event.run_id) ?? 'unknown');
  const key = `${agent}\n${model}`;
  costs.lines.set(key, { agent, model, ...addSpending(costs.lines.get(key) ?? nothing, spent) });
  costs.total = addSpending(costs.total, spent);
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
