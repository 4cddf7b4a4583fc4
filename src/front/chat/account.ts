/** What a caller may use in a day through a door, and whether anything of it is left. */
import { present } from '../../base/present.ts';
import { counterName } from '../../engine/spending/budget.ts';
import type { Account } from '../../events/run-origin.ts';
import type { NotDone } from '../acts.ts';
import type { ChatCaller, ChatNeeds } from './needs.ts';

/** A new one every day, by UTC. Nothing where nothing is said. */
export function accountOf({ door, settings, clock }: ChatNeeds, { name }: ChatCaller): Account | undefined {
  const limit = settings.budgets?.[name] ?? settings.budget;
  if (limit === undefined) return undefined;
  const { usd, tokens, calls } = limit;
  const day = new Date(clock.now()).toISOString().slice(0, 10);
  return { name: `${door}:${name}:${day}`, limit: present({ usd, tokens, calls }) };
}

const NANO = 1_000_000_000;

/** Before anything begins. What is left is held again before each model call, together with what the call could cost. */
export async function usedUp({ ledger, door }: ChatNeeds, account: Account | undefined): Promise<NotDone | undefined> {
  if (account === undefined) return undefined;
  const { usd, tokens, calls } = account.limit;
  const limits = { nanoUsd: usd === undefined ? undefined : usd * NANO, tokens, calls };
  for (const [unit, limit] of Object.entries(limits)) {
    if (limit === undefined || (await ledger.counter(counterName(account.name, unit as keyof typeof limits))) < limit) continue;
    const named = unit === 'nanoUsd' ? `${usd} dollars` : `${limit} ${unit}`;
    return {
      ...{ why: 'limit', code: 'budget_exhausted', message: `You have used the ${named} that you have for today.` },
      fix: `The owner can raise it: serve.${door}.budget in troupe.yaml. A new day begins at midnight, UTC.`,
    };
  }
  return undefined;
}
