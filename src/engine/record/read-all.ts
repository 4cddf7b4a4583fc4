/**
 * Everything a session holds, or everything of one run, one tree or some types, page by page: as it was appended, because runs
 * are built from it. What is shown to somebody is read with `exact: false`.
 */
import { TroupeError } from '../../base/errors.ts';
import type { SessionId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import type { Ledger, ReadQuery } from '../../ledger/port.ts';

export async function readAll(
  ledger: Ledger,
  session: SessionId,
  { after: start = 0, ...only }: Pick<ReadQuery, 'run' | 'root' | 'types' | 'after' | 'exact'> = {},
): Promise<LedgerEvent[]> {
  const events: LedgerEvent[] = [];
  for (;;) {
    const after = events.at(-1)?.position ?? start;
    const page = await ledger.read({ session, after, limit: limits.readPageEvents, exact: true, ...only });
    for (const event of page) events.push(event);
    if (page.length < limits.readPageEvents) return events;
  }
}

/** As it was appended, or not at all. */
export async function readExactly(
  ledger: Ledger,
  session: SessionId,
  only: Pick<ReadQuery, 'run' | 'types'> = {},
): Promise<LedgerEvent[]> {
  const events = await readAll(ledger, session, only);
  const lost = events.find((event) => event.inexact !== undefined);
  if (lost !== undefined) throw sealedError(lost.event_id, lost.inexact ?? '');
  return events;
}

/** Something that only its exact form is good for cannot be had. */
export function sealedError(what: string, why: string): TroupeError {
  return new TroupeError('sealed', `${what} held a secret, and its exact form cannot be read: ${why}`, {
    fix: 'Bring the key back (its file, or TROUPE_SEAL_KEY; troupe doctor shows which are here) and resume the run.',
  });
}
