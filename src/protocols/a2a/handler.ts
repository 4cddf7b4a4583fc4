/** What peers can do, once for all bindings: the SDK's transports read and write, and this is what they call. */
import type { Message, SendMessageRequest, StreamResponse, Task, TaskPushNotificationConfig } from '@a2a-js/sdk';
import {
  ExtendedAgentCardNotConfiguredError,
  ExtensionSupportRequiredError,
  PushNotificationNotSupportedError,
  RequestMalformedError,
  TaskNotCancelableError,
  TaskNotFoundError,
  UnsupportedOperationError,
} from '@a2a-js/sdk/errors';
import type { A2ARequestHandler, ServerCallContext } from '@a2a-js/sdk/server';
import { assert } from '../../base/errors.ts';
import { limits } from '../../base/limits.ts';
import { isTerminalTask } from '../../projections/tasks/task-states.ts';
import type { RootTask } from '../../projections/tasks/tasks.ts';
import { artifactsOut } from './artifacts-out.ts';
import { cardOf, extendedCardOf, LEGACY, type ServedPlace } from './cards.ts';
import type { Door } from './doors.ts';
import { hidden, tooMuch } from './errors.ts';
import { type Following, followTask, listenEarly, updatesOf } from './follow.ts';
import type { FoundTask } from './found-tasks.ts';
import { listTasks } from './list.ts';
import type { A2aNeeds, Scope } from './needs.ts';
import { idIn, wordIn } from './params-in.ts';
import { addPushTarget, checkedPush, pushTarget, pushTargets, removePushTarget } from './push-configs.ts';
import type { A2aPeer, PeerRoom } from './room.ts';
import { heard } from './send.ts';
import { foldedTasks } from './task-folds.ts';
import { isInterrupted, isOver, stateOut, taskOut } from './task-out.ts';

/** One for each request: it costs nothing. */
export function createHandler(room: PeerRoom, door: Door, place: ServedPlace): A2ARequestHandler {
  const handler = ownHandler(room, door, place);
  return room.needs.around?.(handler) ?? handler;
}

function ownHandler(room: PeerRoom, door: Door, place: ServedPlace): A2ARequestHandler {
  const { needs, tasks, streams } = room;
  const guard = async <Value>(work: () => Promise<Value>): Promise<Value> => {
    try {
      return await work();
    } catch (error) {
      throw hidden(error, needs.onError);
    }
  };
  const found = async (scope: Scope, given: string): Promise<FoundTask> => {
    const id = idIn(given, 'The id of the task');
    const task = await tasks.find(scope, id);
    if (task === undefined) throw new TaskNotFoundError(`Task not found: ${id.slice(0, 100)}`);
    return task;
  };
  return {
    getAgentCard: () =>
      guard(async () => {
        const card = await cardOf(needs, door, place);
        if (card === undefined) throw new UnsupportedOperationError('There is no agent here.');
        return card;
      }),
    getAuthenticatedExtendedAgentCard: ({ tenant }, context) =>
      guard(async () => {
        const card = await extendedCardOf(needs, door, place, scopeOf(needs, context, tenant));
        if (card === undefined) throw new ExtendedAgentCardNotConfiguredError();
        return await room.signer.card(card);
      }),
    sendMessage: (params, context) =>
      guard(async (): Promise<Message | Task> => {
        const { configuration } = params;
        const scope = scopeOf(needs, context, params.tenant);
        const historyLength = checkedLength(configuration?.historyLength);
        const task = await begun(room, door, scope, params, context);
        const immediately = configuration?.returnImmediately === true;
        const now = immediately ? undefined : await settled(room, task, scope, peerIn(context).gone);
        return now === undefined
          ? await taskNow(room, task, scope, historyLength)
          : await shown(room, now, task, scope, historyLength);
      }),
    async *sendMessageStream(params, context) {
      if (needs.settings.streaming === false) throw noStreams();
      const scope = scopeOf(needs, context, params.tenant);
      const historyLength = checkedLength(params.configuration?.historyLength);
      using early = listenEarly(needs);
      const task = await guard(() => begun(room, door, scope, params, context));
      yield* streams.counted(scope, followed(room, task, scope, context, { historyLength, early, sent: true }));
    },
    async *resubscribe({ id, tenant }, context) {
      if (needs.settings.streaming === false) throw noStreams();
      const scope = scopeOf(needs, context, tenant);
      const task = await guard(() => found(scope, id));
      const now = await guard(() => room.folds.now(task));
      if (now === undefined) throw new TaskNotFoundError(`Task not found: ${id.slice(0, 100)}`);
      // In the older version whoever comes too late is shown the task as it ended.
      if (isTerminalTask(now.state) && context.requestedVersion !== LEGACY)
        throw new UnsupportedOperationError('The task has ended; there is nothing to follow.');
      yield* streams.counted(scope, followed(room, task, scope, context, {}));
    },
    getTask: ({ id, tenant, historyLength }, context) =>
      guard(async () => {
        const scope = scopeOf(needs, context, tenant);
        return await taskNow(room, await found(scope, id), scope, checkedLength(historyLength));
      }),
    listTasks: (params, context) => guard(() => listTasks(room, scopeOf(needs, context, params.tenant), params)),
    cancelTask: ({ id, tenant }, context) =>
      guard(async () => {
        const scope = scopeOf(needs, context, tenant);
        return await cancelled(room, await found(scope, id), scope, peerIn(context).gone);
      }),
    ...pushOperations(room, guard, found),
  };
}

const noStreams = (): Error => new UnsupportedOperationError('This server does not stream: ask for the task, as its card says.');

type Guard = <Value>(work: () => Promise<Value>) => Promise<Value>;

type PushOperations = Pick<
  A2ARequestHandler,
  | 'createTaskPushNotificationConfig'
  | 'getTaskPushNotificationConfig'
  | 'listTaskPushNotificationConfigs'
  | 'deleteTaskPushNotificationConfig'
>;

function pushOperations(room: PeerRoom, guard: Guard, found: (scope: Scope, id: string) => Promise<FoundTask>): PushOperations {
  const { needs } = room;
  if (needs.settings.push === false) return noPush(guard);
  return {
    createTaskPushNotificationConfig: (config, context) =>
      guard(async () => {
        const scope = scopeOf(needs, context, config.tenant);
        const how = { version: context.requestedVersion, again: false };
        return await configured(room, await found(scope, config.taskId), scope, config, how);
      }),
    getTaskPushNotificationConfig: ({ taskId, id, tenant }, context) =>
      guard(async () => await pushTarget(needs, await found(scopeOf(needs, context, tenant), taskId), wordIn(id, 'id'))),
    listTaskPushNotificationConfigs: ({ taskId, tenant }, context) =>
      guard(async () => {
        const targets = await pushTargets(needs, await found(scopeOf(needs, context, tenant), taskId));
        return { configs: [...targets.values()].map(({ config }) => config), nextPageToken: '' };
      }),
    deleteTaskPushNotificationConfig: ({ taskId, id, tenant }, context) =>
      guard(async () => await removePushTarget(needs, await found(scopeOf(needs, context, tenant), taskId), wordIn(id, 'id'))),
  };
}

const noPush = (guard: Guard): PushOperations => {
  const refuse = () => guard(() => Promise.reject(new PushNotificationNotSupportedError()));
  return {
    ...{ createTaskPushNotificationConfig: refuse, getTaskPushNotificationConfig: refuse },
    ...{ listTaskPushNotificationConfigs: refuse, deleteTaskPushNotificationConfig: refuse },
  };
};

/** Recorded, and from now on told. */
async function configured(
  { needs, push, inTurn }: PeerRoom,
  task: FoundTask,
  scope: Scope,
  config: TaskPushNotificationConfig,
  how: { readonly version: string; readonly again: boolean },
): Promise<TaskPushNotificationConfig> {
  const added = await inTurn(`push ${task.id}`, () => addPushTarget(needs, task, config, how));
  push.wake(task, scope);
  return added;
}

/** What the message says is in the ledger, and so is whom it wants to be told. */
async function begun(
  room: PeerRoom,
  door: Door,
  scope: Scope,
  params: SendMessageRequest,
  { requestedVersion: version }: ServerCallContext,
): Promise<FoundTask> {
  const config = params.configuration?.taskPushNotificationConfig;
  if (config !== undefined && room.needs.settings.push === false) throw new PushNotificationNotSupportedError();
  if (config !== undefined) await checkedPush(room.needs, config);
  const task = await heard(room, door, scope, params);
  if (config !== undefined) await configured(room, task, scope, config, { version, again: true });
  return task;
}

function peerIn({ user }: ServerCallContext): A2aPeer {
  assert(user !== undefined && 'caller' in user && 'gone' in user, 'every request has a caller');
  return user as A2aPeer;
}

/** Whose tasks the request is about. The tenant comes with the address, or with the request. */
function scopeOf({ settings }: Pick<A2aNeeds, 'settings'>, context: ServerCallContext, given: string): Scope {
  const peer = peerIn(context);
  peer.reached?.();
  const tenant = wordIn(context.tenant ?? given, 'The tenant');
  if (tenant.length > limits.a2aIdCharacters) throw tooMuch('The tenant is too long', 'a2aIdCharacters');
  const missing = settings.demands?.find((uri) => context.requestedExtensions?.includes(uri) !== true);
  if (missing !== undefined) throw new ExtensionSupportRequiredError(`Name the extension ${missing} in A2A-Extensions.`);
  return { caller: peer.caller, tenant };
}

function checkedLength(length: number | undefined): number | undefined {
  if (length !== undefined && (!Number.isInteger(length) || length < 0))
    throw new RequestMalformedError('historyLength must be a whole number that is not negative.');
  return length;
}

/** The task as it stands now. */
async function taskNow(
  { needs, folds }: PeerRoom,
  found: FoundTask,
  scope: Scope,
  historyLength: number | undefined,
): Promise<Task> {
  const task = await folds.now(found);
  if (task === undefined) throw new TaskNotFoundError(`Task not found: ${found.id}`);
  return await shown({ needs }, task, found, scope, historyLength);
}

async function shown(
  { needs }: Pick<PeerRoom, 'needs'>,
  task: RootTask,
  found: FoundTask,
  scope: Scope,
  historyLength: number | undefined,
): Promise<Task> {
  return taskOut(task, found, scope, { historyLength, artifacts: await artifactsOut(needs, task, found) });
}

/** The task when it is over or somebody has to say something; as it stands after so long, or when whoever waits has gone. */
async function settled({ needs }: PeerRoom, found: FoundTask, scope: Scope, gone: AbortSignal): Promise<RootTask | undefined> {
  const patience = new AbortController();
  const stop = needs.clock.after(limits.a2aBlockingMs, () => patience.abort());
  const rests = (task: RootTask | undefined): boolean =>
    task !== undefined && (isOver(stateOut(task, scope)) || isInterrupted(stateOut(task, scope)));
  try {
    const tasks = await foldedTasks(needs, found.session);
    const now = (): RootTask | undefined => tasks.tasks.get(found.id);
    if (now() === undefined || rests(now())) return now();
    const signal = AbortSignal.any([gone, patience.signal]);
    for await (const _ of updatesOf(needs, { found, scope, signal }, tasks)) if (rests(now())) break;
    return now();
  } finally {
    stop();
  }
}

async function cancelled(room: PeerRoom, found: FoundTask, scope: Scope, gone: AbortSignal): Promise<Task> {
  const { engine } = room.needs;
  const before = await room.folds.now(found);
  if (before !== undefined && isTerminalTask(before.state)) throw new TaskNotCancelableError('The task has ended already.');
  const { kind } = await engine.cancel(found.run, `cancelled by ${scope.caller.name}`);
  if (kind === 'unknown') throw new TaskNotFoundError(`Task not found: ${found.id}`);
  if (kind === 'accepted') await ended(room, found, scope, gone);
  const after = await room.folds.now(found);
  // Of the cancel and the end one was first, and the ledger says which.
  if (after !== undefined && isTerminalTask(after.state) && after.state !== 'canceled')
    throw new TaskNotCancelableError('The task ended before it could be cancelled.');
  return await taskNow(room, found, scope, undefined);
}

/** Until it is over, whatever it asks meanwhile; for so long, or until whoever waits has gone. */
async function ended({ needs }: PeerRoom, found: FoundTask, scope: Scope, gone: AbortSignal): Promise<void> {
  const patience = new AbortController();
  const stop = needs.clock.after(limits.a2aCancelMs, () => patience.abort());
  const signal = AbortSignal.any([gone, patience.signal]);
  try {
    const tasks = await foldedTasks(needs, found.session);
    const task = tasks.tasks.get(found.id);
    if (task === undefined || isOver(stateOut(task, scope))) return;
    // It ends by itself when the task is over.
    for await (const _ of updatesOf(needs, { found, scope, signal }, tasks));
  } finally {
    stop();
  }
}

async function* followed(
  { needs }: PeerRoom,
  found: FoundTask,
  scope: Scope,
  context: ServerCallContext,
  how: Pick<Following, 'historyLength' | 'early' | 'sent'>,
): AsyncGenerator<StreamResponse, void, undefined> {
  const peer = peerIn(context);
  try {
    for await (const update of followTask(needs, { found, scope, signal: peer.gone, words: true, ...how })) {
      await peer.ready?.();
      yield update;
    }
  } catch (error) {
    throw hidden(error, needs.onError);
  }
}
