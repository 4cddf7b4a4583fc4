/**
 * What a run has spent before it was given a limit. Nobody counts for a run without one, so what it and those below it did until
 * then is added up once, from the events, and put on its account together with the limit.
 */
import type { RunId } from '../../base/ids.ts';
import { present } from '../../base/present.ts';
import type { Amounts, Budget, EventType } from '../../events/catalogue.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import { parentRun } from '../../events/run-origin.ts';
import type { CounterChange, NewEvent } from '../../ledger/port.ts';
import type { Totals } from '../../projections/budget.ts';
import { settlement } from './budget.ts';

/** Under this step it stands in the ledger, so that it is not added up twice. */
export const EARLIER_STEP = 'budget/earlier';

const NOTHING: Totals = { calls: 0, tokens: 0, nanoUsd: 0 };

/** Everything of these types in the tree is needed. */
export const typesOfSpending: readonly EventType[] = [
  ...(['run.started', 'model.response', 'model.failed', 'budget.reserved', 'budget.settled', 'run.reopened'] as const),
];

export interface PutOnAccount {
  readonly events: readonly NewEvent[];
  readonly counters: readonly CounterChange[];
}

/** What is written with the limit, for each event that gives one. */
export function putOnAccount(reopened: readonly NewEvent[], past: readonly LedgerEvent[]): PutOnAccount {
  const owed = reopened.flatMap((event) => {
    const limit = event.type === 'run.reopened' ? event.payload.budget : undefined;
    if (!isCounted(limit)) return [];
    const spent = earlierSpend(past, event.run);
    if (spent.calls === 0 && spent.tokens === 0 && spent.nanoUsd === 0) return [];
    const { run, cause, at } = event;
    const payload = { scopes: [run], reserved: NOTHING, spent };
    const written: NewEvent = { type: 'budget.settled', run, actor: 'system', cause, at, step: EARLIER_STEP, payload };
    return [{ written, counters: settlement([{ scope: run, limit: {} }], NOTHING, spent) }];
  });
  return { events: owed.map(({ written }) => written), counters: owed.flatMap(({ counters }) => counters) };
}

/** Whether the limit is held against a counter; the time of a run is known anyway. */
export const isCounted = (limit: Budget | undefined): boolean =>
  limit?.usd !== undefined || limit?.tokens !== undefined || limit?.calls !== undefined;

export function earlierSpend(past: readonly LedgerEvent[], run: RunId): Totals {
  const tree = new Set<string>([run]);
  const settled = new Set(past.flatMap((event) => (event.event_type === 'budget.settled' ? [placeOf(event, 0)] : [])));
  let sum = NOTHING;
  for (const event of past) {
    const parent = event.event_type === 'run.started' ? parentRun(event.payload) : undefined;
    if (parent !== undefined && tree.has(parent)) tree.add(event.run_id);
    // What was taken over from another session was spent there.
    if (event.event_type === 'run.reopened' && event.payload.forked !== undefined) sum = NOTHING;
    if (!tree.has(event.run_id)) continue;
    if (event.event_type === 'budget.settled' && event.step === EARLIER_STEP && event.run_id === run) sum = NOTHING;
    else sum = spentIn(event, run, settled).reduce(added, sum);
  }
  return sum;
}

/** What is settled is written right behind what settles it. */
const placeOf = (event: LedgerEvent, offset: number): string => `${event.position + offset} ${event.run_id} ${event.step}`;

function spentIn(event: LedgerEvent, run: RunId, settled: ReadonlySet<string>): readonly Amounts[] {
  switch (event.event_type) {
    case 'budget.reserved':
      return event.payload.scopes.includes(run) ? [] : [event.payload.amounts];
    case 'budget.settled': {
      const { scopes, reserved, spent } = event.payload;
      // That of another run stands for what is among the events, too.
      return scopes.includes(run) || event.step === EARLIER_STEP ? [] : [spent, negative(reserved)];
    }
    case 'model.response': {
      if (settled.has(placeOf(event, 1))) return [];
      const { usage, cost } = event.payload;
      return [{ calls: 1, tokens: (usage.inputTokens ?? 0) + (usage.outputTokens ?? 0), nanoUsd: cost?.nanoUsd ?? 0 }];
    }
    case 'model.failed': {
      const { cost, usage } = event.payload;
      const { kind, unsent } = event.payload.error;
      // Without a model there was no attempt; what it cost that one broke off is only known where it was reserved.
      const made = kind !== 'cancelled' && (unsent !== true || kind === 'network');
      const tokens = (usage?.inputTokens ?? 0) + (usage?.outputTokens ?? 0);
      const took = { calls: 1, tokens, ...present({ nanoUsd: cost?.nanoUsd }) };
      return (made || cost !== undefined) && !settled.has(placeOf(event, 1)) ? [took] : [];
    }
    default:
      return [];
  }
}

const negative = ({ calls, tokens, nanoUsd = 0 }: Amounts): Amounts => ({ calls: -calls, tokens: -tokens, nanoUsd: -nanoUsd });

const added = (left: Totals, { calls, tokens, nanoUsd = 0 }: Amounts): Totals => ({
  calls: left.calls + calls,
  tokens: left.tokens + tokens,
  nanoUsd: left.nanoUsd + nanoUsd,
});
