/**
 * Ends runs below a root that nobody drives: those that somebody has cancelled, with what is below them, and nothing else. The
 * rest of the tree stays as it was, paused, waiting or cut off, and no model is asked.
 */
import type { RunId, SessionId } from '../../base/ids.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import { parentRun } from '../../events/run-origin.ts';
import type { Fence, Ledger } from '../../ledger/port.ts';
import type { FromOutside } from '../hearing/from-outside.ts';
import { Interruption } from '../interruption.ts';
import type { EngineOptions } from '../options.ts';
import { wholePast } from '../record/past.ts';
import { readAll } from '../record/read-all.ts';
import { buildTree } from '../run/build-tree.ts';
import { driveRun } from '../run/drive-run.ts';
import { placeInTree } from '../run/place-in-tree.ts';
import type { Slots } from '../spawning/slots.ts';

interface Root {
  readonly session: SessionId;
  readonly run: RunId;
}

/** `more`: something came meanwhile for which the tree has to be taken up. */
export async function endCancelledBelow(options: EngineOptions, slots: Slots, root: Root): Promise<'done' | 'more'> {
  const { ledger } = options;
  for (;;) {
    const lease = await ledger.acquire(root.session, root.run);
    // Who holds it has read the ledger after the cancel, or hears it.
    if (lease.kind !== 'acquired') return 'done';
    let heard: number;
    try {
      heard = await endThem(options, slots, root, lease.fence);
    } catch (error) {
      // Whoever has taken the lease over finds the cancel in the ledger.
      if (error instanceof Interruption && error.kind === 'lost') return 'done';
      throw error;
    } finally {
      await ledger.release(lease.fence).catch(() => undefined);
    }
    // Whoever saw the lease held counted on us.
    const news = await readAll(ledger, root.session, { after: heard, types: ['run.signalled', 'approval.answered'] });
    const cancels = news.filter((event) => event.event_type === 'run.signalled' && event.payload.signal === 'cancel');
    if (cancels.some((event) => event.run_id === root.run)) return 'more';
    const answered = news.some((event) => event.event_type === 'approval.answered');
    // A tree that is paused goes on when somebody has it go on, however many of its questions are answered.
    if (answered && !(await isPaused(ledger, root.run))) return 'more';
    if (cancels.length === 0) return 'done';
  }
}

const isPaused = async (ledger: Ledger, run: RunId): Promise<boolean> => (await ledger.runs({ run }))[0]?.state === 'paused';

async function endThem(options: EngineOptions, slots: Slots, { session, run: root }: Root, fence: Fence): Promise<number> {
  const past = wholePast(await readAll(options.ledger, session));
  const { events, heard } = past;
  const first = events.find((event) => event.event_type === 'session.started');
  if (first?.event_type !== 'session.started') return heard;
  const { workspace } = first.payload;
  const none = { watchers: new Set<never>(), released: () => undefined };
  const tree = buildTree(options, { session, workspace, fence, past, slots, ...none });
  for (const run of topmost(events, tree.outside, root)) {
    const node = placeInTree(tree, events, run);
    // Time in which nobody worked does not count; and the pause of those above it is not taken back.
    const resumed = { owner: options.owner, takenOver: false, heard: 0 };
    await tree.writer.write([node.journal.event('run.resumed', resumed, { actor: 'system' })]);
    await driveRun(tree, node).catch((error: unknown) => {
      // Something that it needs is missing just now: it ends when the tree is taken up.
      if (!(error instanceof Interruption)) throw error;
    });
  }
  await tree.writer.flushed();
  return tree.outside.heard();
}

/** Runs that are to end and have not, and that no other one of them ends too. */
function topmost(events: readonly LedgerEvent[], outside: FromOutside, root: RunId): readonly RunId[] {
  const parents = new Map<string, string | undefined>();
  const ended = new Set<string>();
  for (const event of events) {
    if (event.event_type === 'run.started') parents.set(event.run_id, parentRun(event.payload));
    if (event.event_type === 'run.ended') ended.add(event.run_id);
    if (event.event_type === 'run.reopened') ended.delete(event.run_id);
  }
  const isToEnd = (run: string): boolean => run !== root && !ended.has(run) && outside.cancelled(run as RunId) !== undefined;
  const below = (run: string): boolean => {
    for (let up = parents.get(run); up !== undefined; up = parents.get(up)) if (isToEnd(up)) return true;
    return false;
  };
  return [...parents.keys()].filter((run) => isToEnd(run) && !below(run)) as RunId[];
}
