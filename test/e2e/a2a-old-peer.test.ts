/** Peers of the older line: the client of the pinned 0.3 SDK, which knows nothing newer, calls `troupe serve`. */
import type { Task } from 'a2a-sdk-0.3';
import { type Client, TaskNotCancelableError, TaskNotFoundError, UnsupportedOperationError } from 'a2a-sdk-0.3/client';
import { describe, expect, it } from 'vitest';
import { oldAnswer, oldClient, oldTask, oldWords } from '../support/a2a/old-client.ts';
import { eventually } from '../support/a2a/peer.ts';
import { startReceiver } from '../support/a2a/receiver.ts';
import { serve } from '../support/a2a/serve-process.ts';
import { ALICE, BOB } from '../support/a2a/served.ts';
import type { Reply, SeenRequest } from '../support/models/script.ts';
import { createTestProject } from './support-project.ts';

const AGENT =
  '---\nname: helper\ndescription: Helps\ntools: [ask]\ntags: [help]\nexamples: [Help me]\n' +
  'isolation: inline\na2a: true\n---\nYou help.\n';
const HOOK = 'hook-token-0123456789';

/** What the message says is what the model does; two are held until the test lets them go. */
function script() {
  const held = Promise.withResolvers<void>();
  const play = async ({ toolResults, body }: SeenRequest): Promise<Reply> => {
    const text = JSON.stringify(body);
    if (text.includes('Hang.')) return { fault: 'hang' };
    if (toolResults === 0 && text.includes('Ask.')) return { calls: [{ name: 'ask', input: { question: 'Which one?' } }] };
    if (text.includes('Slowly.')) await held.promise;
    return { text: text.includes('The second.') ? 'Took the second.' : 'It is done, and here is what came of it.' };
  };
  return { play, letGo: () => held.resolve() };
}

async function world(binding: 'JSONRPC' | 'HTTP+JSON' | 'GRPC') {
  const own = new AsyncDisposableStack();
  const { play, letGo } = script();
  const receiver = own.use(await startReceiver());
  const project = own.use(await createTestProject('a2a: { privatePush: true }\n', AGENT));
  await project.serve(play);
  const server = own.use(await serve(project));
  const peer = (token: string): Promise<Client> => oldClient(server.origin, token, binding);
  return { letGo, receiver, peer, origin: server.origin, [Symbol.asyncDispose]: () => own.disposeAsync() };
}

const until = (client: Client, id: string, state: Task['status']['state']): Promise<Task> =>
  eventually(async () => {
    const task = await client.getTask({ id });
    return task.status.state === state ? task : undefined;
  });

/** How a stream went: kinds, the states in order, and whether only the last said that it is. */
async function followed(stream: ReturnType<Client['sendMessageStream']>, begun: () => void = () => undefined) {
  const kinds: string[] = [];
  const states: string[] = [];
  const finals: boolean[] = [];
  let text = '';
  let id = '';
  for await (const event of stream) {
    kinds.push(event.kind);
    begun();
    if (event.kind === 'task') id = event.id;
    if (event.kind === 'task' || event.kind === 'status-update') states.push(event.status.state);
    if (event.kind === 'status-update') finals.push(event.final);
    if (event.kind !== 'artifact-update') continue;
    const said = event.artifact.parts.map((part) => (part.kind === 'text' ? part.text : '')).join('');
    text = event.append === true ? text + said : said;
  }
  return { kinds, states, finals, text, id };
}

describe.each(['JSONRPC', 'HTTP+JSON', 'GRPC'] as const)('an old peer over %s', (binding) => {
  it('finds the card, sends, asks for more, answers and reads', async () => {
    await using here = await world(binding);
    const client = await here.peer(ALICE);
    const card = await client.getAgentCard();
    expect(card).toMatchObject({ name: 'Troupe', capabilities: { streaming: true, pushNotifications: true } });
    expect(card.skills).toMatchObject([{ id: 'helper', tags: ['help'], examples: ['Help me'] }]);

    const message = oldWords('Do it.');
    const done = oldTask(await client.sendMessage(message));
    expect([done.status.state, oldAnswer(done)]).toEqual(['completed', 'It is done, and here is what came of it.']);
    expect(oldTask(await client.sendMessage(message)).id).toBe(done.id);
    const read = await client.getTask({ id: done.id, historyLength: 1 });
    expect([read.history?.length, read.contextId]).toEqual([1, done.contextId]);

    const asked = oldTask(await client.sendMessage(oldWords('Ask.')));
    expect(asked.status).toMatchObject({ state: 'input-required', message: { parts: [{ kind: 'text', text: 'Which one?' }] } });
    const { id: taskId, contextId } = asked;
    const answered = oldTask(await client.sendMessage(oldWords('The second.', { taskId, contextId })));
    expect([answered.id, answered.status.state, oldAnswer(answered)]).toEqual([taskId, 'completed', 'Took the second.']);
    const next = oldTask(await client.sendMessage(oldWords('Do more.', { contextId })));
    expect([next.contextId, next.id === taskId]).toEqual([contextId, false]);
  });

  it('follows a task, leaves it, follows it again and cancels another', async () => {
    await using here = await world(binding);
    const client = await here.peer(ALICE);
    const all = await followed(client.sendMessageStream(oldWords('Do it.')));
    expect(all).toMatchObject({ text: 'It is done, and here is what came of it.' });
    expect([all.kinds[0], all.states.at(-1)]).toEqual(['task', 'completed']);
    expect(all.finals.map((final, index) => final === (index === all.finals.length - 1))).not.toContain(false);

    const asked = await followed(client.sendMessageStream(oldWords('Ask.')));
    expect([asked.states.at(-1), asked.finals.at(-1)]).toEqual(['input-required', true]);

    const configuration = { blocking: false };
    const slow = oldTask(await client.sendMessage({ ...oldWords('Slowly.'), configuration }));
    expect(['submitted', 'working']).toContain(slow.status.state);
    const left = client.resubscribeTask({ id: slow.id });
    expect((await left.next()).value).toMatchObject({ kind: 'task', id: slow.id });
    await left.return();
    const again = await followed(client.resubscribeTask({ id: slow.id }), here.letGo);
    expect(again).toMatchObject({ id: slow.id, text: 'It is done, and here is what came of it.' });
    expect(again.states.at(-1)).toBe('completed');
    const late = await followed(client.resubscribeTask({ id: slow.id }));
    expect(late).toMatchObject({ kinds: ['task'], states: ['completed'] });

    const hangs = oldTask(await client.sendMessage({ ...oldWords('Hang.'), configuration }));
    const follows = Promise.withResolvers<void>();
    const watching = followed(client.resubscribeTask({ id: hangs.id }), follows.resolve);
    await follows.promise;
    await until(client, hangs.id, 'working');
    expect((await client.cancelTask({ id: hangs.id })).status.state).toBe('canceled');
    expect(await watching).toMatchObject({ finals: expect.arrayContaining([true]) });
    expect((await watching).states.at(-1)).toBe('canceled');
    await expect(client.cancelTask({ id: hangs.id })).rejects.toBeInstanceOf(TaskNotCancelableError);
  });

  it('is told in its own words, and hears its own errors', async () => {
    await using here = await world(binding);
    const client = await here.peer(ALICE);
    const pushNotificationConfig = { id: 'first', url: here.receiver.url, token: HOOK };
    const configuration = { blocking: true, pushNotificationConfig };
    const { id: taskId } = oldTask(await client.sendMessage({ ...oldWords('Ask.'), configuration }));
    const second = { id: 'second', url: `${here.receiver.url}?second` };
    expect(await client.setTaskPushNotificationConfig({ taskId, pushNotificationConfig: second })).toMatchObject({
      ...{ taskId, pushNotificationConfig: second },
    });
    const names = async (): Promise<unknown> =>
      (await client.listTaskPushNotificationConfig({ id: taskId })).map((one) => one.pushNotificationConfig.id).toSorted();
    expect(await names()).toEqual(['first', 'second']);
    await client.deleteTaskPushNotificationConfig({ id: taskId, pushNotificationConfigId: 'second' });
    expect(await names()).toEqual(['first']);
    await client.sendMessage(oldWords('The second.', { taskId }));
    await eventually(() => here.receiver.told.find(({ body }) => JSON.stringify(body).includes('"state":"completed"')));
    for (const { headers } of here.receiver.told) expect(headers['x-a2a-notification-token'] ?? HOOK).toBe(HOOK);
    expect(here.receiver.told[0]?.body).toMatchObject({ kind: 'task', id: taskId });

    await expect(client.getTask({ id: 'run_nobody' })).rejects.toBeInstanceOf(TaskNotFoundError);
    const ended = client.sendMessage(oldWords('More.', { taskId }));
    // This client has no class for it over gRPC, and says it in words.
    if (binding === 'GRPC') await expect(ended).rejects.toThrow('has ended');
    else await expect(ended).rejects.toBeInstanceOf(UnsupportedOperationError);
    await expect(client.resubscribeTask({ id: 'run_nobody' }).next()).rejects.toThrow('not found');
    await expect(client.sendMessageStream(oldWords('More.', { taskId })).next()).rejects.toThrow('has ended');
    await expect((await here.peer(BOB)).getTask({ id: taskId })).rejects.toBeInstanceOf(TaskNotFoundError);
    await expect((await here.peer('wrong-0123456789abcdef')).getTask({ id: taskId })).rejects.toThrow();
  });
});
