/** Everything a session holds, or everything of one run or some types, page by page. */
import type { SessionId } from '../base/ids.ts';
import { limits } from '../base/limits.ts';
import type { LedgerEvent } from '../events/envelope.ts';
import type { Ledger, ReadQuery } from '../ledger/port.ts';

export async function readAll(
  ledger: Ledger,
  session: SessionId,
  { after: start = 0, ...only }: Pick<ReadQuery, 'run' | 'types' | 'after'> = {},
): Promise<LedgerEvent[]> {
  const events: LedgerEvent[] = [];
  for (;;) {
    const after = events.at(-1)?.position ?? start;
    const page = await ledger.read({ session, after, limit: limits.readPageEvents, ...only });
    for (const event of page) events.push(event);
    if (page.length < limits.readPageEvents) return events;
  }
}
