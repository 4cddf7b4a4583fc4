/**
 * Who gets the lease of a root run, the same in every store: a live owner keeps it, another live run of the session comes
 * first, and an unfinished run blocks a new one even while nobody drives it.
 */
import { codeOf } from '../../base/errors.ts';
import type { RunId, SessionId } from '../../base/ids.ts';
import type { AcquireOptions, LeaseOutcome, LeaseOwner } from '../port.ts';
import type { WriterView } from './append.ts';
import { badAppend } from './prepared-event.ts';

export interface HeldLease {
  readonly run: RunId;
  readonly epoch: number;
  /** `null` when it was given back. */
  readonly owner: LeaseOwner | null;
  readonly live: boolean;
}

export interface LeaseView extends Pick<WriterView, 'run' | 'session'> {
  held(run: RunId): HeldLease | undefined;
  othersHeld(session: SessionId, run: RunId): readonly HeldLease[];
  /** Root runs of the session that have started and not ended. */
  unfinished(session: SessionId): readonly RunId[];
}

/** Stands for the owner of an unfinished run that nobody holds at the moment. */
const NOBODY: LeaseOwner = { id: 'none', pid: 0, host: '' };

/** Whether that is a process, and not the word for none. */
export const isSomebody = (owner: LeaseOwner): boolean => owner.id !== NOBODY.id;

/** Every acquisition raises the epoch, so an owner that was thought dead and comes back is fenced off. */
export function decideLease(view: LeaseView, session: SessionId, run: RunId, options: AcquireOptions = {}): LeaseOutcome {
  const known = view.run(run);
  if (known !== undefined && known.session !== view.session(session)?.id) throw badAppend(`${run} is not in ${session}`);
  const mine = view.held(run);
  if (options.assigned === true) return taken(run, mine);
  if (known !== undefined && known.root !== known.id) throw badAppend(`${run} is a child run: its root's lease covers it`);
  if (mine !== undefined && mine.owner !== null && mine.live) return { kind: 'held', owner: mine.owner };
  for (const busy of view.othersHeld(session, run)) {
    if (busy.live && busy.owner !== null) return { kind: 'busy_session', run: busy.run, owner: busy.owner };
  }
  const isFresh = known === undefined && (view.session(session)?.head ?? 0) === 0;
  const unfinished = view.unfinished(session);
  const other = unfinished.find((name) => name !== run);
  if (other !== undefined && !unfinished.includes(run)) return { kind: 'busy_session', run: other, owner: NOBODY };
  return { ...taken(run, mine), ...(isFresh ? { fresh: true } : {}) };
}

function taken(run: RunId, mine: HeldLease | undefined): Extract<LeaseOutcome, { kind: 'acquired' }> {
  const fence = { run, epoch: (mine?.epoch ?? 0) + 1 };
  return { kind: 'acquired', fence, takenOver: mine !== undefined && mine.owner !== null };
}

/** Whether a process of this machine exists. One that belongs to somebody else does. */
export function processExists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}
