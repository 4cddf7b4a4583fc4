/**
 * Long answers of the ledger. They are read page by page, so that memory holds what is made of the events and not the events,
 * and what others do with the store goes on in between.
 */
import { codeOf } from '../base/errors.ts';
import type { SessionId } from '../base/ids.ts';
import { limits } from '../base/limits.ts';
import type { LedgerEvent } from '../events/envelope.ts';
import type { FeedEntry, Ledger, ReadQuery } from './port.ts';

/** All that is asked for, in order: how much of it comes at once is nobody's concern. */
export type WholeQuery = Omit<ReadQuery, 'limit' | 'newest'>;

/** What is said of a session that was collected or forgotten: nothing. It must keep nobody from what is said of the others. */
export function nothingLeft(error: unknown): readonly [] {
  if (codeOf(error) !== 'ledger_collected') throw error;
  return [];
}

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

/**
 * Reads what the entries name, a few of a session at a time: in the order of all, those of a session follow each other without a
 * gap. Nothing is told of a session whose payloads were collected.
 */
export function feedEvents(
  ledger: Pick<Ledger, 'read'>,
  entries: readonly FeedEntry[],
): (entry: FeedEntry) => Promise<LedgerEvent | undefined> {
  const ends = new Map(entries.map(({ session, position }) => [session, position]));
  const read = new Map<SessionId, readonly LedgerEvent[]>();
  const collected = new Set<SessionId>();
  return async ({ session, position }) => {
    const found = read.get(session)?.find((event) => event.position === position);
    if (found !== undefined || collected.has(session)) return found;
    const limit = Math.min(limits.feedReadEvents, (ends.get(session) ?? position) - position + 1);
    try {
      const more = await ledger.read({ session, after: position - 1, limit });
      read.set(session, more);
      return more[0];
    } catch (error) {
      if (codeOf(error) !== 'ledger_collected') throw error;
      collected.add(session);
      return undefined;
    }
  };
}
