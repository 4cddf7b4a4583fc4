/** Drives root runs in this process: each until it ends or cannot go on, then its lease is given back. */

import type { RunId, SessionId } from '../base/ids.ts';
import type { Payloads } from '../events/catalogue.ts';
import type { LedgerEvent } from '../events/envelope.ts';
import type { Fence, NewEvent, RunRow } from '../ledger/port.ts';
import { buildTree, type DrivenTree } from './build-tree.ts';
import { driveRun } from './drive-run.ts';
import { failureOf } from './failure-of.ts';
import { Interruption } from './interruption.ts';
import type { LivePart, ResumeOutcome, RunEnd, RunHandle } from './port.ts';
import { readAll } from './read-all.ts';
import type { AgentSetup } from './setup.ts';
import { createSlots } from './slots.ts';
import { assistantLimits } from './spawned.ts';
import type { EngineParts, RunNode } from './tree.ts';
import { openWaits } from './waits.ts';
import type { OverLimit } from './writer.ts';

export interface DriveTask {
  readonly session: SessionId;
  readonly run: RunId;
  readonly fence: Fence;
  readonly workspace: string;
  readonly started: Payloads['run.started'];
  readonly events: readonly LedgerEvent[];
  readonly rootSetup?: AgentSetup | undefined;
  /** Written before anything else. */
  opening(root: RunNode): readonly NewEvent[];
}

export interface Driver {
  /** Resolves when the opening events are durable and work has begun. */
  drive(task: DriveTask): Promise<RunHandle>;
  driving(run: RunId): RunHandle | undefined;
  /** For a driver elsewhere: has a root run go on that somebody may be working on, and follows it. */
  takeUp?(root: RunRow): Promise<ResumeOutcome>;
  /**
   * For a driver elsewhere: something is about to be appended for a run from outside. Makes sure that it is noticed even if this
   * process dies right after, and gives what to call once it is appended.
   */
  foresee?(row: RunRow): Promise<() => Promise<void>>;
  /** Interrupts everything and waits until it has stopped. */
  stop(reason: string): Promise<void>;
}

interface Place {
  tree: DrivenTree;
  root: RunNode;
}

export function createDriver(parts: EngineParts, watchers: ReadonlySet<(part: LivePart) => void>): Driver {
  const slots = createSlots(assistantLimits(parts).active);
  const driven = new Map<RunId, { readonly handle: RunHandle; interrupt(why: Interruption): void }>();

  const place = (task: DriveTask, events: readonly LedgerEvent[], lease: Lease): Place => {
    const tree = buildTree({ ...task, events, parts, watchers, slots, ending: () => void lease.giveBack() });
    return { tree, root: tree.root(task.run, task.started) };
  };
  const work = async (task: DriveTask, at: { current: Place }, lease: Lease): Promise<RunEnd> => {
    const stopListening = parts.ledger.onInbound(task.session, () => void at.current.tree.refresh().catch(() => undefined));
    // Something may have come in between reading the ledger and listening.
    if (task.events.length > 0) await at.current.tree.refresh().catch(() => undefined);
    const end = await driveUntilStuck(parts, at, async () => place(task, await readAll(parts.ledger, task.session), lease));
    stopListening();
    driven.delete(task.run);
    await lease.giveBack();
    return end;
  };
  return {
    async drive(task) {
      const lease = leaseOf(parts, task);
      const at = { current: place(task, task.events, lease) };
      const { tree, root } = at.current;
      for (const event of written(await tree.writer.write(task.opening(root)))) tree.inbox.apply(event);
      const handle: RunHandle = { session: task.session, run: task.run, done: work(task, at, lease) };
      driven.set(task.run, { handle, interrupt: (why) => at.current.tree.interrupt(why) });
      return handle;
    },
    driving: (run) => driven.get(run)?.handle,
    async stop(reason) {
      const all = [...driven.values()];
      for (const one of all) one.interrupt(new Interruption('interrupted', reason));
      await Promise.all(all.map((one) => one.handle.done));
    },
  };
}

interface Lease {
  /** Once is enough, and the first call counts. */
  giveBack(): Promise<void>;
}

function leaseOf(parts: EngineParts, task: DriveTask): Lease {
  let given: Promise<void> | undefined;
  // The lease of a run that was lost, or of a ledger that cannot be written, is not ours to give back.
  return { giveBack: () => (given ??= parts.ledger.release(task.fence).catch(() => undefined)) };
}

const written = (outcome: readonly LedgerEvent[] | OverLimit): readonly LedgerEvent[] => ('kind' in outcome ? [] : outcome);

/** An answer may have come while other branches were still busy: then the run goes on at once, from the ledger. */
async function driveUntilStuck(parts: EngineParts, at: { current: Place }, rebuild: () => Promise<Place>): Promise<RunEnd> {
  for (;;) {
    const { tree, root } = at.current;
    try {
      return { kind: 'ended', result: await driveRun(tree, root) };
    } catch (error) {
      const why = error instanceof Interruption ? error : cutOffBy(error);
      if (why.kind !== 'waiting') return await leave(tree, root, why);
    }
    try {
      await tree.writer.flushed();
      await tree.refresh();
      if (
        !tree.blockedOn.some(
          ({ run, wait }) => tree.inbox.answer(run, wait) !== undefined || tree.inbox.cancelled(run) !== undefined,
        )
      ) {
        return { kind: 'waiting', waits: openWaits(await readAll(parts.ledger, tree.session)) };
      }
      at.current = await rebuild();
    } catch (error) {
      return interrupted(cutOffBy(error));
    }
  }
}

async function leave(tree: DrivenTree, root: RunNode, why: Interruption): Promise<RunEnd> {
  if (why.kind === 'lost') return { kind: 'lost' };
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
