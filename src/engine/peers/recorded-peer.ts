/**
 * An agent that lives elsewhere, in the place of a model: each turn is an exchange with it. Before a message goes out its intent
 * is on the disk, and the task that it became there is committed as soon as it is named. So whoever takes the run up goes on with
 * that task; where nobody knows whether a message was taken, and it must not be taken twice, a person is asked.
 */
import { sleep } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import type { LoopModel, TurnOutcome, TurnRequest } from '../../loop/port.ts';
import type { PeerCall } from '../../peers/port.ts';
import { noBudget, recordedOutcome, settleDoubt, TURN_CANCELLED } from '../calls/turn-records.ts';
import type { AgentSetup } from '../record/agent-setup.ts';
import type { DrivenRun } from '../record/driven-run.ts';
import type { StepIndex } from '../record/step-index.ts';
import { createAttempts } from '../spending/attempts.ts';
import { limitingScopes } from '../spending/budget.ts';
import { endedForUs, endThere } from './ending.ts';
import { noteLast, type Tried } from './last-known.ts';
import { openPeer } from './open-peer.ts';
import { cameBack, failed, leftOpen } from './outcome.ts';
import { intend, mayRepeat, outgoing, unsent } from './outgoing.ts';
import { createPeerTasks } from './peer-tasks.ts';
import { type AsksPeers, PASSING, type PeerExchange, type PeerRecorder, peerModel } from './recorder.ts';

export interface RecordedPeer extends LoopModel {
  /** The run is to end: its task there ends, too. */
  leave(): Promise<void>;
  /** Its task may be at work there, without anybody who waits for it. */
  isLeft(): boolean;
}

export function recordedPeer(tree: AsksPeers, node: DrivenRun, setup: AgentSetup, stepIndex: StepIndex): RecordedPeer {
  const recorder: PeerRecorder = { tree, node, setup, stepIndex, tasks: createPeerTasks(node.journal.past, node.run) };
  return {
    begun: (turn) => node.journal.recorded('model.request', `turn/${turn}/model`) !== undefined,
    async ask(request) {
      const step = `turn/${request.turn}/model`;
      return (await recordedOutcome(recorder, step, request)) ?? (await exchange(recorder, step, request));
    },
    leave: () => endThere(recorder),
    isLeft: recorder.tasks.isLeft,
  };
}

async function exchange(recorder: PeerRecorder, step: string, request: TurnRequest): Promise<TurnOutcome> {
  const { tree, node } = recorder;
  tree.checkpoint(node);
  settleDoubt(recorder, step);
  if (node.abort.signal.aborted) return cutOff(recorder, { step });
  const exhausted = tree.spending.exhausted(node);
  if (exhausted !== undefined) return noBudget(exhausted);
  const startedAt = tree.clock.elapsed();
  const attempts = createAttempts(tree, node, step, limitingScopes(node.scopes));
  recorder.attempts = attempts;
  try {
    return await persist(recorder, { step, request, attempts, startedAt, announced: false });
  } finally {
    attempts.done();
  }
}

/** Until it is known what came of it: again after what passes, and never in a way that could begin it twice. */
async function persist(recorder: PeerRecorder, at: PeerExchange): Promise<TurnOutcome> {
  const { tree, node, tasks } = recorder;
  for (let attempt = 1; ; attempt += 1) {
    const pause = pauseDuring(recorder, at.step);
    const outcome = await next(recorder, at, pause).finally(pause.over);
    tree.checkpoint(node);
    if ('done' in outcome) return outcome.done;
    const { came } = outcome;
    if (came.kind === 'stopped' || node.abort.signal.aborted) return cutOff(recorder, at, came);
    if (came.kind === 'ended' && endedForUs(recorder, at.step, came)) continue;
    if (came.kind !== 'failed' && came.kind !== 'closed') return cameBack(recorder, at, came, attempt);
    const { failure } = came;
    at.trouble = failure;
    const taken = came.kind === 'closed' ? undefined : came.taken;
    if (taken === 'no') unsent(recorder, at.step, failure);
    const mayPass = taken === 'perhaps' || (taken !== 'yes' && PASSING.has(failure.kind));
    if (!mayPass || attempt >= limits.peerAttempts)
      return await failed(recorder, at.step, at.request, failure, attempt, at.attempts);
    const nextInMs = Math.min(limits.peerRetryMs * 2 ** (attempt - 1), limits.peerRetryMaxMs);
    const error = { ...failure, peer: true, ...(tasks.of(at.step).kind === 'unsent' ? { unsent: true } : {}) };
    const payload = { turn: at.request.turn, model: peerModel(recorder), attempt, error, final: false, nextInMs };
    const event = node.journal.event('model.failed', payload, { step: at.step });
    const { events, options } = at.attempts.failed(error);
    tree.writer.enqueue([event, ...events], options);
    await tree.atWork.during(() => sleep(tree.clock, nextInMs, node.abort.signal));
    tree.checkpoint(node);
    if (node.abort.signal.aborted) return cutOff(recorder, at);
  }
}

/** The run is to end before it is known what came of it. */
function cutOff(recorder: PeerRecorder, at: Pick<PeerExchange, 'step' | 'trouble'>, came?: Tried): TurnOutcome {
  noteLast(recorder, at, came);
  return TURN_CANCELLED;
}

type Next = { readonly came: Tried } | { readonly done: TurnOutcome };

/** Goes on with the task that there is, or sends; what may have been taken is looked for first. */
async function next(recorder: PeerRecorder, at: PeerExchange, pause: Pause): Promise<Next> {
  const { tree, node, tasks } = recorder;
  const { step } = at;
  const opened = await tree.atWork.during(() => openPeer(recorder, node.abort.signal));
  if (!opened.ok) return { came: { kind: 'closed', failure: opened.error } };
  const peer = opened.value;
  const standing = tasks.of(step);
  const call = callOf(recorder, at, pause);
  if (standing.kind === 'task') return { came: await tree.atWork.during(() => peer.follow(standing, call)) };
  if (standing.kind === 'doubt') {
    const found = await tree.atWork.during(() => peer.find(standing));
    if (!found.ok) return { came: { kind: 'failed', taken: 'perhaps', failure: found.error } };
    const { value: task } = found;
    if (task !== undefined) {
      await call.onTask(task);
      return { came: await tree.atWork.during(() => peer.follow(task, call)) };
    }
    if (!peer.idempotent && !(await mayRepeat(recorder, at))) return { done: await leftOpen(recorder, at) };
  }
  const message = await outgoing(recorder, at);
  const refused = await intend(recorder, at, peer, message);
  if (refused !== undefined) return { done: refused };
  return { came: await tree.atWork.during(() => peer.send(message, call)) };
}

interface Pause {
  readonly signal: AbortSignal;
  look(): void;
  over(): void;
}

/** What goes on elsewhere needs nobody here: once its task is known, a run that is to stand still leaves it. */
function pauseDuring({ tree, node, tasks }: PeerRecorder, step: string): Pause {
  const left = new AbortController();
  const done = new AbortController();
  const look = (): void => {
    if (tasks.of(step).kind !== 'task') return;
    try {
      tree.checkpoint(node);
    } catch (reason) {
      left.abort(reason);
    }
  };
  const listen = (): void => {
    const heard = (): void => {
      look();
      if (!done.signal.aborted) listen();
    };
    tree.nextNews().addEventListener('abort', heard, { once: true, signal: done.signal });
  };
  listen();
  return { signal: left.signal, look, over: () => done.abort() };
}

function callOf({ tree, node, tasks }: PeerRecorder, { step, request }: PeerExchange, pause: Pause): PeerCall {
  const show = tree.live(node, request.turn);
  return {
    signal: AbortSignal.any([node.abort.signal, pause.signal]),
    answered: tasks.answered(),
    onText: show === undefined ? undefined : (text) => show({ type: 'text', text: tree.redact(text) }),
    async onTask({ task, context }) {
      // A task that it answers again and again is committed once.
      if (tasks.of(step).kind === 'task') return;
      await tree.writer.write([node.journal.event('peer.task', { task, context }, { step, actor: 'system' })]);
      tasks.named(step, { task, context });
      pause.look();
    },
  };
}
