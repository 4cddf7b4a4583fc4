/** The steps port on the ledger: a step's outcome is an event, a child is a run in the same session. */

import { sleep } from '../../base/clock.ts';
import { TroupeError } from '../../base/errors.ts';
import type { Json } from '../../base/json.ts';
import { present } from '../../base/present.ts';
import type { Answer } from '../../events/catalogue.ts';
import { broadcastTypes } from '../../events/pattern-events.ts';
import { succeeded } from '../../events/succeeded.ts';
import type { Cause } from '../../ledger/port.ts';
import type { Handle, PatternEvent, RunResult, Steps, WaitAnswered, WaitRequest } from '../../patterns/steps.ts';
import type { HearsOutside, HearsRuns } from '../hearing/hears.ts';
import { deadlineStep, putQuestion, waitForAnswer } from '../hearing/waits.ts';
import { Interruption, joinAll } from '../interruption.ts';
import type { LedgerAccess, ReplayAccess, TimeAndIds } from '../options.ts';
import { childOf, type DrivenRun } from '../record/driven-run.ts';
import { sealedError } from '../record/read-all.ts';
import type { Remembers } from '../record/remembers.ts';
import type { Writes } from '../record/writes.ts';
import type { ChildRun, HasChildren } from '../spawning/child-run.ts';
import { firstToEnd, isEnding, leaveUntil, WORTH_LEAVING_MS, whatComesFirst } from './comes-first.ts';

type StepsTree = TimeAndIds &
  LedgerAccess &
  ReplayAccess &
  Writes &
  HearsOutside &
  HearsRuns &
  HasChildren &
  Pick<Remembers, 'activeSoFar'>;

export function ledgerSteps(tree: StepsTree, node: DrivenRun): Steps & { childrenSettled(): Promise<void> } {
  const children = new Map<string, ChildRun>();
  const used = new Set<string>();

  const child = (handle: Handle): ChildRun => {
    const found = children.get(handle.key);
    if (found === undefined) throw new TroupeError('bug', `No child was started under the key ${handle.key}.`);
    return found;
  };
  const resultOf = (handle: Handle): Promise<RunResult> => child(handle).result;
  const claimKey = (key: string): void => {
    if (used.has(key)) throw new TroupeError('bug', `The step key ${key} is used twice in one run.`);
    used.add(key);
  };
  const once = async <Value extends Json>(key: string, effect: () => Promise<Value>): Promise<Value> => {
    claimKey(key);
    return await recordedValue(tree, node, key, effect);
  };
  const joins = createJoins(node);
  const settled = async (handles: readonly Handle[]): Promise<RunResult[]> => {
    const results = await joinAll(handles.map(resultOf));
    joins.note(handles.map((handle) => [handle.key, child(handle)]));
    return results;
  };

  return {
    /** A run is left only when nothing below it is under way any more. */
    async childrenSettled() {
      await Promise.allSettled([...children.values()].map(({ result }) => result));
    },
    step: (key, effect) => once(key, () => effect({ signal: node.abort.signal, idempotencyKey: `${node.run}/${key}` })),
    async start(key, agent, input, as) {
      claimKey(key);
      tree.checkpoint(node);
      children.set(key, await tree.child(node, { key, agent, input, as }));
      return { key };
    },
    settled,
    async collect(key, handles, timeoutMs) {
      claimKey(key);
      const inTime = await foundOnce(tree, node, key, () => whoIsInTime(tree, node, key, handles.map(resultOf), timeoutMs));
      const answered = await settled(inTime.map((index) => handles[index] as Handle));
      return handles.map((_handle, index) => answered[inTime.indexOf(index)]);
    },
    async next(key, handles, { waits = [], until } = {}) {
      claimKey(key);
      const came = await foundOnce(tree, node, key, () => whatComesFirst(tree, node, handles.map(resultOf), waits, until));
      const ended = came.filter((index) => index < handles.length);
      const results = await settled(ended.map((index) => handles[index] as Handle));
      const answered = came.slice(ended.length).map((place) => answerAt(tree, node, waits, place - handles.length));
      return { ended: ended.map((index, position) => ({ index, result: results[position] as RunResult })), answered };
    },
    worked: (key, handle) => once(key, async () => tree.activeSoFar(childOf(node, handle.key))),
    async all(handles) {
      const results = await settled(handles);
      const failed = results.findIndex((result) => !succeeded(result));
      const result = results[failed];
      if (result === undefined) return results;
      throw new TroupeError('child_failed', `${handles[failed]?.key}: ${result.error?.message ?? result.status}`);
    },
    async race(key, handles) {
      claimKey(key);
      const index = await foundOnce(tree, node, key, () => firstToEnd(handles.map(resultOf)));
      for (const handle of handles.filter((_one, position) => position !== index))
        child(handle).cancel('another branch was faster');
      const results = await settled(handles);
      return { index, result: results[index] as RunResult };
    },
    stop: async (handle, reason) => child(handle).cancel(reason),
    ask: (key, request) => putUnlessOver(tree, node, key, request),
    wait: (key, request) => waitWithTimeout(tree, node, key, request),
    async sleep(key, delayMs) {
      claimKey(key);
      const until = await recordedValue(tree, node, key, async () => tree.clock.now() + delayMs);
      await letTimePass(tree, until, node.abort.signal);
      tree.checkpoint(node);
    },
    now: (key) => once(key, async () => tree.clock.now()),
    nonce: (key) => once(key, async () => tree.ids.nonce()),
    async emit(key, event) {
      claimKey(key);
      await emitOnce(tree, node, key, event, joins.endOf(key));
    },
    async broadcast(key, said) {
      claimKey(key);
      await broadcastOnce(tree, node, key, said, joins.endOf(key));
    },
  };
}

function answerAt({ outside }: HearsOutside, { run }: DrivenRun, waits: readonly string[], index: number): WaitAnswered {
  return { index, answer: outside.answer(run, waits[index] as string) as Answer };
}

async function putUnlessOver(
  tree: TimeAndIds & LedgerAccess & Writes & HearsOutside,
  node: DrivenRun,
  key: string,
  { question }: Pick<WaitRequest, 'question'>,
): Promise<void> {
  if (!isEnding(node)) await putQuestion(tree, node, key, { kind: 'question', payload: { question } });
}

/** How the children that were joined last ended. What the run does next follows from the last of them. */
function createJoins(node: DrivenRun) {
  let ends: { readonly key: string; readonly cause: Cause }[] = [];
  return {
    note(children: readonly (readonly [key: string, child: ChildRun])[]): void {
      ends = [];
      for (const [key, child] of children) {
        const cause = child.ended();
        if (cause === undefined) continue;
        ends.push({ key, cause });
        node.journal.follow(cause);
      }
    },
    /** An event whose key lies below a child's is about that child. */
    endOf: (key: string): Cause | undefined => ends.find((end) => key.startsWith(`${end.key}/`))?.cause,
  };
}

async function recordedValue<Value extends Json>(
  tree: Writes & HearsOutside & ReplayAccess,
  node: DrivenRun,
  key: string,
  effect: () => Promise<Value>,
): Promise<Value> {
  const known = node.journal.recorded('step.recorded', key);
  if (known?.inexact !== undefined) throw new Interruption('interrupted', sealedError(`The step ${key}`, known.inexact).message);
  if (known !== undefined) tree.replay?.again(node.run, 'step.recorded', key, {});
  await tree.replay?.due(node.run, node.abort.signal);
  if (known !== undefined) return known.payload.value as Value;
  tree.checkpoint(node);
  const value = await tree.atWork.during(effect);
  await write(tree, node, key, value);
  return value;
}

/** What is found out about children counts for ever. */
async function foundOnce<Found extends Json>(
  tree: Writes & ReplayAccess,
  node: DrivenRun,
  key: string,
  find: () => Promise<Found>,
): Promise<Found> {
  const known = node.journal.recorded('step.recorded', key)?.payload.value as Found | undefined;
  if (known !== undefined) tree.replay?.again(node.run, 'step.recorded', key, {});
  await tree.replay?.due(node.run, node.abort.signal);
  if (known !== undefined) return known;
  const found = await find();
  await write(tree, node, key, found);
  return found;
}

async function write(tree: Writes, node: DrivenRun, key: string, value: Json): Promise<void> {
  await tree.writer.write([node.journal.event('step.recorded', { value }, { step: key, actor: 'system' })]);
}

async function emitOnce(
  tree: Writes & ReplayAccess,
  node: DrivenRun,
  key: string,
  { type, payload, aside }: PatternEvent,
  cause: Cause | undefined,
): Promise<void> {
  if (node.journal.recorded(type, key) !== undefined) return tree.replay?.again(node.run, type, key, payload);
  await tree.replay?.due(node.run, node.abort.signal);
  tree.checkpoint(node);
  tree.writer.enqueue([node.journal.event(type, payload, { step: key, aside: aside === true, ...present({ cause }) })]);
}

/** It is heard only once it is durable. That somebody failed is told to those who hear it; nothing else follows from it. */
async function broadcastOnce(
  tree: TimeAndIds & Writes & HearsRuns & ReplayAccess,
  node: DrivenRun,
  key: string,
  said: Parameters<Steps['broadcast']>[1],
  cause: Cause | undefined,
): Promise<void> {
  const [type] = broadcastTypes;
  if (node.journal.recorded(type, key) !== undefined) return tree.replay?.again(node.run, type, key, said);
  await tree.replay?.due(node.run, node.abort.signal);
  tree.checkpoint(node);
  const payload = { ...said, timestamp: new Date(tree.clock.now()).toISOString() };
  const options = { step: key, aside: said.type === 'failure', ...present({ cause }) };
  await tree.writer.write([node.journal.event(type, payload, options)]);
  tree.broadcasts.publish({ run: node.run, step: key, payload });
}

async function letTimePass(tree: TimeAndIds & HearsOutside & HasChildren, until: number, signal: AbortSignal): Promise<void> {
  const left = until - tree.clock.now();
  if (tree.elsewhere !== undefined && left > WORTH_LEAVING_MS) leaveUntil(tree.elsewhere, until);
  await tree.atWork.during(() => sleep(tree.clock, left, signal));
}

async function waitWithTimeout(
  tree: TimeAndIds & LedgerAccess & ReplayAccess & Writes & HearsOutside & HasChildren,
  node: DrivenRun,
  key: string,
  request: WaitRequest,
): Promise<Answer | undefined> {
  const { question, choices, timeoutMs, round } = request;
  const payload = { question, ...present({ choices: choices && [...choices], round }) };
  const ask = (otherwise: 'wait' | 'stop'): Promise<Answer> =>
    waitForAnswer(tree, node, key, { kind: 'question', payload }, { otherwise });
  if (timeoutMs === undefined) return await unlessOver(tree, node, key, () => ask('wait'));
  const timedOut = `${key}/timeout`;
  if (node.journal.recorded('step.recorded', timedOut) !== undefined) {
    for (const step of [timedOut, deadlineStep(key)]) tree.replay?.again(node.run, 'step.recorded', step, {});
    return undefined;
  }
  const deadline = await recordedValue(tree, node, deadlineStep(key), async () => tree.clock.now() + timeoutMs);
  return (await untilDeadline(tree, node, deadline, () => ask('stop'))) ?? (await expire(tree, node, key, timedOut));
}

/** Whoever is to end waits for nobody: it goes on without an answer, to its end. */
async function unlessOver(
  tree: HearsOutside,
  node: DrivenRun,
  wait: string,
  ask: () => Promise<Answer>,
): Promise<Answer | undefined> {
  if (isEnding(node)) return tree.outside.answer(node.run, wait);
  try {
    return await ask();
  } catch (error) {
    if (error instanceof Interruption && error.kind === 'waiting' && isEnding(node)) return undefined;
    throw error;
  }
}

/**
 * The time-out and an answer never pass each other: it is refused while something has not been heard, which may be the answer,
 * and whoever answers after it is told that it was too late.
 */
async function expire(tree: Writes & HearsOutside, node: DrivenRun, wait: string, timedOut: string): Promise<Answer | undefined> {
  for (;;) {
    const answered = tree.outside.answer(node.run, wait);
    if (answered !== undefined) return answered;
    const takeBack = node.journal.mark();
    const events = [
      node.journal.event('approval.answered', { wait, answer: { kind: 'expired' } }, { step: wait, actor: 'system' }),
      node.journal.event('step.recorded', { value: null }, { step: timedOut, actor: 'system' }),
    ];
    const stored = await tree.writer.writeIfHeard(events, { heard: tree.outside.heard(), sync: 'power' });
    if (!('kind' in stored)) return undefined;
    takeBack();
    await tree.refresh();
  }
}

/** The positions of the children that end within the time. One that stops because it cannot go on is passed on, as ever. */
async function whoIsInTime(
  tree: TimeAndIds & ReplayAccess & Writes & HearsOutside & HasChildren,
  node: DrivenRun,
  key: string,
  results: readonly Promise<RunResult>[],
  timeoutMs: number,
): Promise<number[]> {
  const ended = new Set<number>();
  for (const [index, result] of results.entries()) result.then(() => ended.add(index)).catch(() => undefined);
  const { elsewhere, clock } = tree;
  if (elsewhere !== undefined) {
    const deadline = await recordedValue(tree, node, deadlineStep(key), async () => clock.now() + timeoutMs);
    const stopped = await joinAll(results).then(
      () => undefined,
      (error: unknown) => error,
    );
    if (stopped !== undefined && (!(stopped instanceof Interruption) || stopped.kind !== 'waiting')) throw stopped;
    if (stopped !== undefined && clock.now() < deadline) leaveUntil(elsewhere, deadline);
  } else {
    const done = new AbortController();
    const all = joinAll(results).finally(() => done.abort());
    const over = sleep(clock, timeoutMs, AbortSignal.any([done.signal, node.abort.signal]));
    await Promise.race([all, over]);
    // What is cancelled comes to its end by itself.
    if (done.signal.aborted || node.abort.signal.aborted) await all;
    else all.catch(() => undefined);
  }
  return [...ended].sort((left, right) => left - right);
}

/** Somebody has to fire the timer, so the run stays driven until the answer or the deadline comes. */
async function untilDeadline(
  tree: TimeAndIds & LedgerAccess & Writes & HearsOutside & HasChildren,
  node: DrivenRun,
  deadline: number,
  ask: () => Promise<Answer>,
): Promise<Answer | undefined> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof Interruption) || error.kind !== 'waiting') throw error;
    }
    const left = deadline - tree.clock.now();
    if (left <= 0 || node.abort.signal.aborted) return undefined;
    if (tree.elsewhere !== undefined) leaveUntil(tree.elsewhere, deadline);
    await tree.atWork.during(() => tree.news(left, node.abort.signal));
    tree.checkpoint(node);
  }
}
