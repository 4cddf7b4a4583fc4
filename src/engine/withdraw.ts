/** Takes the latest exchange of a conversation back. Under the run's lease, so that nobody goes on with it meanwhile. */
import type { Failure } from '../events/catalogue.ts';
import type { RunRow } from '../ledger/port.ts';
import { acquire, withLease } from './lease.ts';
import type { LedgerAccess, TimeAndIds } from './options.ts';
import type { WithdrawOutcome } from './port.ts';
import { latestStanding } from './record/past.ts';

export async function withdraw({ ledger, clock }: LedgerAccess & TimeAndIds, row: RunRow): Promise<WithdrawOutcome> {
  const { session, run, agent } = row;
  if (row.parent !== null || row.endedAt === null) return { kind: 'refused', error: notEnded };
  const lease = await acquire(ledger, session, run);
  if (lease.kind === 'failed') return { kind: 'refused', error: lease.error };
  if (lease.kind !== 'acquired') return { kind: 'refused', error: busy };
  const { fence } = lease;
  return await withLease(ledger, fence, async (): Promise<WithdrawOutcome> => {
    const [ended] = await ledger.read({ session, run, types: ['run.ended'], newest: true, limit: 1 });
    if (ended === undefined || (await latestStanding(ledger, session, agent)) !== run) {
      await ledger.release(fence);
      return { kind: 'refused', error: ended === undefined ? notEnded : wentOn };
    }
    const event = { type: 'run.withdrawn', run, actor: 'user', cause: ended.event_id, payload: {}, at: clock.now() } as const;
    const { kind } = await ledger.append({ session, fence, events: [event], sync: 'power', release: true });
    return kind === 'appended' ? { kind: 'withdrawn' } : { kind: 'refused', error: busy };
  });
}

const notEnded: Failure = { code: 'unfinished', message: 'Only what has ended can be taken back.' };
const wentOn: Failure = {
  code: 'went_on',
  message: 'The conversation does not end with this: it went on, or it was taken back.',
};
const busy: Failure = { code: 'session_busy', message: 'Another process works in this session.', fix: 'Wait until it is done.' };
