/**
 * One piece of work on one run, wherever it happens: the run is built from the ledger, driven until it ends or cannot go on, and
 * left. Children are worked on by others; a parent that needs an answer that is not there yet is left until it is.
 *
 * The lease is taken whoever holds it, because the engine has assigned the work; a worker that was taken for dead and comes back
 * is fenced off and cannot write.
 */

import { TroupeError } from '../../base/errors.ts';
import type { RunId, SessionId } from '../../base/ids.ts';
import { type EventType, inboundTypes } from '../../events/catalogue.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import { broadcastTypes } from '../../events/pattern-events.ts';
import { parentRun } from '../../events/run-origin.ts';
import type { Fence, Ledger } from '../../ledger/port.ts';
import { failureOf } from '../failure-of.ts';
import { isToEnd } from '../hearing/go-on-or-end.ts';
import type { HearsOutside } from '../hearing/hears.ts';
import { Interruption } from '../interruption.ts';
import type { EngineOptions } from '../options.ts';
import type { DrivenRun } from '../record/driven-run.ts';
import { NO_PAST } from '../record/past.ts';
import { readAll } from '../record/read-all.ts';
import { standing } from '../record/standing-events.ts';
import type { Writes } from '../record/writes.ts';
import { broughtBy, withBrought } from '../run/brought.ts';
import { buildTree } from '../run/build-tree.ts';
import { driveRun, limitWallTime } from '../run/drive-run.ts';
import { placeInTree, startedOf, topOf } from '../run/place-in-tree.ts';
import type { DrivenTree } from '../run/tree.ts';
import type { Elsewhere } from '../spawning/child-run.ts';
import type { Slots } from '../spawning/slots.ts';

export type WorkOutcome =
  | { readonly kind: 'ended'; readonly parent: RunId | null }
  /** Until somebody pokes it: a child has ended, an answer has come. At the latest at this time. */
  | { readonly kind: 'left'; readonly wakeAt: number | null }
  /** There is no such run. */
  | { readonly kind: 'unknown' };

export interface Workplace {
  readonly engineOptions: EngineOptions;
  readonly slots: Slots;
  start(session: SessionId, run: RunId, reopened: number): Promise<void>;
  poke(run: RunId): Promise<void>;
  /** Aborts when this worker stops: what is under way is left and assigned again. */
  readonly stopping: AbortSignal;
}

/** What a run has to know of the others in its session. */
const SHARED: readonly EventType[] = [
  ...([
    'session.started',
    'session.brought',
    'run.started',
    'run.ended',
    'run.reopened',
    'run.resumed',
    'run.paused',
    'agent.dismissed',
  ] as const),
  ...(['model.request', 'tool.result', 'approval.asked', 'task.clarify', 'message.included'] as const),
  ...broadcastTypes,
  ...inboundTypes,
];

export async function workOn(place: Workplace, session: SessionId, run: RunId): Promise<WorkOutcome> {
  const { ledger } = place.engineOptions;
  const lease = await ledger.acquire(session, run, { assigned: true });
  if (lease.kind !== 'acquired') throw new TroupeError('bug', `The lease of ${run} was not given: ${lease.kind}`);
  let released = false;
  try {
    return await withLease(place, session, run, lease, () => {
      released = true;
    });
  } finally {
    if (!released) await ledger.release(lease.fence).catch(() => undefined);
  }
}

async function withLease(
  place: Workplace,
  session: SessionId,
  run: RunId,
  { fence, takenOver }: { readonly fence: Fence; readonly takenOver: boolean },
  released: () => void,
): Promise<WorkOutcome> {
  const { engineOptions: own, slots } = place;
  const { events, heard } = await eventsFor(own.ledger, session, run);
  const started = startedOf(events, run);
  const first = events.find((event) => event.event_type === 'session.started');
  if (started === undefined || first?.event_type !== 'session.started') return { kind: 'unknown' };
  const parent = (parentRun(started.payload) as RunId | undefined) ?? null;
  if (standing(events).some((event) => event.event_type === 'run.ended' && event.run_id === run))
    return { kind: 'ended', parent };

  const brought = broughtBy(events, topOf(events, run));
  const options = withBrought(own, brought);
  let wakeAt: number | null = null;
  const elsewhere: Elsewhere = {
    start: (child, reopened) => place.start(session, child, reopened),
    poke: place.poke,
    wakeAt: (time) => {
      wakeAt = Math.min(time, wakeAt ?? time);
    },
  };
  const { workspace } = first.payload;
  const tree = buildTree(options, {
    session,
    workspace,
    fence,
    // Its own journal and what the others left are all there.
    past: { ...NO_PAST, events, heard },
    slots,
    elsewhere,
    travelsFrom: brought?.repository,
    watchers: new Set(),
    released,
  });
  const node = placeInTree(tree, events, run);
  if (restsPaused(tree, node) || restsParked(tree, node)) return { kind: 'left', wakeAt: null };
  const leave = attend(place, tree, node);
  try {
    if (takenOver || wasLeft(events, run)) {
      const resumed = node.journal.event('run.resumed', { owner: options.owner, takenOver, heard }, { actor: 'system' });
      await tree.writer.write([resumed]);
    }
    await driveRun(tree, node);
    return { kind: 'ended', parent };
  } catch (error) {
    await leftBecause(tree, node, error);
    // What came in the last moment is heard at once.
    if (error instanceof Interruption && error.kind === 'unheard') return { kind: 'left', wakeAt: options.clock.now() };
    return { kind: 'left', wakeAt };
  } finally {
    leave();
  }
}

/**
 * Everything of the run itself; of the others only what concerns it. What others may append comes from one of the two reads
 * alone: the other may have looked later, and what it saw then would hide what came in between.
 */
async function eventsFor(
  ledger: Ledger,
  session: SessionId,
  run: RunId,
): Promise<{ readonly events: readonly LedgerEvent[]; readonly heard: number }> {
  const [all, shared] = await Promise.all([readAll(ledger, session, { run }), readAll(ledger, session, { types: SHARED })]);
  const own = all.filter(({ event_type }) => !SHARED.includes(event_type));
  const events = [...own, ...shared].sort((left, right) => left.position - right.position);
  return { events, heard: shared.at(-1)?.position ?? 0 };
}

/** Listens to what comes from outside, and holds the limits of the runs above. Returns what ends it. */
function attend(place: Workplace, tree: DrivenTree, node: DrivenRun): () => void {
  const ends: (() => void)[] = [];
  for (let up: DrivenRun | undefined = node; up !== undefined; up = up.parent) {
    const reason = tree.outside.cancelled(up.run);
    if (reason !== undefined) up.abort.abort(new TroupeError('cancelled', reason));
    if (up !== node) ends.push(limitWallTime(tree, up));
  }
  ends.push(place.engineOptions.ledger.onInbound(tree.session, () => void tree.refresh().catch(() => undefined)));
  const stop = (): void => tree.interrupt(new Interruption('interrupted', 'The worker is stopping.'));
  place.stopping.addEventListener('abort', stop, { once: true });
  ends.push(() => place.stopping.removeEventListener('abort', stop));
  if (place.stopping.aborted) stop();
  void tree.refresh().catch(() => undefined);
  return () => {
    for (const end of ends) end();
  };
}

/** Whether it was told to pause, has done so, and nobody has had it go on or end since. */
function restsPaused({ outside }: HearsOutside, node: DrivenRun): boolean {
  const last = node.journal.past.findLast(({ event_type }) => event_type === 'run.paused' || event_type === 'run.resumed');
  if (last?.event_type !== 'run.paused') return false;
  let asked = false;
  for (let up: DrivenRun | undefined = node; up !== undefined; up = up.parent) {
    if (outside.cancelled(up.run) !== undefined) return false;
    asked ||= outside.pauseAsked(up.run) !== undefined;
  }
  return asked;
}

/** Whether it stands still for something outside of it, and nobody has had it go on or end since. */
function restsParked(tree: HearsOutside, node: DrivenRun): boolean {
  return node.journal.past.some(({ event_type }) => event_type === 'run.parked') && !isToEnd(tree, node);
}

/** Whether it was paused, or got the answer that it was left for: time that has passed since does not count as work. */
function wasLeft(events: readonly LedgerEvent[], run: RunId): boolean {
  const last = events.findLast(
    ({ run_id, event_type }) =>
      run_id === run && (event_type === 'run.paused' || event_type === 'approval.answered' || event_type === 'run.resumed'),
  );
  return last !== undefined && last.event_type !== 'run.resumed';
}

/** Being left is not failing; anything else is passed on, and the work is assigned again. */
async function leftBecause(tree: Writes, node: DrivenRun, error: unknown): Promise<void> {
  if (!(error instanceof Interruption)) throw error;
  if (error.kind === 'waiting' || error.kind === 'unheard' || error.kind === 'parked') return await tree.writer.flushed();
  if (error.kind !== 'paused') throw new TroupeError('interrupted', failureOf(error).message);
  await tree.writer.write([node.journal.event('run.paused', { reason: error.message }, { actor: 'system' })], { sync: 'power' });
}
