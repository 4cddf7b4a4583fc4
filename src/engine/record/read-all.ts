/**
 * Everything a session holds, or everything of one run, one tree or some types, page by page: as it was appended, because runs
 * are built from it. What is shown to somebody is read with `exact: false`.
 */
import { TroupeError } from '../../base/errors.ts';
import type { SessionId } from '../../base/ids.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import { WAS_FORGOTTEN } from '../../ledger/forgetting/rows.ts';
import { readPages, type WholeQuery } from '../../ledger/pages.ts';
import type { Ledger } from '../../ledger/port.ts';

export async function readAll(
  ledger: Ledger,
  session: SessionId,
  only: Omit<WholeQuery, 'session'> = {},
): Promise<LedgerEvent[]> {
  const events: LedgerEvent[] = [];
  for await (const page of readPages(ledger, { session, exact: true, ...only })) for (const event of page) events.push(event);
  return events;
}

/** As it was appended, or not at all. */
export async function readExactly(
  ledger: Ledger,
  session: SessionId,
  only: Pick<WholeQuery, 'run' | 'types'> = {},
): Promise<LedgerEvent[]> {
  const events = await readAll(ledger, session, only);
  const lost = events.find((event) => event.inexact !== undefined);
  if (lost !== undefined) throw sealedError(lost.event_id, lost.inexact ?? '');
  return events;
}

/** Something that only its exact form is good for cannot be had. */
export function sealedError(what: string, why: string): TroupeError {
  if (why.startsWith(WAS_FORGOTTEN))
    return new TroupeError('ledger_collected', `${what} cannot be had exactly: ${why}`, {
      fix: 'What was forgotten cannot be run on: fork it before that event, or begin anew.',
    });
  return new TroupeError('sealed', `${what} held a secret, and its exact form cannot be read: ${why}`, {
    fix: 'Bring the key back (its file, or TROUPE_SEAL_KEY; troupe doctor shows which are here) and resume the run.',
  });
}
