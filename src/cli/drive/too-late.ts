/** An answer that was recorded just before its run was cancelled: whoever gave it is told what came of it. */
import { type Clock, sleep } from '../../base/clock.ts';
import { type SessionId, shortId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { isCancelAsked } from '../../engine/hearing/append-answer.ts';
import type { OpenWait } from '../../engine/port.ts';
import type { EventType } from '../../events/catalogue.ts';
import { readEvents } from '../../ledger/pages.ts';
import type { Ledger } from '../../ledger/port.ts';
import { safeLine } from '../terminal/safe-text.ts';
import { answerTo } from './taken-back.ts';

type Asked = Pick<OpenWait, 'run' | 'wait'>;

/** What an answer leads to: the call that was allowed, or that the agent is told. */
const EFFECTS: readonly EventType[] = ['tool.call', 'model.request', 'peer.sent', 'executor.prompted'];

/** Whether the run that asked was cancelled before its answer had any effect. */
export async function cameTooLate(ledger: Ledger, session: SessionId, { run, wait }: Asked): Promise<boolean> {
  const answer = await answerTo(ledger, session, { run, wait });
  if (answer === undefined) return false;
  for await (const event of readEvents(ledger, { session, run, after: answer.position, types: [...EFFECTS, 'run.ended'] })) {
    if (event.event_type === 'run.ended') return event.payload.status === 'cancelled';
    // Other calls of the same turn say nothing about this one.
    if (event.event_type !== 'tool.call' || wait.startsWith(`${event.step}/`)) return false;
  }
  return false;
}

export const tooLateText = ({ run, agent }: OpenWait): string =>
  `your answer came too late: ${safeLine(agent)} (${shortId(run)}) was cancelled before it had any effect`;

/**
 * Whoever drives a run that is cancelled ends it, and goes on with nothing. `true` when that is over, `false` when nobody has
 * cancelled it or the end is not there in time.
 */
export async function endsElsewhere(ledger: Ledger, clock: Clock, { run }: Pick<Asked, 'run'>): Promise<boolean> {
  const [asking] = await ledger.runs({ run });
  if (asking === undefined || !(await isCancelAsked(ledger, asking))) return false;
  for (const since = clock.elapsed(); clock.elapsed() - since < limits.cancelEndsMs; await sleep(clock, limits.inboxLookMs)) {
    const [row] = await ledger.runs({ run });
    if (row === undefined || row.endedAt !== null || row.owner === null) return true;
  }
  return false;
}
