/** Takes the latest exchange of a conversation back. Under the run's lease, so that nobody goes on with it meanwhile. */
import type { Failure } from '../events/catalogue.ts';
import type { RunRow } from '../ledger/port.ts';
import { type Decided, underLease } from './lease.ts';
import type { LedgerAccess, TimeAndIds } from './options.ts';
import type { WithdrawOutcome } from './port.ts';
import { latestStanding } from './record/past.ts';

export async function withdraw(options: LedgerAccess & TimeAndIds, row: RunRow): Promise<WithdrawOutcome> {
  const { ledger, clock } = options;
  const { session, run, agent } = row;
  if (row.parent !== null || row.endedAt === null) return { kind: 'refused', error: notEnded };
  const outcome = await underLease(options, row, async (): Promise<Decided<WithdrawOutcome>> => {
    const [ended] = await ledger.read({ session, run, types: ['run.ended'], newest: true, limit: 1 });
    if (ended === undefined) return { outcome: { kind: 'refused', error: notEnded } };
    if ((await latestStanding(ledger, session, agent)) !== run) return { outcome: { kind: 'refused', error: wentOn } };
    const event = { type: 'run.withdrawn', run, actor: 'user', cause: ended.event_id, payload: {}, at: clock.now() } as const;
    return { outcome: { kind: 'withdrawn' }, write: { events: [event] } };
  });
  return outcome.kind === 'held' ? { kind: 'refused', error: busy } : outcome;
}

const notEnded: Failure = { code: 'unfinished', message: 'Only what has ended can be taken back.' };
const wentOn: Failure = {
  code: 'went_on',
  message: 'The conversation does not end with this: it went on, or it was taken back.',
};
const busy: Failure = { code: 'session_busy', message: 'Another process works in this session.', fix: 'Wait until it is done.' };
