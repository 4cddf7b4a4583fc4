/** The system under test for the conformance kit does what the kit asks of it, over every binding. */
import { AgentCard, TaskState } from '@a2a-js/sdk';
import type { RequestOptions } from '@a2a-js/sdk/client';
import { describe, expect, it } from 'vitest';
import { conformanceSettings, conforming, KIT_EXTENSION, type KitSwitches, playConformance } from '../support/a2a/conformance.ts';
import { answerOf, collect, request, said, stateOf, taskIn } from '../support/a2a/peer.ts';
import { ALICE, connect, type Served, served } from '../support/a2a/served.ts';
import type { Reply, SeenRequest } from '../support/models/script.ts';

const AGENTS = { kit: 'description: Answers the kit\ntools: [ask]\nisolation: inline\na2a: true' };
const UNSUPPORTED = 'UnsupportedOperationError';
const EVERYTHING = {
  ...{ tenant: '', contextId: '', status: TaskState.TASK_STATE_UNSPECIFIED, pageToken: '', statusTimestampAfter: undefined },
};
const start = (play: (seen: SeenRequest) => Reply | Promise<Reply> = playConformance) =>
  served({ agents: AGENTS, play, around: conforming });

/** What the kit tries where a card says that something is not there, or demanded. */
describe.each(['JSONRPC', 'HTTP+JSON', 'GRPC'] as const)('the switches of the kit over %s', (binding) => {
  const begin = (switches: KitSwitches) =>
    served({ agents: AGENTS, play: playConformance, around: conforming, settings: conformanceSettings(switches) });
  const card = async (server: Served) => {
    const response = await server.fetch('/.well-known/agent-card.json', { headers: { 'a2a-version': '1.0' } });
    return AgentCard.fromJSON(await response.json()).capabilities;
  };
  /** One that tries what the card says that there is not. */
  const disbelieving = ({ origin }: Served) =>
    connect(origin, ALICE, binding, '1.0', { streaming: true, pushNotifications: true });
  const push = { tenant: '', taskId: '', id: 'p', url: 'http://127.0.0.1:9/', token: '', authentication: undefined };

  it('without streams the card says so, and what streams is refused', async () => {
    await using server = await begin({ streaming: false });
    const client = await disbelieving(server);
    expect(await card(server)).toMatchObject({ streaming: false, pushNotifications: true });
    const { id } = taskIn(await client.sendMessage(request(said('Hello', { messageId: 'tck-input-required-1' }))));
    await expect(collect(client.resubscribeTask({ tenant: '', id }))).rejects.toMatchObject({ name: UNSUPPORTED });
    await expect(collect(client.sendMessageStream(request(said('Hello'))))).rejects.toMatchObject({ name: UNSUPPORTED });
    // The SDK's own client asks without a stream where the card has none.
    const believing = await server.client(ALICE, binding);
    const [only] = await collect(believing.sendMessageStream(request(said('Hello', { messageId: 'tck-complete-task-1' }))));
    expect(only?.payload).toMatchObject({ $case: 'task', value: { status: { state: TaskState.TASK_STATE_COMPLETED } } });
    expect(server.errors).toEqual([]);
  });

  it('without push the card says so, and whoever wants to be told is refused before anything begins', async () => {
    await using server = await begin({ push: false });
    const client = await disbelieving(server);
    expect(await card(server)).toMatchObject({ streaming: true, pushNotifications: false });
    const { id: taskId } = taskIn(await client.sendMessage(request(said('Hello', { messageId: 'tck-complete-task-1' }))));
    const refused = { name: 'PushNotificationNotSupportedError' };
    await expect(client.createTaskPushNotificationConfig({ ...push, taskId })).rejects.toMatchObject(refused);
    await expect(client.getTaskPushNotificationConfig({ tenant: '', taskId, id: 'p' })).rejects.toMatchObject(refused);
    const list = { tenant: '', taskId, pageSize: 0, pageToken: '' };
    await expect(client.listTaskPushNotificationConfig(list)).rejects.toMatchObject(refused);
    await expect(client.deleteTaskPushNotificationConfig({ tenant: '', taskId, id: 'p' })).rejects.toMatchObject(refused);
    const message = request(said('Hello', { messageId: 'tck-complete-task-2' }), { taskPushNotificationConfig: push });
    await expect(client.sendMessage(message)).rejects.toMatchObject(refused);
    expect((await client.listTasks(EVERYTHING)).tasks.map(({ id }) => id)).toEqual([taskId]);
    expect(server.errors).toEqual([]);
  });

  it('with an extension that is demanded whoever does not name it is refused, and whoever does is answered', async () => {
    await using server = await begin({ demands: [KIT_EXTENSION] });
    const client = await server.client(ALICE, binding);
    expect((await card(server))?.extensions).toContainEqual(expect.objectContaining({ uri: KIT_EXTENSION, required: true }));
    const send = (options?: RequestOptions) =>
      client.sendMessage(request(said('Hello', { messageId: 'tck-complete-task-1' })), options);
    await expect(send()).rejects.toMatchObject({ name: 'ExtensionSupportRequiredError' });
    const done = taskIn(await send({ serviceParameters: { 'a2a-extensions': KIT_EXTENSION } }));
    expect(stateOf(done)).toBe(TaskState.TASK_STATE_COMPLETED);
  });
});

describe.each(['JSONRPC', 'HTTP+JSON', 'GRPC'] as const)('the kit over %s', (binding) => {
  it('gets what it names', async () => {
    await using server = await start();
    const client = await server.client(ALICE, binding);
    const send = (messageId: string, more = {}) => client.sendMessage(request(said('Hello', { messageId, ...more })));
    expect(stateOf(taskIn(await send('tck-complete-task-1')))).toBe(TaskState.TASK_STATE_COMPLETED);
    expect(stateOf(taskIn(await send('tck-reject-task-1')))).toBe(TaskState.TASK_STATE_REJECTED);
    expect(await send('tck-message-response-1')).toMatchObject({ parts: [{ content: { value: 'Direct message response' } }] });
    expect(answerOf(taskIn(await send('tck-artifact-text-1')))).toBe('Generated text content');
    expect(answerOf(taskIn(await send('tck-artifact-data-1')))).toEqual({ key: 'value', count: 42 });
    expect(answerOf(taskIn(await send('tck-artifact-file-url-1')))).toBe('https://example.com/output.txt');
    expect(taskIn(await send('tck-artifact-file-1')).artifacts[0]?.parts[0]).toMatchObject({ filename: 'output.txt' });
    const [one, two] = [taskIn(await send('tck-input-required-1')), taskIn(await send('tck-input-required-1'))];
    expect(one.id).not.toBe(two.id);
    expect([stateOf(one), stateOf(two)]).toEqual([TaskState.TASK_STATE_INPUT_REQUIRED, TaskState.TASK_STATE_INPUT_REQUIRED]);
    const { id: taskId, contextId } = one;
    expect(stateOf(taskIn(await send('tck-input-required-1', { taskId, contextId })))).toBe(TaskState.TASK_STATE_COMPLETED);
    const all = await collect(client.sendMessageStream(request(said('Hello', { messageId: 'tck-stream-artifact-chunked-1' }))));
    const updates = all.flatMap(({ payload }) => (payload?.$case === 'artifactUpdate' ? [payload.value] : []));
    expect(updates.some(({ append }) => append)).toBe(true);
    expect(updates.at(-1)).toMatchObject({ lastChunk: true, artifact: { parts: [{ content: { value: 'chunk-1 chunk-2' } }] } });
    for (const [messageId, text] of [
      ['tck-stream-001', 'Stream hello from TCK'],
      ['tck-stream-003', 'Stream task lifecycle'],
      ['tck-stream-ordering-001', 'Ordered output'],
      ['tck-stream-artifact-text', 'Streamed text content'],
      ['tck-stream-artifact-file', Buffer.from('tck')],
    ] as const) {
      const seen = (await collect(client.sendMessageStream(request(said('Hello', { messageId }))))).map(({ payload }) => payload);
      expect(seen[0]?.$case).toBe('task');
      const given = seen.flatMap((one) => (one?.$case === 'artifactUpdate' ? [one.value] : []));
      expect(given.at(-1)).toMatchObject({ lastChunk: true, artifact: { parts: [{ content: { value: text } }] } });
      // In order: submitted or at work, then what came of it, and last that it is completed.
      expect(seen.at(-1)).toMatchObject({ $case: 'statusUpdate', value: { status: { state: TaskState.TASK_STATE_COMPLETED } } });
    }
    expect(server.errors).toEqual([]);
  });

  it('can leave a stream and come back to it', async () => {
    const held = Promise.withResolvers<void>();
    await using server = await start(async (seen) => {
      const reply = playConformance(seen);
      // As long as the test says, and not as long as the kit needs.
      expect(reply).toMatchObject({ delayMs: expect.any(Number) });
      await held.promise;
      return { text: 'Here at last.' };
    });
    const client = await server.client(ALICE, binding);
    const stream = client.sendMessageStream(request(said('Hello', { messageId: 'test-resubscribe-message-id-1' })));
    const { value } = await stream.next();
    const id = value?.payload?.$case === 'task' ? value.payload.value.id : '';
    await stream.return();
    const again = client.resubscribeTask({ tenant: '', id });
    expect((await again.next()).value).toMatchObject({ payload: { $case: 'task', value: { id } } });
    held.resolve();
    expect((await collect(again)).at(-1)?.payload).toMatchObject({
      ...{ $case: 'statusUpdate', value: { taskId: id, status: { state: TaskState.TASK_STATE_COMPLETED } } },
    });
    expect(server.errors).toEqual([]);
  });
});
