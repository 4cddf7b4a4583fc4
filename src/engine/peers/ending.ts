/** The end of a task elsewhere that nobody here waits for. */
import { present } from '../../base/present.ts';
import type { Result } from '../../base/result.ts';
import type { PeerFailure, PeerOutcome, PeerTask, RemotePeer, SentBefore } from '../../peers/port.ts';
import { openPeer } from './open-peer.ts';
import { type PeerRecorder, saidCost, settledBy } from './recorder.ts';

/** Nobody waits for the task any more. A peer that cannot be reached is not waited for either. */
export async function endThere(recorder: PeerRecorder): Promise<void> {
  const { tree, node, tasks } = recorder;
  const open = tasks.open();
  if (open === undefined) return;
  if (tree.peers === undefined || recorder.setup.definition.remote === undefined) return;
  // The run's own signal has been given by now.
  const opened = await openPeer(recorder, new AbortController().signal);
  const task = open.kind === 'task' ? open : await foundTask(opened, open);
  if (task === undefined) return;
  const outcome = opened.ok ? await opened.value.cancel(task) : opened;
  const how = outcome.ok
    ? { reached: true, state: outcome.value.state }
    : { reached: false, why: tree.redact(outcome.error.message) };
  // One that waits for us has given its answer: its question.
  const isAtWork = tasks.of(open.step).kind !== 'unsent';
  // However often it is told, it is one call.
  const before = node.journal.recorded('peer.cancelled', open.step)?.payload;
  const isCounted = before?.task === task.task && before.unanswered === true;
  const unanswered = isAtWork && !isCounted ? true : undefined;
  const took = outcome.ok && unanswered === true ? outcome.value : undefined;
  const said = took === undefined ? {} : saidCost(took);
  const payload = { task: task.task, ...how, ...present({ unanswered }), ...said };
  const event = node.journal.event('peer.cancelled', payload, { step: open.step, actor: 'system' });
  const isSaid = took !== undefined && Object.keys(said).length > 0;
  const settled = isSaid ? recorder.attempts?.cost(settledBy(took)) : undefined;
  await tree.writer.write([event, ...(settled?.events ?? [])], settled?.options);
  tasks.cancelled(open.step, payload);
}

async function foundTask(opened: Result<RemotePeer, PeerFailure>, sent: SentBefore): Promise<PeerTask | undefined> {
  const found = opened.ok ? await opened.value.find(sent) : undefined;
  return found?.ok === true ? found.value : undefined;
}

/** It was told to end, did not say then that it has, and has by now: what is still wanted is begun anew. */
export function endedForUs(
  { tree, node, tasks }: PeerRecorder,
  step: string,
  { state, task }: Extract<PeerOutcome, { readonly kind: 'ended' }>,
): boolean {
  if (state !== 'canceled' || task === undefined || !tasks.isTold(task)) return false;
  const payload = { task, reached: true, state };
  tree.writer.enqueue([node.journal.event('peer.cancelled', payload, { step, actor: 'system' })]);
  tasks.cancelled(step, payload);
  return true;
}
