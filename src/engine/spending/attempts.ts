/**
 * The attempts of one model call and what they may cost. Each is reserved before it is made and settled when it is known how
 * it went, so retries and fallbacks count like first tries:
 *
 * - an answer settles what the provider counted; what it did not count is taken at its reserved value,
 * - a failure that certainly cost nothing settles one call and no tokens,
 * - any other failure settles the whole reservation, because the provider may have charged for it.
 */
import { present } from '../../base/present.ts';
import type { Amounts, ModelFailure, Payloads } from '../../events/catalogue.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import type { Usage } from '../../events/messages.ts';
import type { NewEvent } from '../../ledger/port.ts';
import { costNothing } from '../../models/failures.ts';
import type { Prices } from '../../models/port.ts';
import type { ModelAccess } from '../options.ts';
import type { BudgetScope, DrivenRun } from '../record/driven-run.ts';
import type { WriteOptions } from '../record/writer.ts';
import type { Writes } from '../record/writes.ts';
import { counterName, refusal, reservation, settlement } from './budget.ts';
import type { Exhausted, Spends } from './spending.ts';
import type { WorstCase } from './worst-case.ts';

/** It was cancelled before it was its turn. */
const NOT_MADE: Amounts = { calls: 0, tokens: 0, nanoUsd: 0 };
const ONLY_THE_CALL: Amounts = { calls: 1, tokens: 0, nanoUsd: 0 };

/** To be written together with what it settles, so that none is without the other. */
export interface Settlement {
  readonly events: readonly NewEvent[];
  readonly options: WriteOptions;
}

/** There is no room for the attempt; it is not made. */
export interface Refused extends Exhausted {
  readonly kind: 'refused';
}

/** The run was cancelled while it waited for room; the attempt is not made. */
export interface GivenUp {
  readonly kind: 'given_up';
}

export interface Attempts {
  /** Whether a budget limits them at all. */
  readonly limited: boolean;
  /** Reserves an attempt together with `events`, and gives what was written once it is durable. */
  reserve(worst: WorstCase, events: readonly NewEvent[]): Promise<readonly LedgerEvent[] | Refused | GivenUp>;
  /** What was reserved in an earlier life goes on being so: it was one attempt, which was never over. */
  goOn(worst: WorstCase): void;
  answered(usage: Usage, nanoUsd: number | undefined): Settlement;
  /** What it cost is known to whoever made it. */
  cost(settled: Settled): Settlement;
  failed(error: ModelFailure): Settlement;
  /** Nothing more is tried; what is open now stays in doubt. */
  done(): void;
}

export function createAttempts(
  tree: ModelAccess & Writes & Spends,
  node: DrivenRun,
  step: string,
  scopes: readonly BudgetScope[],
): Attempts {
  const names = scopes.map((scope) => scope.scope);
  let open: WorstCase | undefined;
  let giveBack = (): void => undefined;
  const settle = (how: (worst: WorstCase) => Settled): Settlement => {
    if (open === undefined) return { events: [], options: {} };
    const reserved = open.amounts;
    const settled = how(open);
    open = undefined;
    const payload = { scopes: names, reserved, ...settled };
    const event = node.journal.event('budget.settled', payload, { step, actor: 'system' });
    // Whoever waits for room writes after this was queued.
    queueMicrotask(giveBack);
    return { events: [event], options: { counters: settlement(scopes, reserved, settled.spent) } };
  };
  return {
    limited: scopes.length > 0,
    async reserve(worst, events) {
      const budgeted = scopes.length > 0;
      if (!budgeted && events.length === 0) return [];
      const payload = { scopes: names, amounts: worst.amounts };
      const reserved = budgeted ? [node.journal.event('budget.reserved', payload, { step, actor: 'system' })] : [];
      const counters = budgeted ? { counters: reservation(scopes, worst.amounts) } : {};
      const all = [...events, ...reserved];
      let written = await tree.writer.write(all, counters);
      while ('kind' in written) {
        const refused = { kind: 'refused', ...refusal(written) } as const;
        // A call is spent when it is made; of what else it has reserved, most comes back.
        const room = written.counter === counterName(refused.scope, 'calls') ? undefined : tree.spending.givenBack(refused.scope);
        if (room === undefined) {
          tree.spending.note(refused);
          return refused;
        }
        await firstOf(room, node.abort.signal);
        tree.checkpoint(node);
        if (node.abort.signal.aborted) return { kind: 'given_up' };
        written = await tree.writer.write(all, counters);
      }
      if (budgeted) {
        open = worst;
        giveBack = tree.spending.lend(names);
      }
      return written;
    },
    goOn(worst) {
      if (scopes.length === 0) return;
      open = worst;
      giveBack = tree.spending.lend(names);
    },
    cost: (settled) => settle(() => settled),
    answered: (usage, nanoUsd) => settle((worst) => spentBy(worst, usage, nanoUsd, tree.prices)),
    failed: (error) =>
      settle(({ amounts }) => {
        if (!costNothing(error)) return { spent: amounts, inDoubt: true };
        return { spent: error.kind === 'cancelled' ? NOT_MADE : ONLY_THE_CALL };
      }),
    done: () => giveBack(),
  };
}

/** Until there is room, or the run is cancelled: the call that takes it up may be somebody else's, and long. */
function firstOf(room: Promise<void>, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const cancelled = (): void => resolve();
  if (signal.aborted) cancelled();
  signal.addEventListener('abort', cancelled, { once: true });
  room.then(resolve, reject);
  return promise.finally(() => signal.removeEventListener('abort', cancelled));
}

export type Settled = Pick<Payloads['budget.settled'], 'spent' | 'inDoubt' | 'assumed'>;

/** What an answer has cost, as far as the provider says; the rest is taken to be as bad as it could be. */
function spentBy(worst: WorstCase, usage: Usage, nanoUsd: number | undefined, prices: Prices): Settled {
  const { inputTokens = worst.inputTokens, outputTokens = worst.outputTokens } = usage;
  const complete = usage.inputTokens !== undefined && usage.outputTokens !== undefined;
  const most = complete ? undefined : prices.worstCase(worst.model, inputTokens, outputTokens);
  const cost = (complete ? nanoUsd : undefined) ?? most ?? worst.amounts.nanoUsd;
  const spent = { calls: 1, tokens: inputTokens + outputTokens, ...present({ nanoUsd: cost }) };
  const assumed = !complete || (nanoUsd === undefined && cost !== undefined);
  return assumed ? { spent, assumed } : { spent };
}
