/** What is done with runs is done with our own: those that were imported say why not. */
import { TroupeError } from '../../base/errors.ts';
import { closedAsImported } from '../../engine/imported-sessions.ts';
import type { Ledger, RunRow } from '../../ledger/port.ts';

export async function requireOwn(ledger: Pick<Ledger, 'read'>, { session }: Pick<RunRow, 'session'>): Promise<void> {
  const closed = await closedAsImported(ledger, session);
  if (closed !== undefined) throw new TroupeError(closed.code, closed.message, { fix: closed.fix });
}
