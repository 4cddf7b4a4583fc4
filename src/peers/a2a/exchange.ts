/**
 * One exchange with a peer: the message goes out, and what comes of it is followed until nothing more comes without us. A stream
 * that ends early, breaks off or falls silent is taken up again; where that is not possible the task is asked for, with pauses
 * that grow. Whatever a peer does, this comes to an end or is stopped.
 */
import { type Message, type Part, Role, type SendMessageRequest, type StreamResponse, TaskState } from '@a2a-js/sdk';
import type { Client, RequestOptions } from '@a2a-js/sdk/client';
import { type Clock, sleep } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import type { SpokenVersion } from '../cards/port.ts';
import type { PeerCall, PeerFailure, PeerMessage, PeerOutcome, PeerTask, SentBefore } from '../port.ts';
import { confirmed } from './confirmations.ts';
import { classified, isNoTask, isNotDone, isTooMuch, STRANGE, WayFailed } from './failures.ts';
import { createTaskView, type Pieces, shortened, type TaskView } from './task-view.ts';

/** What an exchange is made with. */
export interface PeerLine {
  readonly client: Client;
  readonly clock: Clock;
  /** Whether the peer streams. */
  readonly streams: boolean;
  /** The version that its card says it speaks. */
  readonly version: SpokenVersion;
  /** Whether its streams say of a piece that it is added. */
  readonly pieces: Pieces;
  /** Go with every request. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Nobody waits any more: how it stood, or why nobody knew. */
const stopped = (view: TaskView, trouble?: PeerFailure): PeerOutcome => ({
  kind: 'stopped',
  last: trouble === undefined ? view.standing() : `the last try failed: ${shortened(trouble.message)}`,
});

export async function sendToPeer(line: PeerLine, message: PeerMessage, call: PeerCall): Promise<PeerOutcome> {
  const bytes = message.parts.reduce((sum, part) => sum + Buffer.byteLength(part.type === 'text' ? part.text : part.data), 0);
  if (bytes > limits.peerMessageBytes) return tooLong;
  const before = message.task === undefined ? undefined : { task: message.task, context: message.context };
  if (before !== undefined && message.unlessMoved === true) {
    const moved = await hasMoved(line, before, call);
    if (moved !== undefined) return moved;
  }
  const view = createTaskView(message.context, before, before && call.answered, line.pieces);
  const first = await began(line, message, view, call);
  if (first !== undefined) return first;
  return await untilSettled(line, view, call);
}

const tooLong: PeerOutcome = {
  kind: 'failed',
  taken: 'no',
  failure: {
    kind: 'invalid_request',
    message: `What is sent is longer than ${limits.peerMessageBytes} bytes (peerMessageBytes).`,
  },
};

export async function followPeer(line: PeerLine, task: PeerTask, call: PeerCall): Promise<PeerOutcome> {
  // One without a mark cannot be told from a new one.
  const answered = call.answered?.mark === undefined ? undefined : call.answered;
  return await untilSettled(line, createTaskView(task.context, task, answered, line.pieces), call);
}

/** It has not taken what was said to it: it ended before it heard us, or it still wants an answer, another or later. */
async function notTaken(line: PeerLine, task: PeerTask, why: string, call: PeerCall): Promise<PeerOutcome | undefined> {
  const view = createTaskView(task.context, task);
  const looked = await look(line, view, call.signal);
  if (looked.kind === 'stopped') return stopped(view);
  const outcome = view.outcome();
  if (outcome?.kind !== 'asks') return outcome;
  return { ...outcome, question: `${outcome.question}\n\nWhat was said last it has not taken: ${shortened(why)}` };
}

/** Somebody let it in meanwhile, and it goes on: what would be said to it is not needed. */
async function hasMoved(line: PeerLine, task: PeerTask, call: PeerCall): Promise<PeerOutcome | undefined> {
  const view = createTaskView(task.context, task);
  const looked = await look(line, view, call.signal);
  if (looked.kind === 'stopped') return stopped(view);
  if (looked.kind === 'failed') return { kind: 'failed', taken: 'no', failure: looked.failure };
  const outcome = view.outcome();
  if (outcome?.kind === 'asks' && outcome.needs === 'auth') return undefined;
  return outcome ?? (await untilSettled(line, view, call));
}

/** Sends, and reads until the stream is over. `undefined`: there is a task, and it goes on. */
async function began(line: PeerLine, message: PeerMessage, view: TaskView, call: PeerCall): Promise<PeerOutcome | undefined> {
  const request = outgoing(message, line.streams);
  const { client } = line;
  const open = (options: RequestOptions) =>
    line.streams ? client.sendMessageStream(request, options) : once(client, request, options);
  const read = await reading(line, open, view, call);
  if (call.signal.aborted) return stopped(view);
  if (call.answered?.mark === undefined) view.believe();
  const outcome = view.outcome();
  if (outcome !== undefined) return outcome;
  // With a task that there was before, only what came back says that the message has arrived.
  const isKnown = view.task() !== undefined && (message.task === undefined || read.heard);
  if (isKnown && isTooMuch(read.error)) return { kind: 'failed', taken: 'yes', failure: classified(read.error).failure };
  if (isKnown) return undefined;
  if (read.error === undefined) return { kind: 'failed', taken: 'perhaps', failure: read.strange ? strange(line) : NO_TASK };
  const { failure, taken } = classified(read.error);
  if (message.task === undefined || taken !== 'no' || failure.kind !== 'invalid_request')
    return { kind: 'failed', taken, failure };
  const stands = await notTaken(line, { task: message.task, context: message.context }, failure.message, call);
  return stands ?? { kind: 'failed', taken, failure };
}

async function* once(client: Client, request: SendMessageRequest, options: RequestOptions): AsyncGenerator<StreamResponse> {
  const came = await client.sendMessage(request, options);
  yield 'messageId' in came ? { payload: { $case: 'message', value: came } } : { payload: { $case: 'task', value: came } };
}

async function untilSettled(line: PeerLine, view: TaskView, call: PeerCall): Promise<PeerOutcome> {
  let { streams } = line;
  let failures = 0;
  let quiet = 0;
  let trouble: PeerFailure | undefined;
  const since = line.clock.elapsed();
  for (;;) {
    if (call.signal.aborted) return stopped(view, trouble);
    if (line.clock.elapsed() - since >= limits.peerSilenceMs) view.believe();
    const settled = view.outcome();
    if (settled !== undefined) return settled;
    const task = view.task();
    if (task === undefined) return { kind: 'failed', taken: 'perhaps', failure: NO_TASK };
    const looked = await look(line, view, call.signal);
    if (looked.kind === 'stopped') return stopped(view, trouble);
    if (view.outcome() !== undefined) continue;
    let failed = looked.kind === 'failed' ? looked : undefined;
    if (failed === undefined && streams) {
      const read = await reading(
        line,
        (options) => line.client.resubscribeTask({ tenant: '', id: task.task }, options),
        view,
        call,
      );
      if (isTooMuch(read.error)) return { kind: 'failed', taken: 'yes', failure: classified(read.error).failure };
      if (read.error !== undefined && isNotDone(read.error)) streams = false;
      else if (read.heard) quiet = 0;
      else if (read.error !== undefined && !isNoTask(read.error)) failed = { kind: 'failed', ...classified(read.error) };
      if (view.outcome() !== undefined) continue;
    }
    failures = failed === undefined ? 0 : failures + 1;
    trouble = failed?.failure;
    if (failed !== undefined && (!failed.passing || failures >= limits.peerAttempts))
      return { kind: 'failed', taken: 'yes', failure: failed.failure };
    quiet += 1;
    const pause = Math.min(limits.peerPollMs * 2 ** Math.min(quiet - 1, 10), limits.peerPollMaxMs);
    if ((await sleep(line.clock, pause, call.signal)) === 'aborted') return stopped(view, trouble);
  }
}

const NO_TASK: PeerFailure = { kind: 'bad_response', message: 'It answered nothing that names a task.' };

const strange = ({ version }: PeerLine): PeerFailure => ({
  ...{ kind: 'bad_response', message: `What it answered is nothing of A2A ${version}.`, fix: STRANGE },
});

type Looked =
  | { readonly kind: 'seen' | 'stopped' }
  | { readonly kind: 'failed'; readonly failure: PeerFailure; readonly passing: boolean };

const anotherTask = (task: string): PeerFailure => ({
  ...{ kind: 'bad_response', message: `It was asked about the task ${task} and shows another one.`, fix: STRANGE },
});

/** Asks how the task stands. */
async function look(line: PeerLine, view: TaskView, signal: AbortSignal): Promise<Looked> {
  const task = view.task();
  if (task === undefined) return { kind: 'seen' };
  try {
    const value = await withinTime(line, limits.peerCallMs, signal, (options) =>
      line.client.getTask({ tenant: '', id: task.task, historyLength: limits.peerHistory }, options),
    );
    // It would be passed over, and the task would be at work for ever.
    if (value.id !== task.task) return { kind: 'failed', failure: anotherTask(task.task), passing: true };
    view.apply({ payload: { $case: 'task', value } });
    return { kind: 'seen' };
  } catch (error) {
    if (signal.aborted) return { kind: 'stopped' };
    if (isNoTask(error)) {
      const message = `It does not know the task ${task.task} any more.`;
      return { kind: 'failed', failure: { kind: 'refused', message }, passing: false };
    }
    return { kind: 'failed', ...classified(error) };
  }
}

interface Read {
  /** Something came that belongs to the task. */
  readonly heard: boolean;
  /** Something came that is nothing of this version. */
  readonly strange: boolean;
  readonly error?: unknown;
}

/** Reads a stream into the view until it is over, silent, too long, or all is said. */
async function reading(
  line: PeerLine,
  open: (options: RequestOptions) => AsyncGenerator<StreamResponse, void, undefined>,
  view: TaskView,
  { signal, onTask, onText }: PeerCall,
): Promise<Read> {
  const quiet = new AbortController();
  let forget = (): void => undefined;
  const wait = (): void => {
    forget();
    forget = line.clock.after(limits.peerSilenceMs, () => quiet.abort(new WayFailed('timeout', SILENT, false)), 'hold');
  };
  let told = false;
  let unrecorded: { readonly error: unknown } | undefined;
  let failed: { readonly error: unknown } | undefined;
  let events = 0;
  let isStrange = false;
  wait();
  try {
    for await (const piece of open({ signal: AbortSignal.any([signal, quiet.signal]), serviceParameters: { ...line.headers } })) {
      wait();
      events += 1;
      if (events > limits.peerStreamEvents) throw new WayFailed('bad_response', TOO_MANY, false);
      isStrange ||= piece.payload === undefined;
      view.apply(piece, onText);
      const task = view.task();
      if (!told && task !== undefined) {
        told = true;
        await onTask(task).catch((error: unknown) => {
          unrecorded = { error };
        });
        if (unrecorded !== undefined) break;
      }
      if (view.outcome() !== undefined) break;
    }
  } catch (error) {
    failed = { error: quiet.signal.aborted ? quiet.signal.reason : error };
  } finally {
    forget();
    // A peer that never ends its stream holds no connection of ours.
    quiet.abort();
  }
  // What could not be written down must not be gone on from.
  if (unrecorded !== undefined) throw unrecorded.error;
  return { heard: events > 0, strange: isStrange, ...failed };
}

const SILENT = `It said nothing for ${limits.peerSilenceMs / 1_000} s (peerSilenceMs).`;
const TOO_MANY = `It sent more than ${limits.peerStreamEvents} events (peerStreamEvents).`;

/** One request and its answer. */
export async function withinTime<Value>(
  line: Pick<PeerLine, 'clock' | 'headers'>,
  milliseconds: number,
  signal: AbortSignal | undefined,
  ask: (options: RequestOptions) => Promise<Value>,
): Promise<Value> {
  const patience = new AbortController();
  const late = new WayFailed('timeout', `It did not answer within ${milliseconds / 1_000} s.`, false);
  const forget = line.clock.after(milliseconds, () => patience.abort(late), 'hold');
  const both = signal === undefined ? patience.signal : AbortSignal.any([signal, patience.signal]);
  try {
    return await ask({ signal: both, serviceParameters: { ...line.headers } });
  } catch (error) {
    throw patience.signal.aborted ? late : error;
  } finally {
    forget();
  }
}

function outgoing({ id, context, task = '', parts, confirms }: PeerMessage, streams: boolean): SendMessageRequest {
  const message: Message = {
    ...{
      messageId: id,
      contextId: context,
      taskId: task,
      role: Role.ROLE_USER,
      parts: answerTo(confirms, parts) ?? parts.map(partOf),
    },
    ...{ metadata: undefined, extensions: [], referenceTaskIds: [] },
  };
  // Without a stream the task is wanted at once, so that it is known before it is done.
  const configuration = {
    ...{ acceptedOutputModes: [], taskPushNotificationConfig: undefined, returnImmediately: !streams && task === '' },
    historyLength: limits.peerHistory,
  };
  return { tenant: '', message, configuration, metadata: undefined };
}

/** To a peer that asks leave in data the answer goes in data. */
function answerTo(confirms: PeerMessage['confirms'], parts: PeerMessage['parts']): Part[] | undefined {
  if (confirms === undefined) return undefined;
  const said = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
  const { data, words } = confirmed(confirms, said);
  const common = { metadata: undefined, filename: '', mediaType: 'application/json' };
  return [
    ...data.map((value) => ({ ...common, content: { $case: 'data' as const, value: { ...value } } })),
    ...(words === undefined ? [] : [partOf({ type: 'text', text: words })]),
  ];
}

function partOf(part: PeerMessage['parts'][number]): Part {
  if (part.type === 'text')
    return { content: { $case: 'text', value: part.text }, metadata: undefined, filename: '', mediaType: 'text/plain' };
  const content =
    URL.canParse(part.data) && /^https?:/.test(part.data)
      ? { $case: 'url' as const, value: part.data }
      : { $case: 'raw' as const, value: Buffer.from(part.data, 'base64') };
  return { content, metadata: undefined, filename: '', mediaType: part.mediaType };
}

/** The task that has taken a message: the one that it was said to, or one of its context. */
export async function findTask(line: PeerLine, sent: SentBefore): Promise<Result<PeerTask | undefined, PeerFailure>> {
  try {
    return ok(sent.task === undefined ? await begunBy(line, sent) : await heardBy(line, sent, sent.task));
  } catch (error) {
    const { failure, passing } = classified(error);
    // Many do not list their tasks, and say so in one way or another.
    return passing && failure.kind !== 'bad_response' ? fail(failure) : ok(undefined);
  }
}

async function heardBy(line: PeerLine, { message, context }: SentBefore, id: string): Promise<PeerTask | undefined> {
  const task = await withinTime(line, limits.peerCallMs, undefined, (options) =>
    line.client.getTask({ tenant: '', id, historyLength: limits.peerHistory }, options),
  );
  const view = createTaskView(context, { task: id, context });
  view.apply({ payload: { $case: 'task', value: task } });
  const hasIt = task.history.some(({ messageId }) => messageId === message);
  // Whatever it asked then, it does not ask any more.
  return hasIt || view.outcome()?.kind !== 'asks' ? { task: id, context } : undefined;
}

async function begunBy(line: PeerLine, { message, context, first }: SentBefore): Promise<PeerTask | undefined> {
  const request = {
    ...{
      tenant: '',
      contextId: context,
      status: TaskState.TASK_STATE_UNSPECIFIED,
      pageToken: '',
      statusTimestampAfter: undefined,
    },
    ...{ pageSize: limits.peerTasksListed, historyLength: limits.peerHistory, includeArtifacts: false },
  };
  const { tasks } = await withinTime(line, limits.peerCallMs, undefined, (options) => line.client.listTasks(request, options));
  const ours = tasks.filter((task) => task.contextId === context);
  // Nobody else has the word for a context that was just made up.
  const found =
    ours.find(({ history }) => history.some(({ messageId }) => messageId === message)) ?? (first ? ours[0] : undefined);
  return found === undefined || found.id.length > limits.peerIdCharacters ? undefined : { task: found.id, context };
}
