/**
 * What can refuse an append, the same in every store: the fence, the counters, the runs and the causes. All of it is asked
 * inside the transaction and before anything is written, so a refused append leaves no trace.
 */
import type { RunId, SessionId } from '../../base/ids.ts';
import { parentRun } from '../../events/run-origin.ts';
import type { Append, AppendOutcome, EventMark, NewEvent } from '../port.ts';
import { badAppend } from './prepared-event.ts';
import { positionIn } from './stored-event.ts';
import type { WrittenEvents } from './written-events.ts';

/** What the store knows inside the transaction. The numbers of sessions and runs are its own. */
export interface WriterView {
  /** `inbound` is the position of its last event of an inbound type, 0 without one. */
  session(name: SessionId): { readonly id: number; readonly head: number; readonly inbound: number } | undefined;
  /** `root` is the number of the root run; its own for a root. */
  run(
    name: RunId,
  ): { readonly id: number; readonly session: number; readonly root: number; readonly endedAt: number | null } | undefined;
  /** An owner of `null` has given the lease back. */
  lease(run: RunId): { readonly session: string; readonly epoch: number; readonly owner: string | null } | undefined;
  counter(name: string): number;
}

/** What a lost lease, a late word or a full counter answers; `undefined` when nothing is in the way. */
export function refusalOf(view: WriterView, request: Append): AppendOutcome | undefined {
  return fenceRefusal(view, request) ?? lateRefusal(view, request) ?? counterRefusal(view, request);
}

/** A run that ends has heard what came before, and what comes after its end is refused: both are asked in the transaction. */
function lateRefusal(view: WriterView, { session, unended, heard }: Append): AppendOutcome | undefined {
  if (unended !== undefined && (view.run(unended)?.endedAt ?? null) !== null) return { kind: 'ended', run: unended };
  const inbound = view.session(session)?.inbound ?? 0;
  return heard !== undefined && inbound > heard ? { kind: 'unheard', inbound } : undefined;
}

function fenceRefusal(view: WriterView, { fence, session }: Append): AppendOutcome | undefined {
  if (fence === null) return undefined;
  const lease = view.lease(fence.run);
  if (lease === undefined || lease.owner === null || lease.epoch !== fence.epoch) return { kind: 'lease_lost', run: fence.run };
  if (lease.session !== session) throw badAppend(`the fence of ${fence.run} is for ${lease.session}, not for ${session}`);
  return undefined;
}

/** Giving back is always allowed: only a change upwards can pass a limit. */
function counterRefusal(view: WriterView, { counters }: Append): AppendOutcome | undefined {
  if (counters === undefined) return undefined;
  const changed = new Map<string, number>();
  for (const { name, add, max } of counters) {
    const value = changed.get(name) ?? view.counter(name);
    if (max !== undefined && add > 0 && value + add > max) return { kind: 'over_limit', counter: name, value, add, max };
    if (!Number.isSafeInteger(value + add)) throw badAppend(`counter ${name} would grow too large`);
    changed.set(name, value + add);
  }
  return undefined;
}

/** A fence covers its run and the runs of the same tree; without a fence only known runs can be spoken to. */
export function checkRuns(view: WriterView, { session, fence, events }: Append): void {
  const sessionId = view.session(session)?.id;
  const rootId = fence === null ? undefined : view.run(fence.run)?.root;
  for (const event of events) {
    const run = view.run(event.run);
    if (run === undefined) {
      if (fence === null) throw badAppend(`there is no run ${event.run} in ${session}`);
    } else if (run.session !== sessionId) throw badAppend(`${event.run} belongs to another session than ${session}`);
    else if (fence !== null && run.root !== rootId) throw badAppend(`the fence of ${fence.run} does not cover ${event.run}`);
  }
}

/**
 * At the top of which tree a run is whose first event is in this append: below whoever writes; of an append that opens a session
 * with everything that was done in another, as the starts of its runs say.
 */
export function topsIn({ fence, events }: Append, head: number): (run: RunId) => RunId {
  const parents = new Map<RunId, RunId | undefined>();
  for (const { type, run, payload } of head === 0 ? events : [])
    if (type === 'run.started' && !parents.has(run)) parents.set(run, parentRun(payload) as RunId | undefined);
  const top = (run: RunId): RunId => {
    if (!parents.has(run)) return fence?.run ?? run;
    const parent = parents.get(run);
    return parent === undefined || parent === run ? run : top(parent);
  };
  return top;
}

/** Invariant I3: only the first event of a session has no parent, and every parent is there. Returns the parents' positions. */
export function parentsOf({ session, events }: Append, head: number, written: WrittenEvents): readonly (number | null)[] {
  const earlier = new Map<NewEvent | EventMark, number>();
  return events.map((event, index) => {
    const position = head + 1 + index;
    const { cause } = event;
    if ((cause === null) !== (position === 1)) {
      throw badAppend(cause === null ? `${event.type} has no cause` : `${event.type} opens ${session} and cannot have a cause`);
    }
    earlier.set(event.mark ?? event, position);
    if (cause === null) return null;
    const parent =
      typeof cause === 'string' ? positionIn(session, cause) : (earlier.get(cause) ?? written.position(session, cause));
    if (parent === undefined || parent >= position) throw badAppend(`the cause of ${event.type} is not in ${session}`);
    return parent;
  });
}
