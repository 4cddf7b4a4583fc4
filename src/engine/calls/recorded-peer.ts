/**
 * An agent that lives elsewhere, in the place of a model: each turn is an exchange with it. Before a message goes out its intent
 * is on the disk, and the task that it became there is committed as soon as it is named. So whoever takes the run up goes on with
 * that task; where nobody knows whether a message was taken, and it must not be taken twice, a person is asked.
 */
import { sleep } from '../../base/clock.ts';
import type { RunId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import type { Result } from '../../base/result.ts';
import type { AssistantMessage, ImagePart, Message, TextPart } from '../../events/messages.ts';
import type { NewEvent } from '../../ledger/port.ts';
import type { LoopModel, TurnOutcome, TurnRequest } from '../../loop/port.ts';
import type { PeerCall, PeerFailure, PeerMessage, PeerOutcome, PeerTask, RemotePeer, SentBefore } from '../../peers/port.ts';
import type { HearsOutside, HearsRuns } from '../hearing/hears.ts';
import { waitForAnswer } from '../hearing/waits.ts';
import type { LedgerAccess, ModelAccess, PeerAccess, TimeAndIds } from '../options.ts';
import type { AgentSetup } from '../record/agent-setup.ts';
import type { DrivenRun } from '../record/driven-run.ts';
import type { StepIndex } from '../record/step-index.ts';
import type { Writes } from '../record/writes.ts';
import { type Attempts, createAttempts } from '../spending/attempts.ts';
import { limitingScopes } from '../spending/budget.ts';
import type { Spends } from '../spending/spending.ts';
import { createPeerTasks, type PeerTasks } from './peer-tasks.ts';
import type { ShowsLive } from './recorded-model.ts';
import { announceTurn, noBudget, recordedOutcome, settleDoubt, TURN_CANCELLED, type TurnRecorder } from './turn-records.ts';

/** What asking such an agent takes. */
export type AsksPeers = TimeAndIds &
  LedgerAccess &
  ModelAccess &
  PeerAccess &
  Writes &
  HearsOutside &
  HearsRuns &
  Spends &
  ShowsLive;

interface Recorder extends TurnRecorder {
  readonly tree: AsksPeers;
  readonly tasks: PeerTasks;
}

interface Exchange {
  readonly step: string;
  readonly request: TurnRequest;
  readonly attempts: Attempts;
  readonly startedAt: number;
  /** Whether its request was written in this life. */
  announced: boolean;
}

export interface RecordedPeer extends LoopModel {
  /** The run is to end: its task there ends, too. */
  leave(): Promise<void>;
}

export const ASK = 'ask';

export function recordedPeer(tree: AsksPeers, node: DrivenRun, setup: AgentSetup, stepIndex: StepIndex): RecordedPeer {
  const recorder: Recorder = { tree, node, setup, stepIndex, tasks: createPeerTasks(node.journal.past, node.run) };
  return {
    begun: (turn) => node.journal.recorded('model.request', `turn/${turn}/model`) !== undefined,
    async ask(request) {
      const step = `turn/${request.turn}/model`;
      return recordedOutcome(recorder, step) ?? (await exchange(recorder, step, request));
    },
    leave: () => endThere(recorder),
  };
}

async function exchange(recorder: Recorder, step: string, request: TurnRequest): Promise<TurnOutcome> {
  const { tree, node } = recorder;
  tree.checkpoint(node);
  settleDoubt(recorder, step);
  if (node.abort.signal.aborted) return TURN_CANCELLED;
  const exhausted = tree.spending.exhausted(node);
  if (exhausted !== undefined) return noBudget(exhausted);
  const startedAt = tree.clock.elapsed();
  const attempts = createAttempts(tree, node, step, limitingScopes(node.scopes));
  try {
    return await persist(recorder, { step, request, attempts, startedAt, announced: false });
  } finally {
    attempts.done();
  }
}

async function openPeer({ tree, node, setup }: Recorder): ReturnType<NonNullable<PeerAccess['peers']>['open']> {
  const { remote } = setup.definition;
  if (tree.peers === undefined || remote === undefined)
    return { ok: false, error: { kind: 'refused', message: 'Agents that live elsewhere cannot be asked here.' } };
  return await tree.peers.open(remote, node.abort.signal);
}

/** Until it is known what came of it: again after what passes, and never in a way that could begin it twice. */
async function persist(recorder: Recorder, at: Exchange): Promise<TurnOutcome> {
  const { tree, node, tasks } = recorder;
  for (let attempt = 1; ; attempt += 1) {
    const pause = pauseDuring(recorder, at.step);
    const outcome = await next(recorder, at, pause).finally(pause.over);
    tree.checkpoint(node);
    if ('done' in outcome) return outcome.done;
    const { came } = outcome;
    if (came.kind === 'stopped' || node.abort.signal.aborted) return TURN_CANCELLED;
    if (came.kind !== 'failed' && came.kind !== 'closed') return record(recorder, at, came, attempt);
    const { failure } = came;
    const taken = came.kind === 'closed' ? undefined : came.taken;
    if (taken === 'no') unsent(recorder, at.step, failure);
    const mayPass = taken === 'perhaps' || (taken !== 'yes' && PASSING.has(failure.kind));
    if (!mayPass || attempt >= limits.peerAttempts)
      return await failed(recorder, at.step, at.request, failure, attempt, at.attempts);
    const nextInMs = Math.min(limits.peerRetryMs * 2 ** (attempt - 1), limits.peerRetryMaxMs);
    const error = { ...failure, peer: true, ...(tasks.of(at.step).kind === 'unsent' ? { unsent: true } : {}) };
    const payload = { turn: at.request.turn, model: modelOf(recorder), attempt, error, final: false, nextInMs };
    const event = node.journal.event('model.failed', payload, { step: at.step });
    const { events, options } = at.attempts.failed(error);
    tree.writer.enqueue([event, ...events], options);
    await tree.atWork.during(() => sleep(tree.clock, nextInMs, node.abort.signal));
    tree.checkpoint(node);
    if (node.abort.signal.aborted) return TURN_CANCELLED;
  }
}

/** What may be over the next time. */
const PASSING: ReadonlySet<PeerFailure['kind']> = new Set(['network', 'timeout', 'overloaded', 'rate_limited', 'bad_response']);

/** `closed`: it was not even asked, as there is no way to it. */
type Tried = PeerOutcome | { readonly kind: 'closed'; readonly failure: PeerFailure };
type Next = { readonly came: Tried } | { readonly done: TurnOutcome };

/** Goes on with the task that there is, or sends; what may have been taken is looked for first. */
async function next(recorder: Recorder, at: Exchange, pause: Pause): Promise<Next> {
  const { tree, tasks } = recorder;
  const { step } = at;
  const opened = await tree.atWork.during(() => openPeer(recorder));
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
    if (!peer.idempotent && !(await mayRepeat(recorder, step))) return { done: await leftOpen(recorder, at) };
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
function pauseDuring({ tree, node, tasks }: Recorder, step: string): Pause {
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

function callOf({ tree, node, tasks }: Recorder, { step, request }: Exchange, pause: Pause): PeerCall {
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

/** The message with everything that is new, to the task that waits for it or as the beginning of another. */
async function outgoing({ tree, node, tasks }: Recorder, { step, request }: Exchange): Promise<PeerMessage> {
  const waiting = tasks.waiting();
  const context = tasks.context() ?? (await contextBefore(tree, node.started.continues)) ?? node.run;
  const parts = request.messages.slice(request.newFrom).flatMap(partsOf);
  return {
    id: messageId(node.run, step, tasks.ended(step)),
    context,
    parts,
    ...(waiting === undefined ? {} : { task: waiting.task, unlessMoved: waiting.needs === 'auth' }),
  };
}

const messageId = (run: RunId, step: string, again: number): string =>
  `${run}-${step.replaceAll('/', '-')}${again === 0 ? '' : `-again-${again}`}`;

/** The conversation that this run goes on with, in the words of the peer. */
async function contextBefore(
  { ledger, session, writer }: LedgerAccess & Writes,
  run: string | undefined,
): Promise<string | undefined> {
  if (run === undefined) return undefined;
  // It may have happened in this very life: the ledger knows both.
  await writer.flushed();
  const types = ['peer.sent', 'peer.task', 'peer.state'] as const;
  const [latest] = await ledger.read({ session, run: run as RunId, types: [...types], newest: true, limit: 1 });
  return latest !== undefined && 'context' in latest.payload ? String(latest.payload.context) : undefined;
}

function partsOf(message: Message): readonly (TextPart | ImagePart)[] {
  if (message.role === 'user') return message.content;
  if (message.role === 'tool') return message.content.flatMap(({ content }) => content);
  return [];
}

/** The request and its reservation are committed, then the intent is on the disk: everything before it is, too. */
async function intend(
  recorder: Recorder,
  at: Exchange,
  peer: RemotePeer,
  { id, context, task }: PeerMessage,
): Promise<TurnOutcome | undefined> {
  const { tree, node, tasks } = recorder;
  const { step, request, attempts } = at;
  // What it costs is known when it says so; until then it is one call.
  const worst = { model: modelOf(recorder), inputTokens: 0, outputTokens: 0, amounts: { calls: 1, tokens: 0 } };
  const refused = await announceTurn(recorder, step, request, !at.announced, attempts, worst);
  at.announced = true;
  if (refused !== undefined) return refused.kind === 'refused' ? noBudget(refused) : TURN_CANCELLED;
  const payload = { message: id, context, ...present({ task }), address: tree.redact(peer.address), card: peer.card };
  await tree.writer.write([node.journal.event('peer.sent', payload, { step, actor: 'system' })], { sync: 'power' });
  tasks.sent(step, payload);
  return undefined;
}

function unsent({ tree, node, tasks }: Recorder, step: string, { message: why }: PeerFailure): void {
  const sent = tasks.of(step);
  if (sent.kind !== 'doubt') return;
  tree.writer.enqueue([node.journal.event('peer.unsent', { message: sent.message, why }, { step, actor: 'system' })]);
  tasks.unsent(step);
}

/** Whether a message that may have been taken is sent again: only when somebody, asked, says so. */
async function mayRepeat({ tree, node, setup, tasks }: Recorder, step: string): Promise<boolean> {
  const { name } = setup.definition;
  const times = tasks.times(step);
  const answer = await waitForAnswer(tree, node, times < 2 ? `${step}/doubt` : `${step}/doubt/${times}`, {
    kind: 'question',
    payload: {
      question:
        `The connection to ${name} was lost when a message had been sent, and nobody knows whether it was taken. ` +
        'Sent again, the work may be done twice. Send it again?',
      choices: ['again', 'leave it'],
    },
  });
  return answer.kind === 'approved' || (answer.kind === 'text' && answer.text.trim() === 'again');
}

async function leftOpen(recorder: Recorder, { step, request, attempts }: Exchange): Promise<TurnOutcome> {
  const message = 'It is not known whether the message was taken, and it was not sent again.';
  return await failed(recorder, step, request, { kind: 'refused', message }, 1, attempts);
}

async function failed(
  recorder: Recorder,
  step: string,
  { turn }: TurnRequest,
  failure: PeerFailure,
  attempt: number,
  attempts?: Attempts,
  before: readonly NewEvent[] = [],
): Promise<TurnOutcome> {
  const { tree, node, setup } = recorder;
  if (node.abort.signal.aborted) return TURN_CANCELLED;
  const error = { ...failure, message: tree.redact(`${setup.definition.name}: ${failure.message}`), peer: true };
  const payload = { turn, model: modelOf(recorder), attempt, error, final: true };
  const event = node.journal.event('model.failed', payload, { step });
  const { events, options } = attempts?.failed(error) ?? { events: [], options: {} };
  await tree.writer.write([...before, event, ...events], options);
  return { kind: 'failed', error };
}

const modelOf = ({ setup }: Recorder): string => setup.definition.models[0] ?? setup.definition.name;

type Came = Exclude<PeerOutcome, { readonly kind: 'failed' | 'stopped' }>;

/** What came, what it made and how it stands: all of it in one append. */
async function record(recorder: Recorder, at: Exchange, came: Came, attempt: number): Promise<TurnOutcome> {
  const { tree, node, tasks, stepIndex } = recorder;
  const { step, request, attempts } = at;
  const made = came.artifacts.map(({ content, ...artifact }) =>
    node.journal.event('peer.artifact', artifact, { step, actor: 'system', attachment: tree.redact(content) }),
  );
  const artifacts = came.artifacts.map(({ content: _content, encoding: _encoding, ...artifact }) => present(artifact));
  const state = stateOf(came);
  const stood = {
    state,
    context: came.context,
    ...present({ task: came.task, artifacts: artifacts.length > 0 ? artifacts : undefined, leftOut: came.leftOut }),
    ...(came.kind === 'asks' ? present({ asked: came.mark }) : {}),
  };
  const events = [...made, node.journal.event('peer.state', stood, { step, actor: 'system' })];
  tasks.stood(step, stood);
  if (came.kind === 'ended') {
    const why = came.message === '' ? 'It does not say why.' : came.message;
    const failure = { kind: 'refused' as const, message: `${ENDED[came.state]}: ${why}` };
    return await failed(recorder, step, request, failure, attempt, attempts, events);
  }
  const model = modelOf(recorder);
  const { message, finish } = said(came, request.turn, tree.redact);
  const durationMs = Math.round(tree.clock.elapsed() - at.startedAt);
  const payload = {
    turn: request.turn,
    message,
    finish,
    usage: came.usage,
    requested: model,
    served: model,
    attempts: attempt,
    durationMs,
  };
  const event = node.journal.event('model.response', payload, { step });
  const settled = attempts.answered(came.usage, undefined);
  tree.writer.enqueue([...events, event, ...settled.events], settled.options);
  stepIndex.place(message, step);
  return { kind: 'answer', answer: { message, finish, usage: came.usage, served: model } };
}

const ENDED = { failed: 'it failed', rejected: 'it refused', canceled: 'it was cancelled there' } as const;

function stateOf(came: Came): 'completed' | 'failed' | 'rejected' | 'canceled' | 'input-required' | 'auth-required' {
  if (came.kind === 'answer') return 'completed';
  if (came.kind === 'ended') return came.state;
  return came.needs === 'input' ? 'input-required' : 'auth-required';
}

/** Its question is asked as an agent of our own asks one: the run waits, and the answer is the next message. */
function said(
  came: Exclude<Came, { readonly kind: 'ended' }>,
  turn: number,
  redact: (text: string) => string,
): { readonly message: AssistantMessage; readonly finish: 'stop' | 'length' | 'tool-calls' } {
  if (came.kind === 'answer') {
    const content = [{ type: 'text' as const, text: redact(came.text) }];
    return { message: { role: 'assistant', content }, finish: came.cut ? 'length' : 'stop' };
  }
  const asked = redact(came.question);
  const question = came.needs === 'input' ? asked : `It must be let in before it goes on: ${asked}`;
  const call = { type: 'tool-call' as const, id: `call_${turn}_0`, name: ASK, input: { question } };
  return { message: { role: 'assistant', content: [call] }, finish: 'tool-calls' };
}

/** Nobody waits for the task any more. A peer that cannot be reached is not waited for either. */
async function endThere(recorder: Recorder): Promise<void> {
  const { tree, node, tasks } = recorder;
  const open = tasks.open();
  if (open === undefined) return;
  const { remote } = recorder.setup.definition;
  // The run's own signal has been given by now.
  const opened = remote === undefined ? undefined : await tree.peers?.open(remote, new AbortController().signal);
  if (opened === undefined) return;
  const task = open.kind === 'task' ? open : await foundTask(opened, open);
  if (task === undefined) return;
  const outcome = opened.ok ? await opened.value.cancel(task) : opened;
  const how = outcome.ok ? { reached: true, state: outcome.value } : { reached: false, why: tree.redact(outcome.error.message) };
  // One that waits for us has given its answer: its question.
  const unanswered = tasks.of(open.step).kind === 'unsent' ? undefined : true;
  const payload = { task: task.task, ...how, ...present({ unanswered }) };
  await tree.writer.write([node.journal.event('peer.cancelled', payload, { step: open.step, actor: 'system' })]);
  tasks.cancelled(open.step);
}

async function foundTask(opened: Result<RemotePeer, PeerFailure>, sent: SentBefore): Promise<PeerTask | undefined> {
  const found = opened.ok ? await opened.value.find(sent) : undefined;
  return found?.ok === true ? found.value : undefined;
}
