/** Drives root runs in this process: each until it ends or cannot go on, then its lease is given back. */
import type { RunId } from '../../base/ids.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import type { Fence } from '../../ledger/port.ts';
import type { Driver, DriveTask } from '../driver.ts';
import { failureOf } from '../failure-of.ts';
import { canGoOn } from '../hearing/go-on-or-end.ts';
import { openWaits } from '../hearing/waits.ts';
import { Interruption } from '../interruption.ts';
import type { EngineOptions, LedgerAccess } from '../options.ts';
import type { LivePiece, RunEnd, RunHandle } from '../port.ts';
import type { DrivenRun } from '../record/driven-run.ts';
import { forgetPast } from '../record/kept-past.ts';
import { type Past, pastOf } from '../record/past.ts';
import { resumed } from '../record/resumed-event.ts';
import type { OverLimit } from '../record/writer.ts';
import type { Writes } from '../record/writes.ts';
import { buildTree } from '../run/build-tree.ts';
import { driveRun } from '../run/drive-run.ts';
import { assistantLimits } from '../spawning/bounds.ts';
import { createSlots } from '../spawning/slots.ts';
import { endCancelledBelow } from './end-below.ts';
import { type Lease, type Life, leaveOrTakeBack } from './leave-run.ts';

/** A run that is driven here. */
interface Driven {
  readonly handle: RunHandle;
  interrupt(why: Interruption): void;
  /** While its lease is given back and something may still have come that it has to go on for. */
  leaving?: Promise<unknown> | undefined;
}

export function createEmbeddedDriver(options: EngineOptions, watchers: ReadonlySet<(piece: LivePiece) => void>): Driver {
  const slots = createSlots(assistantLimits(options).active);
  const driven = new Map<RunId, Driven>();
  const beginning = new Set<Promise<RunHandle>>();
  let stopping: Interruption | undefined;

  const live = (task: DriveTask, lease: Lease): Life => {
    const tree = buildTree(options, { ...task, watchers, slots, released: () => lease.gone() });
    const root = tree.root(task.run, task.started);
    const ending = tree.outside.cancelled(task.run) !== undefined;
    // One that is to end comes to its end all the same.
    if (stopping !== undefined && !ending) tree.interrupt(stopping);
    return { tree, root, ending };
  };
  const work = async (task: DriveTask, at: { current: Life }, first: Lease): Promise<RunEnd> => {
    const stopListening = options.ledger.onInbound(task.session, () => void at.current.tree.refresh().catch(() => undefined));
    let lease = first;
    let fence = task.fence;
    const next = (past: Past): Life => live({ ...task, fence, past }, lease);
    for (;;) {
      // Something may have come in between reading the ledger and listening.
      const caughtUp = at.current.tree.refresh().catch(() => undefined);
      if (at.current.root.journal.past.length > 0) await caughtUp;
      const end = await driveUntilStuck(options, at, async () => next(await pastOf(options.ledger, task.session, task.run)));
      const leaving = leaveOrTakeBack(options, slots, at.current, lease, end);
      const here = driven.get(task.run);
      if (here !== undefined) here.leaving = leaving;
      const left = await leaving;
      if (left.kind === 'left') {
        stopListening();
        driven.delete(task.run);
        if (left.end.kind === 'ended') forgetPast(options.ledger, task.run);
        return left.end;
      }
      if (here !== undefined) here.leaving = undefined;
      fence = left.fence;
      lease = leaseOf(options, fence);
      at.current = next(left.past);
      // When it cannot be written, driving says so.
      await begin(at.current, resumed(options, left.past, false)).catch(() => undefined);
    }
  };
  const driveFrom = async (task: DriveTask): Promise<RunHandle> => {
    const lease = leaseOf(options, task.fence);
    const at = { current: live(task, lease) };
    const begun = begin(at.current, task.opening);
    // What a new run does first is written behind its beginning, in the same commit; one that is taken up hears its own first.
    if (at.current.root.journal.past.length > 0) await begun;
    const handle = { session: task.session, run: task.run, done: work(task, at, lease) };
    driven.set(task.run, { handle, interrupt: (why) => at.current.tree.interrupt(why) });
    return await begunOrLeft(begun, handle);
  };
  const driving = async (run: RunId): Promise<RunHandle | undefined> => {
    for (let here = driven.get(run); here !== undefined; here = driven.get(run)) {
      if (here.leaving === undefined) return here.handle;
      await here.leaving;
    }
    return undefined;
  };
  return {
    drive(task) {
      const handle = driveFrom(task);
      beginning.add(handle);
      handle.finally(() => beginning.delete(handle)).catch(() => undefined);
      return handle;
    },
    driving,
    async endBelow(root) {
      if ((await driving(root.run)) !== undefined) return 'done';
      // Whoever wants the tree to go on meanwhile waits until this is over.
      const over = Promise.withResolvers<RunEnd>();
      const handle: RunHandle = { session: root.session, run: root.run, done: over.promise };
      driven.set(root.run, { handle, interrupt: () => undefined, leaving: over.promise });
      try {
        return await endCancelledBelow(options, slots, root);
      } finally {
        driven.delete(root.run);
        over.resolve({ kind: 'interrupted', reason: 'It was left as it was.' });
      }
    },
    async stop(reason) {
      stopping = new Interruption('interrupted', reason);
      for (const one of driven.values()) one.interrupt(stopping);
      // One that has just been asked for is among them when it has begun.
      await Promise.allSettled([...beginning]);
      const all = [...driven.values()];
      for (const one of all) one.interrupt(stopping);
      await Promise.all(all.map((one) => one.handle.done));
      stopping = undefined;
    },
  };
}

/** Where its beginning could not be written, nothing that it does is written either: it leaves by itself. */
async function begunOrLeft(begun: Promise<void>, handle: RunHandle): Promise<RunHandle> {
  try {
    await begun;
    return handle;
  } catch (error) {
    await handle.done;
    throw error;
  }
}

/** Writes what a life begins with. */
async function begin({ tree, root }: Life, opening: DriveTask['opening']): Promise<void> {
  for (const event of written(await tree.writer.write(opening(root)))) tree.outside.apply(event);
}

function leaseOf(options: LedgerAccess, fence: Fence): Lease {
  let given: Promise<void> | undefined;
  // The lease of a run that was lost, or of a ledger that cannot be written, is not ours to give back.
  return {
    giveBack: () => (given ??= options.ledger.release(fence).catch(() => undefined)),
    gone: () => {
      given ??= Promise.resolve();
    },
  };
}

const written = (outcome: readonly LedgerEvent[] | OverLimit): readonly LedgerEvent[] => ('kind' in outcome ? [] : outcome);

/** An answer may have come while other branches were still busy: then the run goes on at once, from the ledger. */
async function driveUntilStuck(options: LedgerAccess, at: { current: Life }, rebuild: () => Promise<Life>): Promise<RunEnd> {
  for (;;) {
    const { tree, root } = at.current;
    let unheard = false;
    try {
      return { kind: 'ended', result: await driveRun(tree, root) };
    } catch (error) {
      const why = error instanceof Interruption ? error : cutOffBy(error);
      unheard = why.kind === 'unheard';
      if (why.kind !== 'waiting' && !unheard) return await leave(tree, root, why);
    }
    try {
      await tree.writer.flushed();
      await tree.refresh();
      if (!unheard && !canGoOn(tree)) return { kind: 'waiting', waits: await openWaits(options.ledger, tree.session) };
      at.current = await rebuild();
      // What came while the ledger was read was told to the life before.
      await at.current.tree.refresh();
    } catch (error) {
      return interrupted(cutOffBy(error));
    }
  }
}

async function leave(tree: Writes, root: DrivenRun, why: Interruption): Promise<RunEnd> {
  if (why.kind === 'lost') return { kind: 'lost' };
  if (why.kind === 'parked') return { kind: 'parked', reason: why.message, error: failureOf(why) };
  if (why.kind !== 'paused') return interrupted(why);
  try {
    await tree.writer.write([root.journal.event('run.paused', { reason: why.message }, { actor: 'system' })], { sync: 'power' });
    return { kind: 'paused', reason: why.message };
  } catch (error) {
    return interrupted(cutOffBy(error));
  }
}

function cutOffBy(error: unknown): Interruption {
  const failure = failureOf(error);
  return new Interruption('interrupted', failure.message, failure);
}

const interrupted = ({ message, failure }: Interruption): RunEnd => ({ kind: 'interrupted', reason: message, error: failure });
