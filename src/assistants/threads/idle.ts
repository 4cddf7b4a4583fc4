/**
 * Notices processes that have not ended and that nobody drives any more, because whoever did has died or gone away. They are
 * found when somebody asks about them, and not more often than so.
 */
import type { Clock } from '../../base/clock.ts';
import type { RunId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { createRecentlyUsed } from '../../base/recently-used.ts';
import type { Ledger } from '../../ledger/port.ts';
import { hasEnded, type Process } from '../../projections/processes.ts';

/** `now`: also if it was looked at a moment ago. */
export type IdleCheck = (process: Process | undefined, now?: 'now') => Promise<void>;

export function createIdleCheck(ledger: Ledger, clock: Clock, onIdle: ((run: RunId) => void) | undefined): IdleCheck {
  const checked = createRecentlyUsed<RunId, number>(limits.familyMembersKept);
  return async (process, now) => {
    if (onIdle === undefined || process === undefined || hasEnded(process)) return;
    const last = checked.get(process.run);
    if (now === undefined && last !== undefined && clock.elapsed() - last < limits.idleCheckMs) return;
    checked.set(process.run, clock.elapsed());
    const [row] = await ledger.runs({ run: process.run, limit: 1 });
    if (row !== undefined && row.owner === null && row.endedAt === null) onIdle(process.run);
  };
}
