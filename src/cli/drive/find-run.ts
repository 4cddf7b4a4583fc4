/** Finds the run that a person means: a whole id, its beginning or end, a session, or `last`. */
import { TroupeError } from '../../base/errors.ts';
import { limits } from '../../base/limits.ts';
import type { Ledger, RunRow } from '../../ledger/port.ts';

const CHARACTERS_MIN = 4;

export async function findRun(ledger: Ledger, text: string): Promise<RunRow> {
  const rows = await ledger.runs({ limit: limits.runLookup });
  const found = matchRuns(rows, text);
  if (found.length === 1 && found[0] !== undefined) return found[0];
  if (found.length > 1) {
    const some = found.slice(0, 5).map((row) => `${row.run} (${row.agent})`);
    throw new TroupeError('usage', `"${text}" is the beginning or end of ${found.length} runs: ${some.join(', ')}`, {
      fix: 'give more characters of the id',
    });
  }
  if (rows.length === 0) {
    throw new TroupeError('unknown_run', 'There are no runs in this ledger yet', { fix: 'start one: troupe run <agent> "…"' });
  }
  if (text !== 'last' && text.length < CHARACTERS_MIN) {
    throw new TroupeError('usage', `"${text}" is too short for a run id`, {
      fix: `give at least ${CHARACTERS_MIN} characters, or: last`,
    });
  }
  throw new TroupeError('unknown_run', `There is no run "${text}" in this ledger`, { fix: 'see what there is: troupe ps --all' });
}

/** Newest first in, matches out. An exact id wins over any part of one. */
export function matchRuns(rows: readonly RunRow[], text: string): readonly RunRow[] {
  if (text === 'last') return rows.filter((row) => row.parent === null).slice(0, 1);
  if (text.length < CHARACTERS_MIN) return [];
  const exact = rows.filter((row) => row.run === text);
  if (exact.length > 0) return exact;
  const inSession = rows.filter((row) => row.session === text && row.parent === null);
  if (inSession.length > 0) return inSession.slice(0, 1);
  const bare = text.startsWith('run_') ? text.slice('run_'.length) : text;
  if (bare.length < CHARACTERS_MIN) return [];
  const part = rows.filter((row) => row.run.startsWith(`run_${bare}`) || row.run.endsWith(text));
  return part.length > 0 ? part : newestOfSessions(rows, text);
}

/** Whether the text names this very run, and not the session that it is the newest of. */
export function isNamedBy({ run }: RunRow, text: string): boolean {
  return text === 'last' || run.startsWith(text) || run.startsWith(`run_${text}`) || run.endsWith(text);
}

/** A session by a part of its id stands for its newest run. */
function newestOfSessions(rows: readonly RunRow[], text: string): readonly RunRow[] {
  const roots = rows.filter(({ session, parent }) => parent === null && (session.endsWith(text) || session.startsWith(text)));
  return [...new Map(roots.toReversed().map((row) => [row.session, row])).values()];
}
