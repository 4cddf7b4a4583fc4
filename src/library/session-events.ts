/** Reads a session's events page by page, so that memory holds what is folded and not what was read. */
import type { RunId, SessionId } from '../base/ids.ts';
import { limits } from '../base/limits.ts';
import type { LedgerEvent } from '../events/envelope.ts';
import type { Ledger } from '../ledger/port.ts';

/** With `root`, only those of this root run and of the runs below it. */
export async function* sessionEvents(
  ledger: Ledger,
  session: SessionId,
  after = 0,
  root?: RunId,
): AsyncGenerator<LedgerEvent, void> {
  const only = root === undefined ? {} : { root };
  for (let position = after; ; ) {
    const page = await ledger.read({ session, after: position, limit: limits.readPageEvents, ...only });
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < limits.readPageEvents) return;
    position = last.position;
  }
}

/** A projection of the whole session as it stands. */
export async function foldSession<State>(
  ledger: Ledger,
  session: SessionId,
  initial: State,
  fold: (state: State, event: LedgerEvent) => State,
): Promise<State> {
  let state = initial;
  for await (const event of sessionEvents(ledger, session)) state = fold(state, event);
  return state;
}
