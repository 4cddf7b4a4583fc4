/**
 * Leaving a run that cannot go on. Whoever appends an answer or a cancel while the lease is held counts on the holder to hear
 * it, so the last look comes after the lease was given back: from then on they see that nobody drives the run.
 */
import type { Fence } from '../../ledger/port.ts';
import { canGoOn } from '../hearing/go-on-or-end.ts';
import type { HearsOutside } from '../hearing/hears.ts';
import type { EngineOptions, LedgerAccess } from '../options.ts';
import type { RunEnd } from '../port.ts';
import type { DrivenRun } from '../record/driven-run.ts';
import { type Past, pastOf, UNFINISHED } from '../record/past.ts';
import type { Writes } from '../record/writes.ts';
import type { DrivenTree } from '../run/tree.ts';
import type { Slots } from '../spawning/slots.ts';
import { endCancelledBelow } from './end-below.ts';

/** One life of a driven run. */
export interface Life {
  readonly tree: DrivenTree;
  readonly root: DrivenRun;
  /** It was to end from its beginning. */
  readonly ending: boolean;
}

export interface Lease {
  /** Once is enough, and the first call counts. */
  giveBack(): Promise<void>;
  /** It was given back with the end of the run. */
  gone(): void;
}

export type Left =
  /** `below`: a run below the root was cancelled and has not ended, while the rest stays as it is. */
  | { readonly kind: 'left'; readonly end: RunEnd; readonly below: boolean }
  /** Something came in time: the lease was taken again, and this is what there is to know. */
  | { readonly kind: 'back'; readonly fence: Fence; readonly past: Past };

export async function leaveOrTakeBack(
  options: EngineOptions,
  slots: Slots,
  life: Life,
  lease: Lease,
  end: RunEnd,
): Promise<Left> {
  await lease.giveBack();
  for (;;) {
    const left = await lookAgain(options, life, end);
    if (left.kind === 'back' || !left.below) return left;
    const root = { session: life.tree.session, run: life.root.run };
    // What cannot be ended now ends when the run is taken up; something that comes meanwhile is looked at too.
    if ((await endCancelledBelow(options, slots, root).catch(() => 'done')) === 'done') return left;
  }
}

async function lookAgain(options: LedgerAccess, life: Life, end: RunEnd): Promise<Left> {
  if (end.kind === 'ended' || end.kind === 'lost') return { kind: 'left', end, below: false };
  const { ledger } = options;
  const { tree, root } = life;
  try {
    await tree.refresh();
    if (!hasToGoOn(life, end)) return { kind: 'left', end, below: await isCancelledBelow(options, tree, end) };
    const taken = await ledger.acquire(tree.session, root.run);
    // Who holds it now has read the ledger after us.
    if (taken.kind !== 'acquired') return { kind: 'left', end: { kind: 'lost' }, below: false };
    try {
      return { kind: 'back', fence: taken.fence, past: await pastOf(ledger, tree.session, root.run) };
    } catch (error) {
      await ledger.release(taken.fence);
      throw error;
    }
  } catch {
    // What came is in the ledger, and the next one to take the run up finds it there.
    return { kind: 'left', end, below: false };
  }
}

function hasToGoOn({ tree, root, ending }: Life, end: RunEnd): boolean {
  if (end.kind === 'waiting') return canGoOn(tree);
  if (end.kind === 'interrupted' && end.error !== undefined) return false;
  // A life that was only there to end the run and could not would not do better the next time.
  return !ending && tree.outside.cancelled(root.run) !== undefined;
}

/** A tree that stands still on purpose, or was cut off, stays so; what somebody has cancelled in it ends all the same. */
async function isCancelledBelow(
  { ledger }: LedgerAccess,
  { session, outside }: LedgerAccess & Writes & HearsOutside,
  end: RunEnd,
): Promise<boolean> {
  if (end.kind === 'waiting' || outside.cancels() === 0) return false;
  const rows = await ledger.runs({ session, states: UNFINISHED });
  return rows.some(({ run, parent }) => parent !== null && outside.cancelled(run) !== undefined);
}
