/**
 * Every run that a test has brought to its end is played again over its record, and comes to the same: whatever kind of work it
 * was, and whoever drove it.
 */
import { ok as holds } from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { systemClock } from '../../src/base/clock.ts';
import { createIds, type SessionId } from '../../src/base/ids.ts';
import { seededRandom } from '../../src/base/random.ts';
import type { Ledger } from '../../src/ledger/port.ts';
import { openSqliteLedger } from '../../src/ledger/sqlite/store.ts';
import { replayRun } from '../../src/replay/replay.ts';

/** Of more than these the newest. */
const RUNS = 20;

/** A record that cannot be read any more, because a test has broken it or taken it away, is left. */
export async function playsAgain(ledger: Ledger): Promise<void> {
  const rows = await ledger.runs({ roots: true, limit: RUNS }).catch(() => []);
  for (const { run, session, endedAt } of rows) {
    if (endedAt === null || (await isImported(ledger, session))) continue;
    const outcome = await replayRun(ledger, run);
    const isSame = outcome.kind === 'identical' || (outcome.kind === 'refused' && !OF_REPLAY.has(outcome.error.code));
    holds(isSame, `Played again, ${run} does not come to the same: ${JSON.stringify(outcome)}`);
  }
}

/** The work of another program is shown, and played by nobody. */
async function isImported(ledger: Ledger, session: SessionId): Promise<boolean> {
  const [first] = await ledger.read({ session, limit: 1 }).catch(() => []);
  return first?.event_type === 'session.started' && first.payload.imported !== undefined;
}

/** What would be said of a record that is whole. */
const OF_REPLAY: ReadonlySet<string> = new Set(['no_answer', 'not_replayed', 'unknown_run']);

/** The same for the ledger of a project. */
export async function projectPlaysAgain(path: string): Promise<void> {
  const ledger = existsSync(path) ? opened(path) : undefined;
  if (ledger === undefined) return;
  try {
    await playsAgain(ledger);
  } finally {
    await ledger.close();
  }
}

/** Nothing where a test has broken the file. */
function opened(path: string): Ledger | undefined {
  const clock = systemClock;
  try {
    return openSqliteLedger({ path, clock, ids: createIds(clock, seededRandom(1)), readOnly: true });
  } catch {
    return undefined;
  }
}
