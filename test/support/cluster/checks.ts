/** What must be true of a cluster's runs after everything that was done to it. */
import { expect } from 'vitest';
import type { SessionId } from '../../../src/base/ids.ts';
import { readAll } from '../../../src/engine/record/read-all.ts';
import { counterName, PROJECT_SCOPE } from '../../../src/engine/spending/budget.ts';
import type { LedgerEvent } from '../../../src/events/envelope.ts';
import type { Ledger } from '../../../src/ledger/port.ts';
import type { CountingModel } from './model.ts';

/** Model calls that were made again after their answer had been recorded, and how many were made again because none had been. */
export function repeatedCalls(model: CountingModel, events: readonly LedgerEvent[]) {
  const recordedAt = new Map<string, number>();
  for (const event of events)
    if (event.event_type === 'model.response') recordedAt.set(`${event.run_id}/${event.step}`, Date.parse(event.timestamp));
  const afterwards = model.asked.filter(({ key, at }) => at > (recordedAt.get(key) ?? Number.POSITIVE_INFINITY));
  return { afterwards, inFlight: model.asked.length - new Set(model.asked.map(({ key }) => key)).size };
}

export async function eventsOfAll(ledger: Ledger, sessions: readonly SessionId[]): Promise<LedgerEvent[]> {
  const all: LedgerEvent[] = [];
  for (const session of sessions) all.push(...(await readAll(ledger, session)));
  return all;
}

const OUTCOMES: ReadonlySet<string> = new Set(['model.response', 'tool.result', 'step.recorded', 'run.ended']);

/** Steps with two outcomes: somebody has written who had lost the lease. */
export function outcomesTwice(events: readonly LedgerEvent[]): string[] {
  const seen = new Set<string>();
  return events.flatMap(({ run_id, event_type, step }) => {
    const key = `${run_id} ${event_type} ${step}`;
    const again = OUTCOMES.has(event_type) && seen.has(key);
    seen.add(key);
    return again ? [key] : [];
  });
}

/** What the events say was spent is what the counter holds, and that is not more than the limit. */
export async function checkProjectBudget(ledger: Ledger, events: readonly LedgerEvent[], most: number): Promise<number> {
  const spent = events.reduce((sum, event) => {
    if (event.event_type === 'budget.reserved') return sum + event.payload.amounts.calls;
    if (event.event_type === 'budget.settled') return sum + event.payload.spent.calls - event.payload.reserved.calls;
    return sum;
  }, 0);
  expect(await ledger.counter(counterName(PROJECT_SCOPE, 'calls'))).toBe(spent);
  expect(spent).toBeLessThanOrEqual(most);
  return spent;
}

export function checkEffects(model: CountingModel): void {
  expect(new Set(model.effects).size, 'an effect that must not be repeated happened twice').toBe(model.effects.length);
}
