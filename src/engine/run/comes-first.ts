/** What a run that waits for several things goes on with: a child that has ended, a question that was answered, or a time. */
import { sleep } from '../../base/clock.ts';
import { TroupeError } from '../../base/errors.ts';
import type { RunResult } from '../../patterns/steps.ts';
import { isToEnd } from '../hearing/go-on-or-end.ts';
import type { HearsOutside } from '../hearing/hears.ts';
import { aborted } from '../hearing/waits.ts';
import { Interruption, joinAll } from '../interruption.ts';
import type { TimeAndIds } from '../options.ts';
import type { DrivenRun } from '../record/driven-run.ts';
import type { Writes } from '../record/writes.ts';
import type { Elsewhere, HasChildren } from '../spawning/child-run.ts';

type Tree = TimeAndIds & Writes & HearsOutside & HasChildren;

/** Short of this, waiting costs less than leaving the run and coming back. */
export const WORTH_LEAVING_MS = 1_000;

/** Where an engine keeps the timers, a run that waits for one is left. */
export function leaveUntil(elsewhere: Elsewhere, time: number): never {
  elsewhere.wakeAt(time);
  throw new Interruption('waiting', 'waiting for a timer');
}

/** Whether it comes to its end, and is not only left. */
export const isEnding = ({ abort: { signal } }: DrivenRun): boolean => signal.aborted && !(signal.reason instanceof Interruption);

/** A branch that is interrupted cannot win, but the others still can; when none can, the interruption is passed on. */
export async function firstToEnd(branches: readonly Promise<RunResult>[]): Promise<number> {
  try {
    return await Promise.any(branches.map((branch, index) => branch.then(() => index)));
  } catch {
    await joinAll(branches);
    throw new TroupeError('bug', 'A race without a winner.');
  }
}

/** The positions of all that have ended when the first one has. */
async function whoHasEnded(branches: readonly Promise<RunResult>[]): Promise<number[]> {
  const ended = new Set<number>();
  for (const [index, branch] of branches.entries()) branch.then(() => ended.add(index)).catch(() => undefined);
  ended.add(await firstToEnd(branches));
  return [...ended].sort((left, right) => left - right);
}

/**
 * The positions of all that have come when the first one has: of the children, then of the questions. None when the time is over:
 * what has come by then is told the next time.
 */
export async function whatComesFirst(
  tree: Tree,
  node: DrivenRun,
  branches: readonly Promise<RunResult>[],
  waits: readonly string[],
  until: number | undefined,
): Promise<number[]> {
  if (waits.length === 0 && until === undefined) return await whoHasEnded(branches);
  const blocked = waits.map((wait) => ({ node, wait }));
  for (const one of blocked) tree.blockedOn.add(one);
  const done = new AbortController();
  try {
    const came = await tree.withoutSlot(node, () => untilOneComes(tree, node, branches, waits, { until, done: done.signal }));
    for (const one of blocked) tree.blockedOn.delete(one);
    return came;
  } finally {
    done.abort();
  }
}

async function untilOneComes(
  tree: Tree,
  node: DrivenRun,
  branches: readonly Promise<RunResult>[],
  waits: readonly string[],
  { until, done }: { readonly until: number | undefined; readonly done: AbortSignal },
): Promise<number[]> {
  const { signal } = node.abort;
  const ended = new Set<number>();
  for (const [index, branch] of branches.entries()) branch.then(() => ended.add(index)).catch(() => undefined);
  const first = Promise.any(branches).then(
    () => false,
    () => new Promise<never>(() => undefined),
  );
  const settled = Promise.allSettled(branches);
  const timer = localTimer(tree, until, AbortSignal.any([done, signal]));
  for (let resting = false; ; ) {
    const news = AbortSignal.any([tree.nextNews(), signal]);
    tree.checkpoint(node);
    if (until !== undefined && tree.clock.now() >= until) return [];
    const came = [...ended].sort((left, right) => left - right);
    for (const [index, wait] of waits.entries())
      if (tree.outside.answer(node.run, wait) !== undefined) came.push(branches.length + index);
    if (came.length > 0) return came;
    // What is cancelled comes to its end by itself.
    if (isEnding(node)) return branches.length === 0 ? [] : await whoHasEnded(branches);
    if (resting || signal.aborted || isToEnd(tree, node)) {
      await joinAll(branches);
      if (until !== undefined && tree.elsewhere !== undefined) leaveUntil(tree.elsewhere, until);
      throw new Interruption('waiting', 'waiting for an answer');
    }
    const rest = tree.atWork.rest().then(async () => {
      await settled;
      return true;
    });
    resting = await Promise.race([first, rest, aborted(news), timer]);
  }
}

/** Resolves when the time has come, if it is waited for here. */
async function localTimer({ atWork, clock, elsewhere }: Tree, until: number | undefined, stop: AbortSignal): Promise<false> {
  const left = until === undefined ? undefined : until - clock.now();
  if (left === undefined || (elsewhere !== undefined && left > WORTH_LEAVING_MS)) return await new Promise(() => undefined);
  await atWork.during(() => sleep(clock, left, stop));
  return false;
}
