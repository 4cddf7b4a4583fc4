/** Taking up a run that was left: from what the ledger holds of it, by whoever gets its lease. */
import type { Failure } from '../events/catalogue.ts';
import type { Ledger, RunRow } from '../ledger/port.ts';
import type { Driver } from './driver.ts';
import { acquireLeft, begunSession, withLease } from './lease.ts';
import { nobodyToAsk } from './models-below.ts';
import { type AgentAccess, type LedgerAccess, type ModelAccess, ofSession, type TimeAndIds } from './options.ts';
import type { ResumeOutcome } from './port.ts';
import { recordedDefinition } from './record/agent-setup.ts';
import { pastOf } from './record/past.ts';
import { readAll } from './record/read-all.ts';
import { resumed } from './record/resumed-event.ts';
import { termsIn } from './record/standing-events.ts';
import { resultOfEnd } from './run/drive-run.ts';

/** It was parked while it was being taken up: before it goes on, that has to be said. */
export interface StoodStill {
  readonly kind: 'stood still';
}

/** Goes on with a root run that nobody drives. */
export async function takeUp(
  options: LedgerAccess & AgentAccess & ModelAccess & TimeAndIds,
  root: RunRow,
  driver: Driver,
  purpose: 'go on' | 'end',
): Promise<ResumeOutcome | StoodStill> {
  const before = await endOf(options.ledger, root);
  if (before !== undefined) return before;
  const closed = purpose === 'end' ? undefined : await closedSince(options, root);
  if (closed !== undefined) return { kind: 'refused', error: closed };
  const lease = await acquireLeft(options, root);
  if (lease.kind === 'failed') return { kind: 'refused', error: lease.error };
  if (lease.kind !== 'acquired') return { kind: 'held', owner: lease.owner };
  const { fence, takenOver } = lease;
  return await withLease(options.ledger, fence, async (): Promise<ResumeOutcome | StoodStill> => {
    // Whoever had it before may have brought it to its end since we looked.
    const [now = root] = await options.ledger.runs({ run: root.run, limit: 1 });
    const ended = await endOf(options.ledger, now);
    if (ended !== undefined) {
      await options.ledger.release(fence);
      return ended;
    }
    // One that was known to be parked, and is to go on all the same, is looked at once.
    if (purpose === 'go on' && now.state === 'parked' && root.state !== 'parked') {
      await options.ledger.release(fence);
      return { kind: 'stood still' };
    }
    const past = await pastOf(options.ledger, root.session, root.run);
    const started = past.events.find((event) => event.event_type === 'run.started' && event.run_id === root.run);
    const session = await begunSession(options.ledger, root.session);
    if (started?.event_type !== 'run.started' || session === undefined) {
      await options.ledger.release(fence);
      return { kind: 'unknown' };
    }
    const task = { session: root.session, run: root.run, fence, workspace: session.workspace, started: started.payload, past };
    const handle = await driver.drive({ ...task, opening: resumed(options, past, takenOver) });
    return { kind: 'resumed', handle, takenOver };
  });
}

async function endOf(ledger: Ledger, { session, run, endedAt }: RunRow): Promise<ResumeOutcome | undefined> {
  if (endedAt === null) return undefined;
  const [ended] = await ledger.read({ session, run, types: ['run.ended'], newest: true, limit: 1 });
  return ended?.event_type === 'run.ended' ? { kind: 'ended', result: resultOfEnd(run, ended.payload) } : undefined;
}

/** A run that cannot go on in this shell, for want of a key, is left as it is. */
export async function closedSince(
  all: LedgerAccess & AgentAccess & ModelAccess,
  { session, run }: RunRow,
  model?: string,
): Promise<Failure | undefined> {
  const options = ofSession(all, session);
  const [setup] = await options.ledger.read({ newest: true, session, run, types: ['session.config'], limit: 1 });
  if (setup?.event_type !== 'session.config') return undefined;
  const definition = recordedDefinition(setup.payload);
  const reopened = await readAll(options.ledger, session, { run, types: ['run.reopened'], exact: false });
  const [started] = await options.ledger.read({ session, run, types: ['run.started'], limit: 1 });
  const tree = started?.event_type === 'run.started' ? started.payload.tree : undefined;
  const only = model ?? termsIn(reopened).model ?? tree?.model;
  return await nobodyToAsk(options, definition, only === undefined ? definition.models : [only], only);
}
