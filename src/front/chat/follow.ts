/**
 * A turn as it goes on, read from the ledger: what happens, the words as they come, and now and then that nothing does, until the
 * run rests. Whoever follows keeps a position and nothing else.
 */
import { limits } from '../../base/limits.ts';
import type { LivePiece } from '../../engine/port.ts';
import type { Payloads } from '../../events/catalogue.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import { readEvents } from '../../ledger/pages.ts';
import { foldRunTree, initialRunTree, type RunTree } from '../../projections/run-tree.ts';
import { foldTasks, initialTasks, type RootTask, type StandsStill, taskOfRun } from '../../projections/tasks/tasks.ts';
import type { Wait } from '../../projections/waits.ts';
import { createBell } from '../bell.ts';
import type { HeardWords } from './heard-words.ts';
import type { ChatNeeds } from './needs.ts';
import type { ChatTurn } from './turn.ts';

export type ChatNews =
  | { readonly kind: 'event'; readonly event: LedgerEvent; readonly tree: RunTree }
  | { readonly kind: 'words'; readonly piece: LivePiece }
  /** Nothing happened for a while. */
  | { readonly kind: 'quiet' };

/** How it stands when there is nothing more to show. */
export type ChatRest =
  | { readonly kind: 'ended'; readonly end: Payloads['run.ended'] }
  | { readonly kind: 'asks'; readonly waits: readonly Wait[] }
  | { readonly kind: 'still'; readonly still: StandsStill }
  /** Whoever followed has gone, or we stop. */
  | { readonly kind: 'left' };

export interface RestedTurn {
  readonly rest: ChatRest;
  readonly tree: RunTree;
}

export async function* followTurn(
  needs: ChatNeeds,
  turn: ChatTurn,
  words: HeardWords | undefined,
  signal: AbortSignal,
): AsyncGenerator<ChatNews, RestedTurn> {
  const { ledger, clock } = needs;
  const { session, run } = turn;
  words?.only(session);
  const tasks = initialTasks();
  const tree = initialRunTree();
  let position = 0;
  const bell = createBell(clock, signal, (ring) => [ledger.onNews(session, ring), words?.onMore(ring)]);
  try {
    for await (const event of readEvents(ledger, { session, root: run })) {
      if (event.position > turn.after) break;
      foldTasks(tasks, event);
      foldRunTree(tree, event);
      position = event.position;
    }
    while (!signal.aborted) {
      bell.listen();
      const page = await ledger.read({ session, root: run, after: position, limit: limits.streamReadEvents });
      for (const event of page) {
        position = event.position;
        foldTasks(tasks, event);
        yield { kind: 'event', event, tree: foldRunTree(tree, event) };
      }
      if (page.length > 0) continue;
      for (const piece of words?.take() ?? []) yield { kind: 'words', piece };
      const rest = restOf(taskOfRun(tasks, run));
      if (rest !== undefined) return { rest, tree };
      if ((await bell.heard(limits.streamHeartbeatMs)) === 'news') continue;
      await takenUp(needs, turn);
      yield { kind: 'quiet' };
    }
    return { rest: { kind: 'left' }, tree };
  } finally {
    bell.stop();
  }
}

function restOf(task: RootTask | undefined): ChatRest | undefined {
  if (task?.end !== undefined) return { kind: 'ended', end: task.end };
  if (task !== undefined && task.waits.length > 0) return { kind: 'asks', waits: task.waits };
  return task?.still === undefined ? undefined : { kind: 'still', still: task.still };
}

/** Whoever drove it may have died. */
async function takenUp({ engine, ledger }: ChatNeeds, { run }: ChatTurn): Promise<void> {
  const [row] = await ledger.runs({ run, limit: 1 });
  if (row?.state === 'running' && row.owner === null) await engine.resume(run);
}

/** Whoever asked has gone before it was done: nobody would see what it comes to. */
export async function giveUp({ engine, stopping, door }: ChatNeeds, { run }: ChatTurn, by: string): Promise<void> {
  if (stopping.aborted) return;
  await engine.cancel(run, 'whoever asked for it has gone', { by, where: door });
}

export interface StandingTurn {
  /** Nothing while it is at work. */
  readonly rest: ChatRest | undefined;
  readonly tree: RunTree;
  /** What its calls are known by. */
  readonly events: readonly LedgerEvent[];
  readonly startedAt: number;
}

const CALLS = new Set<string>(['run.started', 'model.response', 'tool.call', 'tool.result']);

/** The turn as it stands, for whoever was not there. */
export async function standingTurn({ ledger }: ChatNeeds, { session, run }: ChatTurn): Promise<StandingTurn> {
  const tasks = initialTasks();
  const tree = initialRunTree();
  const events: LedgerEvent[] = [];
  for await (const event of readEvents(ledger, { session, root: run })) {
    foldTasks(tasks, event);
    foldRunTree(tree, event);
    if (CALLS.has(event.event_type)) events.push(event);
  }
  return { rest: restOf(taskOfRun(tasks, run)), tree, events, startedAt: tree.runs.get(run)?.startedAt ?? 0 };
}
