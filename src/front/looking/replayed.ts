/** A run played again over what is recorded of it, for whoever asks; of one that was imported nobody has the loop. */
import { fail, ok, type Result } from '../../base/result.ts';
import { closedAsImported } from '../../engine/imported-sessions.ts';
import type { Failure } from '../../events/catalogue.ts';
import type { Ledger, RunRow } from '../../ledger/port.ts';
import { type ReplayOutcome, replayRun } from '../../replay/replay.ts';

export type PlayedAgain = Exclude<ReplayOutcome, { readonly kind: 'refused' }>;

export async function playAgain(
  ledger: Pick<Ledger, 'runs' | 'read' | 'payload'>,
  row: RunRow,
): Promise<Result<PlayedAgain, Failure>> {
  const closed = await closedAsImported(ledger, row.session);
  if (closed !== undefined) return fail(closed);
  const outcome = await replayRun(ledger, row.run);
  return outcome.kind === 'refused' ? fail(outcome.error) : ok(outcome);
}
