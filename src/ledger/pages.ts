/**
 * Long answers of the ledger. They are read page by page, so that memory holds what is made of the events and not the events,
 * and what others do with the store goes on in between.
 */
import type { SessionId } from '../base/ids.ts';
import { limits } from '../base/limits.ts';
import type { LedgerEvent } from '../events/envelope.ts';
import type { Ledger, ReadQuery } from './port.ts';

/** All that is asked for, in order: how much of it comes at once is nobody's concern. */
export type WholeQuery = Omit<ReadQuery, 'limit' | 'newest'>;

/** Pages with something in them. The last is the first that is not full: what is appended afterwards takes another question. */
export async function* readPages(ledger: Pick<Ledger, 'read'>, query: WholeQuery): AsyncGenerator<readonly LedgerEvent[], void> {
  for (let after = query.after ?? 0; ; ) {
    const page = await ledger.read({ ...query, after, limit: limits.readPageEvents });
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    if (page.length < limits.readPageEvents) return;
    after = last.position;
  }
}

/** The same, event by event. */
export async function* readEvents(ledger: Pick<Ledger, 'read'>, query: WholeQuery): AsyncGenerator<LedgerEvent, void> {
  for await (const page of readPages(ledger, query)) yield* page;
}

/** A projection of the whole session as it stands. */
export async function foldSession<State>(
  ledger: Pick<Ledger, 'read'>,
  session: SessionId,
  initial: State,
  fold: (state: State, event: LedgerEvent) => State,
): Promise<State> {
  let state = initial;
  for await (const event of readEvents(ledger, { session })) state = fold(state, event);
  return state;
}
