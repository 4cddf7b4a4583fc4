/** Peers with the SDK's own client over every binding, against a real project: what they find, send, follow and cancel. */
import { AgentCard, Role, type Task, TaskState } from '@a2a-js/sdk';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { answerOf, collect, eventually, request, said, stateOf, taskIn } from '../../../test/support/a2a/peer.ts';
import { ALICE, BOB, OWNER, type Served, served } from '../../../test/support/a2a/served.ts';
import type { Reply, SeenRequest } from '../../../test/support/models/script.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import { wordsPart } from './task-out.ts';

const bindings = ['JSONRPC', 'HTTP+JSON', 'GRPC'] as const;

/** The task's word says what is done first; then the agent says what it heard. */
function play({ toolResults, body }: SeenRequest): Reply {
  const text = JSON.stringify(body);
  if (toolResults === 0 && text.includes('task: ask.')) return { calls: [{ name: 'ask', input: { question: 'Which one?' } }] };
  if (toolResults === 0 && text.includes('task: shell.')) return { calls: [{ name: 'shell', input: { command: 'echo hi' } }] };
  if (text.includes('task: hang.')) return { fault: 'hang' };
  return { text: text.includes('The second.') ? 'Took the second.' : 'Done.' };
}

const until = (server: Served, id: string, state: TaskState): Promise<Task> =>
  eventually(async () => {
    const task = await (await server.client()).getTask({ tenant: '', id });
    return stateOf(task) === state ? task : undefined;
  });

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
      { url: `${open.origin}/a2a/rest`, protocolBinding: 'HTTP+JSON', protocolVersion: '0.3' },
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

/** What the older SDK's clients speak. */
const legacy = async (server: Served, method: string, params: object): Promise<Record<string, unknown>> => {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const response = await server.fetch('/a2a', { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  return Object.fromEntries(Object.entries((await response.json()) as object));
};

describe('version 0.3', () => {
  it.each(['JSONRPC', 'HTTP+JSON', 'GRPC'] as const)('is spoken over %s by who names it on the card', async (binding) => {
    await using server = await served({ play });
    const client = await server.client(ALICE, binding, '/', '0.3');
    expect(client.protocolVersion).toBe('0.3');
    const asked = taskIn(await client.sendMessage(request(said('task: ask.'))));
    expect(stateOf(asked)).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
    const done = taskIn(await client.sendMessage(request(said('The second.', { taskId: asked.id }))));
    expect([stateOf(done), answerOf(done)]).toEqual([TaskState.TASK_STATE_COMPLETED, 'Took the second.']);
    const all = await collect(client.sendMessageStream(request(said('Do it.'))));
    expect(all[0]?.payload?.$case).toBe('task');
    const last = all.at(-1)?.payload;
    expect(last?.$case === 'statusUpdate' && last.value.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
    await expect(client.getTask({ tenant: '', id: 'run_nobody' })).rejects.toThrow('not found');
    expect(server.errors).toEqual([]);
  });

  it('is what a request without a version is in', async () => {
    await using server = await served({ play });
    const message = { kind: 'message', messageId: 'm1', role: 'user', parts: [{ kind: 'text', text: 'Do it.' }] };
    const sent = await legacy(server, 'message/send', { message });
    expect(sent['result']).toMatchObject({
      kind: 'task',
      status: { state: 'completed' },
      artifacts: [{ parts: [{ text: 'Done.' }] }],
    });
    expect((await legacy(server, 'tasks/get', { id: 'run_nobody' }))['error']).toMatchObject({ code: -32001 });
    expect((await legacy(server, 'SendMessage', {}))['error']).toMatchObject({ code: -32601 });
  });
});

describe('errors', () => {
  const call = async (server: Served, body: string, headers: Record<string, string> = {}): Promise<unknown> => {
    const all = { 'content-type': 'application/json', 'a2a-version': '1.0', ...headers };
    return (await (await server.fetch('/a2a', { method: 'POST', headers: all, body })).json()) as unknown;
  };
  const rpc = (method: string, params: object): string => JSON.stringify({ jsonrpc: '2.0', id: 7, method, params });

  it('have the protocol’s codes and reasons on each binding', async () => {
    await using server = await served({ play });
    expect(await call(server, '{')).toMatchObject({ error: { code: -32700 } });
    expect(await call(server, rpc('Nothing', {}))).toMatchObject({ id: 7, error: { code: -32601 } });
    expect(await call(server, rpc('GetTask', { id: 'x' }))).toMatchObject({
      error: { code: -32001, data: [{ reason: 'TASK_NOT_FOUND', domain: 'a2a-protocol.org' }] },
    });
    expect(await call(server, rpc('GetTask', { id: 'x' }), { 'a2a-version': '2.0' })).toMatchObject({ error: { code: -32009 } });
    expect(await call(server, rpc('GetTask', { id: 'x' }), { 'content-type': 'text/plain' })).toMatchObject({
      error: { code: -32005 },
    });
    const many = said('x', { parts: Array.from({ length: 51 }, () => wordsPart('x')) });
    expect(
      await call(
        server,
        rpc('SendMessage', { message: { ...many, role: 'ROLE_USER', parts: many.parts.map(() => ({ text: 'x' })) } }),
      ),
    ).toMatchObject({
      error: { code: -32602, data: [{ metadata: { limit: 'a2aParts' } }] },
    });
    const rest = async (path: string, version = '1.0') =>
      await server.fetch(`/a2a/rest${path}`, { headers: { 'a2a-version': version } });
    const missing = await rest('/tasks/x');
    expect([missing.status, missing.headers.get('content-type')]).toEqual([404, 'application/a2a+json']);
    expect(await missing.json()).toMatchObject({ error: { status: 'NOT_FOUND', details: [{ reason: 'TASK_NOT_FOUND' }] } });
    expect((await rest('/tasks?pageSize=101')).status).toBe(400);
    expect((await rest('/tasks', '0.3')).status).toBe(400);
    expect((await rest('/nothing/here')).status).toBe(404);
    const grpc = await (await server.client(ALICE, 'GRPC')).getTask({ tenant: '', id: 'x' }).catch((error: unknown) => error);
    expect(grpc).toMatchObject({ name: 'TaskNotFoundError', transport: 'grpc' });
    await expect((await server.client('nobody-0123456789', 'GRPC')).getTask({ tenant: '', id: 'x' })).rejects.toThrow(
      'needs a token',
    );
    expect(server.errors).toEqual([]);
  });

  it('are all that a message of any shape brings about', async () => {
    await using server = await served({ play });
    const anything = fc.anything({ maxDepth: 4, withNullPrototype: false });
    const json = fc.oneof(
      fc.json(),
      fc.string(),
      anything.map((value) => JSON.stringify(value) ?? ''),
    );
    const methods = fc.constantFrom(
      'SendMessage',
      'SendStreamingMessage',
      'GetTask',
      'ListTasks',
      'CancelTask',
      'SubscribeToTask',
      'CreateTaskPushNotificationConfig',
    );
    await fc.assert(
      fc.asyncProperty(methods, json, fc.boolean(), async (method, text, inMessage) => {
        const params = inMessage ? `{"message":${text || 'null'}}` : text || 'null';
        const headers = { 'content-type': 'application/json', 'a2a-version': '1.0' };
        const body = `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`;
        const response = await server.fetch('/a2a', { method: 'POST', headers, body });
        expect(response.status).toBe(200);
        await response.text();
      }),
      { numRuns: 60 },
    );
    expect(server.errors).toEqual([]);
    expect((await server.fetch('/healthz')).status).toBe(200);
  });
});

it.each(bindings)('over %s a list is read page by page, by context, status and time', async (binding) => {
  await using server = await served({ play });
  const client = await server.client(ALICE, binding);
  const ids: string[] = [];
  for (const text of ['One.', 'task: ask.', 'Three.'])
    ids.push(taskIn(await client.sendMessage(request(said(text, { contextId: `talk ${text}` })))).id);
  const query = {
    tenant: '',
    contextId: '',
    status: TaskState.TASK_STATE_UNSPECIFIED,
    pageToken: '',
    statusTimestampAfter: undefined,
  };
  const first = await client.listTasks({ ...query, pageSize: 2 });
  expect([first.tasks.length, first.totalSize, first.pageSize]).toEqual([2, 3, 2]);
  expect((await client.listTasks(query)).pageSize).toBe(50);
  const rest = await client.listTasks({ ...query, pageSize: 2, pageToken: first.nextPageToken });
  expect(rest.nextPageToken).toBe('');
  expect([...first.tasks, ...rest.tasks].map(({ id }) => id)).toEqual(ids.toReversed());
  expect(first.tasks[0]?.artifacts).toEqual([]);
  const whole = await client.listTasks({ ...query, contextId: 'talk One.', includeArtifacts: true, historyLength: 0 });
  expect(whole.tasks.map((task) => [task.id, answerOf(task), task.history])).toEqual([[ids[0], 'Done.', []]]);
  const asking = await client.listTasks({ ...query, status: TaskState.TASK_STATE_INPUT_REQUIRED });
  expect(asking.tasks.map(({ id }) => id)).toEqual([ids[1]]);
  const since = async (at: string | undefined) => (await client.listTasks({ ...query, statusTimestampAfter: at })).tasks.length;
  // From that time on: whoever asks with the time that it saw last misses nothing of the same millisecond.
  expect(await since(first.tasks[0]?.status?.timestamp)).toBeGreaterThan(0);
  expect(await since(new Date(Date.parse(first.tasks[0]?.status?.timestamp ?? '') + 1).toISOString())).toBe(0);
  await expect(client.listTasks({ ...query, pageToken: 'nonsense' })).rejects.toThrow('none of ours');
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

it('a context of somebody else is a word like any other, and ids have a length', async () => {
  await using server = await served({ play });
  const alice = await server.client();
  const task = taskIn(await alice.sendMessage(request(said('Do it.'))));
  const { session } = (await server.project.ledger.runs({ roots: true }))[0] ?? {};
  expect(task.contextId).toBe(session);
  for (const [token, tenant] of [
    [BOB, ''],
    [ALICE, 'acme'],
  ] as const) {
    const client = await server.client(token);
    const other = taskIn(await client.sendMessage({ ...request(said('Go on.', { contextId: task.contextId })), tenant }));
    expect(other.metadata?.['continues']).toBeUndefined();
  }
  expect(await server.project.ledger.runs({ roots: true, ...present({ session }) })).toHaveLength(1);
  await expect(alice.sendMessage(request(said('More.', { taskId: task.id, contextId: 'another' })))).rejects.toThrow('context');
  const long = 'x'.repeat(limits.a2aIdCharacters + 1);
  for (const more of [{ messageId: long }, { contextId: long }, { taskId: long }])
    await expect(alice.sendMessage(request(said('Do it.', more)))).rejects.toThrow('a2aIdCharacters');
});

it('what was said to a task at work is heard there once, whatever it waits for when it is sent again', async () => {
  const goesOn = Promise.withResolvers<void>();
  await using server = await served({
    play: async ({ index, toolResults }) => {
      if (index < 2) await goesOn.promise;
      return toolResults === 0 ? { calls: [{ name: 'ask', input: { question: 'Which one?' } }] } : { text: 'Done.' };
    },
  });
  const client = await server.client();
  const begin = async () => taskIn(await client.sendMessage(request(said('Do it.'), { returnImmediately: true }))).id;
  const ids = [await begin(), await begin()];
  const words = said('The second.');
  const say = async (taskId: string) =>
    stateOf(taskIn(await client.sendMessage(request({ ...words, taskId }, { returnImmediately: true }))));
  for (const id of ids) await say(id);
  goesOn.resolve();
  for (const id of ids) {
    await until(server, id, TaskState.TASK_STATE_INPUT_REQUIRED);
    expect(await say(id)).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
    const { history } = await client.getTask({ tenant: '', id });
    expect(history.filter(({ parts }) => parts[0]?.content?.value === 'The second.')).toHaveLength(1);
    await client.sendMessage(request(said('The first.', { taskId: id })));
    expect(await say(id)).toBe(TaskState.TASK_STATE_COMPLETED);
  }
});
