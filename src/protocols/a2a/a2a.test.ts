/** Peers with the SDK's own client over every binding, against a real project: what they find, send, follow and cancel. */
import { randomUUID } from 'node:crypto';
import { AgentCard, type Message, Role, type StreamResponse, type Task, TaskState } from '@a2a-js/sdk';
import { describe, expect, it } from 'vitest';
import { ALICE, BOB, OWNER, type Served, served } from '../../../test/support/a2a/served.ts';
import type { Reply, SeenRequest } from '../../../test/support/models/script.ts';
import { wordsPart } from './task-out.ts';

const bindings = ['JSONRPC', 'HTTP+JSON', 'GRPC'] as const;

const said = (text: string, more: Partial<Message> = {}): Message => ({
  ...{ messageId: randomUUID(), contextId: '', taskId: '', role: Role.ROLE_USER, parts: [wordsPart(text)] },
  ...{ metadata: undefined, extensions: [], referenceTaskIds: [] },
  ...more,
});
const request = (message: Message, more: { readonly returnImmediately?: boolean; readonly historyLength?: number } = {}) => ({
  ...{ tenant: '', message, metadata: undefined },
  configuration: { acceptedOutputModes: [], taskPushNotificationConfig: undefined, returnImmediately: false, ...more },
});
function taskIn(result: Message | Task): Task {
  if ('messageId' in result) throw new Error('a message and no task');
  return result;
}
const answerOf = ({ artifacts }: Task): unknown => artifacts[0]?.parts[0]?.content?.value;
const stateOf = (task: Task): TaskState | undefined => task.status?.state;

/** The task's word says what is done first; then the agent says what it heard. */
function play({ toolResults, body }: SeenRequest): Reply {
  const text = JSON.stringify(body);
  if (toolResults === 0 && text.includes('task: ask.')) return { calls: [{ name: 'ask', input: { question: 'Which one?' } }] };
  if (toolResults === 0 && text.includes('task: shell.')) return { calls: [{ name: 'shell', input: { command: 'echo hi' } }] };
  if (text.includes('task: hang.')) return { fault: 'hang' };
  return { text: text.includes('The second.') ? 'Took the second.' : 'Done.' };
}

async function until(server: Served, id: string, state: TaskState): Promise<Task> {
  const client = await server.client();
  for (;;) {
    const task = await client.getTask({ tenant: '', id });
    if (stateOf(task) === state) return task;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function collect(stream: AsyncGenerator<StreamResponse, void, undefined>): Promise<readonly StreamResponse[]> {
  const all: StreamResponse[] = [];
  for await (const one of stream) all.push(one);
  return all;
}

describe('cards', () => {
  it('name what is shown, and nothing is shown unless somebody says so', async () => {
    await using closed = await served({ agents: { helper: 'description: Helps' } });
    expect((await closed.fetch('/.well-known/agent-card.json', { token: null })).status).toBe(404);
    expect((await closed.fetch('/a2a', { method: 'POST', body: '{}' })).status).toBe(404);
    const agents = { helper: 'description: Helps\na2a: true', poet: 'description: Writes poems', other: 'description: Hidden' };
    await using open = await served({ agents, settings: 'a2a: { agents: [poet], name: The house }\n' });
    const house: AgentCard = AgentCard.fromJSON(
      await (await open.fetch('/.well-known/agent-card.json', { token: null, headers: { 'a2a-version': '1.0' } })).json(),
    );
    expect(house).toMatchObject({ name: 'The house', skills: [{ id: 'helper', description: 'Helps' }, { id: 'poet' }] });
    expect(house.supportedInterfaces).toMatchObject([
      { url: `${open.origin}/a2a`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      { url: `${open.origin}/a2a/rest`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
      { protocolBinding: 'GRPC', protocolVersion: '1.0' },
      { url: `${open.origin}/a2a`, protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
      { protocolBinding: 'GRPC', protocolVersion: '0.3' },
    ]);
    const own = await open.fetch('/a2a/agents/poet/.well-known/agent-card.json', { token: null });
    expect(await own.json()).toMatchObject({
      name: 'poet',
      description: 'Writes poems',
      protocolVersion: '0.3',
      preferredTransport: 'JSONRPC',
    });
    for (const hidden of ['other', 'nobody', '%E0%A4%A'])
      expect((await open.fetch(`/a2a/agents/${hidden}/.well-known/agent-card.json`, { token: null })).status).toBe(404);
  });

  it('can be kept and asked about', async () => {
    await using server = await served();
    const first = await server.fetch('/.well-known/agent-card.json', { token: null });
    const etag = first.headers.get('etag') ?? '';
    expect(first.headers.get('cache-control')).toBe('public, max-age=60');
    expect(Date.parse(first.headers.get('last-modified') ?? '')).toBeGreaterThan(0);
    const again = await server.fetch('/.well-known/agent-card.json', { token: null, headers: { 'if-none-match': etag } });
    expect([again.status, await again.text()]).toEqual([304, '']);
    const other = await server.fetch('/.well-known/agent-card.json', { token: null, headers: { 'a2a-version': '0.3' } });
    expect(other.headers.get('etag')).not.toBe(etag);
    expect(await other.json()).not.toHaveProperty('supportedInterfaces');
  });

  it('are extended for whoever has a token, by what they may use', async () => {
    const agents = { helper: 'description: Helps\na2a: true', poet: 'description: Poems\na2a: true' };
    await using server = await served({ agents });
    expect((await server.fetch('/a2a/rest/extendedAgentCard', { token: null, headers: { 'a2a-version': '1.0' } })).status).toBe(
      401,
    );
    for (const [token, skills] of [
      [ALICE, ['helper', 'poet']],
      [BOB, ['helper']],
    ] as const) {
      const card = await (await server.client(token, 'HTTP+JSON')).getAgentCard();
      expect(card.skills.map(({ id }) => id)).toEqual(skills);
    }
  });
});

describe.each(bindings)('over %s', (binding) => {
  it('a message begins a task that ends with an answer', async () => {
    await using server = await served({ play });
    const client = await server.client(ALICE, binding);
    const message = said('Do it.');
    const task = taskIn(await client.sendMessage(request(message)));
    expect([stateOf(task), answerOf(task)]).toEqual([TaskState.TASK_STATE_COMPLETED, 'Done.']);
    expect(task.history[0]).toMatchObject({ messageId: message.messageId, role: Role.ROLE_USER });
    expect(await client.getTask({ tenant: '', id: task.id })).toEqual(task);
    expect((await client.getTask({ tenant: '', id: task.id, historyLength: 0 })).history).toEqual([]);
    expect(server.errors).toEqual([]);
  });

  it('the same message is the same task, and its id is for no other', async () => {
    await using server = await served({ play });
    const client = await server.client(ALICE, binding);
    const message = said('Do it.');
    const tasks = await Promise.all(
      [1, 2, 3].map(async () => taskIn(await client.sendMessage(request(message, { returnImmediately: true })))),
    );
    expect(new Set(tasks.map(({ id }) => id)).size).toBe(1);
    expect(await server.project.ledger.runs({ roots: true })).toHaveLength(1);
    await expect(client.sendMessage(request({ ...message, parts: [wordsPart('Something else.')] }))).rejects.toThrow(
      'used before',
    );
  });

  it('a question is answered by another message, once', async () => {
    await using server = await served({ play });
    const client = await server.client(ALICE, binding);
    const asked = taskIn(await client.sendMessage(request(said('task: ask.'))));
    expect(stateOf(asked)).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
    expect(asked.status?.message?.parts[0]?.content?.value).toContain('Which one?');
    const answer = said('The second.', { taskId: asked.id });
    const done = taskIn(await client.sendMessage(request(answer)));
    expect([done.id, stateOf(done), answerOf(done)]).toEqual([asked.id, TaskState.TASK_STATE_COMPLETED, 'Took the second.']);
    expect(taskIn(await client.sendMessage(request(answer)))).toEqual(done);
    await expect(client.sendMessage(request(said('More.', { taskId: asked.id })))).rejects.toThrow('has ended');
  });

  it('a permission is the owner’s to give', async () => {
    await using server = await served({ play });
    const client = await server.client(ALICE, binding);
    const asked = taskIn(await client.sendMessage(request(said('task: shell.'))));
    expect(stateOf(asked)).toBe(TaskState.TASK_STATE_AUTH_REQUIRED);
    await expect(client.sendMessage(request(said('yes', { taskId: asked.id })))).rejects.toThrow('by the owner of this project');
    expect(await server.folder.troupe('approve', asked.id)).toMatchObject({ code: 0 });
    expect(answerOf(await until(server, asked.id, TaskState.TASK_STATE_COMPLETED))).toBe('Done.');
  });

  it('a conversation goes on as another task of the same context, in the peer’s own words or in ours', async () => {
    await using server = await served({ play });
    const client = await server.client(ALICE, binding);
    for (const contextId of ['', 'my-talk']) {
      const first = taskIn(await client.sendMessage(request(said('One.', { contextId }))));
      if (contextId !== '') expect(first.contextId).toBe(contextId);
      const second = taskIn(await client.sendMessage(request(said('Two.', { contextId: first.contextId }))));
      expect(second.contextId).toBe(first.contextId);
      expect(second.id).not.toBe(first.id);
      expect(second.metadata?.['continues']).toBe(first.id);
    }
  });

  it('cancels what is under way and nothing that is over', async () => {
    await using server = await served({ play });
    const client = await server.client(ALICE, binding);
    const task = taskIn(await client.sendMessage(request(said('task: hang.'), { returnImmediately: true })));
    expect(stateOf(await client.cancelTask({ tenant: '', id: task.id, metadata: undefined }))).toBe(
      TaskState.TASK_STATE_CANCELED,
    );
    await expect(client.cancelTask({ tenant: '', id: task.id, metadata: undefined })).rejects.toThrow('ended already');
    await expect(client.cancelTask({ tenant: '', id: 'run_nobody', metadata: undefined })).rejects.toThrow('not found');
  });

  it('streams: the task first, then its changes; late ones see the same', async () => {
    await using server = await served({ play });
    const client = await server.client(ALICE, binding);
    const all = await collect(client.sendMessageStream(request(said('task: ask.'))));
    expect(all[0]?.payload?.$case).toBe('task');
    const last = all.at(-1)?.payload;
    expect(last?.$case === 'statusUpdate' && last.value.status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
    const first = all[0]?.payload;
    const id = first?.$case === 'task' ? first.value.id : '';
    const late = [1, 2].map(() => collect(client.resubscribeTask({ tenant: '', id })));
    await client.sendMessage(request(said('The second.', { taskId: id })));
    const [one = [], two = []] = await Promise.all(late);
    for (const seen of [one, two]) {
      expect(seen[0]?.payload?.$case).toBe('task');
      const kinds = seen.map(({ payload }) => payload?.$case);
      expect(kinds.at(-1)).toBe('statusUpdate');
      expect(kinds).toContain('artifactUpdate');
    }
    await expect(collect(client.resubscribeTask({ tenant: '', id }))).rejects.toThrow('has ended');
  });

  it('nobody sees the tasks of another caller or tenant', async () => {
    await using server = await served({ play });
    const alice = await server.client(ALICE, binding);
    const task = taskIn(await alice.sendMessage({ ...request(said('Do it.')), tenant: 'acme' }));
    const empty = { contextId: '', status: TaskState.TASK_STATE_UNSPECIFIED, pageToken: '', statusTimestampAfter: undefined };
    for (const [token, tenant] of [
      [BOB, 'acme'],
      [OWNER, 'acme'],
      [ALICE, ''],
      [ALICE, 'other'],
    ] as const) {
      const client = await server.client(token, binding);
      await expect(client.getTask({ tenant, id: task.id })).rejects.toThrow('not found');
      await expect(client.cancelTask({ tenant, id: task.id, metadata: undefined })).rejects.toThrow('not found');
      await expect(client.sendMessage({ ...request(said('More.', { taskId: task.id })), tenant })).rejects.toThrow('not found');
      await expect(collect(client.resubscribeTask({ tenant, id: task.id }))).rejects.toThrow('not found');
      expect((await client.listTasks({ ...empty, tenant })).tasks).toEqual([]);
    }
    expect((await alice.listTasks({ ...empty, tenant: 'acme' })).tasks.map(({ id }) => id)).toEqual([task.id]);
  });
});
