/** Peers that want to be told: a real receiver hears how a task stands, and nobody inside the network does. */
import type { TaskPushNotificationConfig } from '@a2a-js/sdk';
import { describe, expect, it } from 'vitest';
import { createTestProject } from '../../../test/e2e/support-project.ts';
import { collect, eventually, request, said, stateOf, taskIn } from '../../../test/support/a2a/peer.ts';
import { startReceiver, statesTold } from '../../../test/support/a2a/receiver.ts';
import { serveProject } from '../../../test/support/a2a/serve-project.ts';
import { ALICE, BOB, connect, type Served, served } from '../../../test/support/a2a/served.ts';
import type { Reply, SeenRequest } from '../../../test/support/models/script.ts';
import { type Clock, systemClock } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import { readEvents } from '../../ledger/pages.ts';
import { openProject } from '../../project/open.ts';

const INSIDE = 'a2a: { privatePush: true }\n';
const HELPER = '---\nname: helper\ndescription: Helps\ntools: [ask]\nisolation: inline\na2a: true\n---\nYou work.\n';
const SECRET = 'hook-secret-0123456789abcdef';

const config = (url: string, more: Partial<TaskPushNotificationConfig> = {}): TaskPushNotificationConfig => ({
  ...{ tenant: '', id: '', taskId: '', url, token: '', authentication: undefined },
  ...more,
});

function play({ toolResults, body }: SeenRequest): Reply {
  const asks = toolResults === 0 && JSON.stringify(body).includes('task: ask.');
  return asks ? { calls: [{ name: 'ask', input: { question: 'Which one?' } }] } : { text: 'Done.' };
}

const everything = async ({ project: { ledger } }: Served): Promise<string> => {
  const all: unknown[] = [];
  for (const { session } of await ledger.runs({ roots: true }))
    for await (const event of readEvents(ledger, { session })) all.push(event);
  return JSON.stringify(all);
};

describe.each(['JSONRPC', 'HTTP+JSON', 'GRPC'] as const)('push over %s', (binding) => {
  it('tells how the task stands until it is over, and keeps secrets out of what is read', async () => {
    await using receiver = await startReceiver();
    await using server = await served({ settings: INSIDE, play });
    const client = await server.client(ALICE, binding);
    const given = config(receiver.url, { token: SECRET, authentication: { scheme: 'Bearer', credentials: SECRET } });
    const task = taskIn(await client.sendMessage(request(said('task: ask.'), { taskPushNotificationConfig: given })));
    await eventually(() => (statesTold(receiver).at(-1) === 'TASK_STATE_INPUT_REQUIRED' ? true : undefined));
    await client.sendMessage(request(said('The second.', { taskId: task.id })));
    await eventually(() => (statesTold(receiver).at(-1) === 'TASK_STATE_COMPLETED' ? true : undefined));
    expect(receiver.told[0]?.body).toHaveProperty('task');
    expect(receiver.told.some(({ body }) => 'artifactUpdate' in body)).toBe(true);
    expect(receiver.told[0]?.headers).toMatchObject({
      'content-type': 'application/a2a+json',
      'x-a2a-notification-token': SECRET,
      authorization: `Bearer ${SECRET}`,
    });
    expect(await everything(server)).not.toContain(Buffer.from(SECRET).toString('base64url').slice(0, 20));
    expect(await everything(server)).not.toContain(SECRET);
    const { configs } = await client.listTaskPushNotificationConfig({ tenant: '', taskId: task.id, pageSize: 0, pageToken: '' });
    expect(configs).toMatchObject([
      { url: receiver.url, token: SECRET, authentication: { scheme: 'Bearer', credentials: SECRET } },
    ]);
    expect(server.errors).toEqual([]);
  });

  it('configs are made, read and taken back by their own caller', async () => {
    await using receiver = await startReceiver();
    await using server = await served({ settings: INSIDE, play });
    const client = await server.client(ALICE, binding);
    const { id: taskId } = taskIn(await client.sendMessage(request(said('task: ask.'))));
    const made = await client.createTaskPushNotificationConfig(config(receiver.url, { taskId, id: 'mine' }));
    expect(made).toMatchObject({ id: 'mine', taskId, url: receiver.url });
    const key = { tenant: '', taskId, id: 'mine' };
    expect(await client.getTaskPushNotificationConfig(key)).toEqual(made);
    const bob = await server.client(BOB, binding);
    await expect(bob.getTaskPushNotificationConfig(key)).rejects.toThrow('not found');
    await expect(bob.createTaskPushNotificationConfig(config(receiver.url, { taskId }))).rejects.toThrow('not found');
    await client.deleteTaskPushNotificationConfig(key);
    await client.deleteTaskPushNotificationConfig(key);
    await expect(client.getTaskPushNotificationConfig(key)).rejects.toThrow('no push config');
    for (let count = 0; count < limits.a2aPushConfigs; count += 1)
      await client.createTaskPushNotificationConfig(config(receiver.url, { taskId, id: `c${count}` }));
    await expect(client.createTaskPushNotificationConfig(config(receiver.url, { taskId }))).rejects.toThrow('a2aPushConfigs');
  });
});

it('no address inside the network is told, unless the settings say so', async () => {
  await using receiver = await startReceiver();
  await using server = await served({ play });
  const client = await server.client();
  const { id: taskId } = taskIn(await client.sendMessage(request(said('task: ask.'))));
  const port = new URL(receiver.url).port;
  const ways = [
    `http://127.0.0.1:${port}/`,
    `http://localhost:${port}/`,
    `http://[::1]:${port}/`,
    `http://2130706433:${port}/`,
    'http://169.254.169.254/',
  ];
  for (const url of ways)
    await expect(client.createTaskPushNotificationConfig(config(url, { taskId })), url).rejects.toThrow('not a public address');
  // What a name inside leads to, or that there is none, is nobody's business outside: all are answered alike.
  const answers = new Set<string>();
  for (const host of ['localhost', '10.0.0.1', 'nobody-has-this-name.invalid'])
    await client.createTaskPushNotificationConfig(config(`http://${host}/`, { taskId })).catch((error: Error) => {
      answers.add(error.message);
    });
  expect([...answers]).toEqual([expect.not.stringMatching(/127|::1|ENOTFOUND|getaddrinfo/)]);
  for (const url of ['file:///etc/passwd', 'ftp://example.org', 'nonsense', `http://user:pass@127.0.0.1:${port}/`])
    await expect(client.createTaskPushNotificationConfig(config(url, { taskId })), url).rejects.toThrow('http or https');
  for (const token of ['a\r\nb: c', '日本', '\u007f'])
    await expect(client.createTaskPushNotificationConfig(config(receiver.url, { taskId, token })), token).rejects.toThrow(
      'header',
    );
  expect([receiver.told.length, receiver.refused]).toEqual([0, 0]);
  // Whoever cannot be told as they want has nothing begun for them.
  const how = { taskPushNotificationConfig: config(receiver.url) };
  await expect(client.sendMessage(request(said('Do it.'), how))).rejects.toThrow('not a public address');
  expect((await server.project.ledger.runs({ roots: true })).length).toBe(1);
});

it('an address inside the network that was given while the settings allowed it is not told by who does not', async () => {
  await using receiver = await startReceiver();
  await using folder = await createTestProject(INSIDE, HELPER);
  await folder.serve(play);
  const project = await openProject({ cwd: folder.folder, env: folder.env });
  const first = await serveProject(project);
  const client = await connect(first.origin, ALICE, 'JSONRPC');
  const { id: taskId } = taskIn(await client.sendMessage(request(said('task: ask.'))));
  await client.createTaskPushNotificationConfig(config(receiver.url, { taskId }));
  await eventually(() => (statesTold(receiver).at(-1) === 'TASK_STATE_INPUT_REQUIRED' ? true : undefined));
  await first[Symbol.asyncDispose]();
  const before = receiver.told.length;
  // Whoever cannot tell an address waits before it is tried again.
  let waits = 0;
  const clock: Clock = {
    ...systemClock,
    after(delayMs, callback, hold) {
      if (delayMs === limits.a2aPushRetryMs) waits += 1;
      return systemClock.after(delayMs, callback, hold);
    },
  };
  const careful = { ...project, config: { ...project.config, a2a: { ...project.config.a2a, privatePush: false } } };
  const second = await serveProject(careful, { clock });
  const other = await connect(second.origin, ALICE, 'JSONRPC');
  await other.sendMessage(request(said('The second.', { taskId })));
  await second.takeUp();
  await eventually(() => (waits > 0 || receiver.told.length > before ? true : undefined));
  expect(receiver.told).toHaveLength(before);
  await second[Symbol.asyncDispose]();
  await project.close();
});

it('an address that says no is tried again, one that is gone is not, and nobody is led elsewhere', async () => {
  await using busy = await startReceiver(503);
  await using gone = await startReceiver(410);
  await using leading = await startReceiver(302);
  await using server = await served({ settings: INSIDE, play });
  const client = await server.client();
  const { id: taskId } = taskIn(await client.sendMessage(request(said('task: ask.'))));
  for (const { url } of [busy, gone, leading]) await client.createTaskPushNotificationConfig(config(url, { taskId }));
  await eventually(() => (busy.refused > 1 && leading.refused > 1 ? true : undefined));
  // More than once only if the machine was too slow to hear it the first time.
  await eventually(async () => ((await everything(server)).includes('it is gone (410)') ? true : undefined));
  const { refused } = gone;
  busy.status = 200;
  await client.sendMessage(request(said('The second.', { taskId })));
  await eventually(() => (statesTold(busy).at(-1) === 'TASK_STATE_COMPLETED' ? true : undefined));
  expect(gone.refused).toBe(refused);
  expect(leading.told).toEqual([]);
});

describe('a config that is', () => {
  const PAUSES = new Set(Array.from({ length: limits.a2aPushAttempts }, (_, count) => limits.a2aPushRetryMs * 2 ** count));

  /** A server whose pauses between tries last until they are let go, and a task that asks. */
  async function held() {
    const folder = await createTestProject(INSIDE, HELPER);
    await folder.serve(play);
    const project = await openProject({ cwd: folder.folder, env: folder.env });
    const pauses: (() => void)[] = [];
    let isHeld = true;
    const clock: Clock = {
      ...systemClock,
      after(delayMs, callback, hold) {
        if (!PAUSES.has(delayMs)) return systemClock.after(delayMs, callback, hold);
        if (!isHeld) return systemClock.after(1, callback, hold);
        pauses.push(callback);
        return () => undefined;
      },
    };
    const server = await serveProject(project, { clock });
    const client = await connect(server.origin, ALICE, 'JSONRPC');
    const { id: taskId } = taskIn(await client.sendMessage(request(said('task: ask.'))));
    const letGo = (): void => {
      isHeld = false;
      for (const pause of pauses) pause();
    };
    const dispose = async (): Promise<void> => {
      await server[Symbol.asyncDispose]();
      await project.close();
      await folder[Symbol.asyncDispose]();
    };
    return { client, taskId, pauses, letGo, [Symbol.asyncDispose]: dispose };
  }

  it('replaced is another address: the old one is told nothing more, the new one all from how it stands', async () => {
    await using dead = await startReceiver(503);
    await using good = await startReceiver();
    await using server = await held();
    const { client, taskId, pauses, letGo } = server;
    await client.createTaskPushNotificationConfig(config(dead.url, { taskId, id: 'mine', token: 'old' }));
    await eventually(() => (dead.refused === 1 && pauses.length === 1 ? true : undefined));
    await client.createTaskPushNotificationConfig(config(good.url, { taskId, id: 'mine', token: 'new' }));
    await eventually(() => (good.told.length > 0 ? true : undefined));
    expect(good.told[0]).toMatchObject({ body: { task: { id: taskId } }, headers: { 'x-a2a-notification-token': 'new' } });
    letGo();
    await client.sendMessage(request(said('The second.', { taskId })));
    await eventually(() => (statesTold(good).at(-1) === 'TASK_STATE_COMPLETED' ? true : undefined));
    expect(dead.refused).toBe(1);
    // Whoever told the old one does not tell the new one as well.
    expect(good.told.filter(({ body }) => 'task' in body)).toHaveLength(1);
  });

  it('given again with its message is the same: only other words, or one that was given up, make another', async () => {
    await using receiver = await startReceiver();
    await using gone = await startReceiver(410);
    await using server = await served({ settings: INSIDE, play });
    const client = await server.client(ALICE);
    const message = said('task: ask.');
    const noted = async (what: string): Promise<number> => (await everything(server)).split(what).length - 1;
    const made = async (url: string, more: Partial<TaskPushNotificationConfig>): Promise<number> => {
      await client.sendMessage(request(message, { taskPushNotificationConfig: config(url, more) }));
      return await noted('"push.configured"');
    };
    expect(await made(receiver.url, { id: 'mine' })).toBe(1);
    expect(await made(receiver.url, { id: 'mine' })).toBe(1);
    expect(await made(receiver.url, { id: 'mine', token: 'other' })).toBe(2);
    expect(await made(gone.url, { id: 'lost' })).toBe(3);
    await eventually(async () => ((await noted('it says that it is gone')) > 0 ? true : undefined));
    expect(await made(gone.url, { id: 'lost' })).toBe(4);
  });

  it('deleted is told nothing more, and made again it is told how the task stands', async () => {
    await using receiver = await startReceiver(503);
    await using server = await held();
    const { client, taskId, pauses, letGo } = server;
    const mine = config(receiver.url, { taskId, id: 'mine' });
    await client.createTaskPushNotificationConfig(mine);
    await eventually(() => (receiver.refused === 1 && pauses.length === 1 ? true : undefined));
    await client.deleteTaskPushNotificationConfig({ tenant: '', taskId, id: 'mine' });
    letGo();
    await client.sendMessage(request(said('The second.', { taskId })));
    expect([receiver.refused, receiver.told.length]).toEqual([1, 0]);
    receiver.status = 200;
    await client.createTaskPushNotificationConfig(mine);
    await eventually(() => (statesTold(receiver).at(-1) === 'TASK_STATE_COMPLETED' ? true : undefined));
    expect([receiver.refused, receiver.told.length]).toEqual([1, 1]);
  });

  it('given up counts for that address only, whenever that is noted', async () => {
    await using good = await startReceiver();
    await using gone = await startReceiver(410);
    await using folder = await createTestProject(INSIDE, HELPER);
    await folder.serve(play);
    const project = await openProject({ cwd: folder.folder, env: folder.env });
    const { ledger } = project;
    const first = await serveProject(project);
    const client = await connect(first.origin, ALICE, 'JSONRPC');
    const { id: taskId } = taskIn(await client.sendMessage(request(said('task: ask.'))));
    await client.createTaskPushNotificationConfig(config(gone.url, { taskId, id: 'mine' }));
    const noted = await eventually(async () => {
      for (const { session } of await ledger.runs({ roots: true }))
        for await (const event of readEvents(ledger, { session }))
          if (event.event_type === 'push.told' && event.payload.failed !== undefined) return event;
      return undefined;
    });
    await client.createTaskPushNotificationConfig(config(good.url, { taskId, id: 'mine' }));
    await eventually(() => (good.told.length > 0 ? true : undefined));
    await first[Symbol.asyncDispose]();
    // Another server may note it only now.
    const { event_type: type, payload, session_id: session, run_id: run, actor, parent_event_id: cause } = noted;
    await ledger.append({ session, fence: null, events: [{ type, payload, run, actor, cause, at: 0 }] });
    const second = await serveProject(project);
    await second.takeUp();
    const other = await connect(second.origin, ALICE, 'JSONRPC');
    await other.sendMessage(request(said('The second.', { taskId })));
    await eventually(() => (statesTold(good).at(-1) === 'TASK_STATE_COMPLETED' ? true : undefined));
    await second[Symbol.asyncDispose]();
    await project.close();
  });
});

it('who follows sees the words as they come, and the whole answer in their place', async () => {
  const words = 'One two three four five six seven eight nine ten. '.repeat(20).trim();
  const head = 'description: Talks\nisolation: inline\na2a: true';
  await using server = await served({ agents: { talker: head }, play: () => ({ text: words, chunkBytes: 200, dripMs: 20 }) });
  const client = await server.client();
  const all = await collect(client.sendMessageStream(request(said('Talk.'))));
  let text = '';
  let pieces = 0;
  for (const { payload } of all) {
    if (payload?.$case !== 'artifactUpdate') continue;
    pieces += 1;
    const part = payload.value.artifact?.parts[0]?.content?.value;
    text = payload.value.append ? `${text}${part}` : `${part}`;
  }
  expect(text).toBe(words);
  expect(pieces).toBeGreaterThan(2);
  const last = all.at(-1)?.payload;
  const id = last?.$case === 'statusUpdate' ? last.value.taskId : '';
  expect(stateOf(await client.getTask({ tenant: '', id }))).toBe(
    last?.$case === 'statusUpdate' ? last.value.status?.state : undefined,
  );
});

describe('of two servers', () => {
  const alice = { tokens: [{ name: 'alice', token: ALICE }], callers: { alice: { name: 'alice', sees: 'own' } } } as const;
  const ends = (told: readonly string[]) => told.filter((state) => state === 'TASK_STATE_COMPLETED');

  it.each(['both stay', 'the one that tells goes'])('one tells: %s', async (which) => {
    await using receiver = await startReceiver();
    await using server = await served({ settings: INSIDE, play });
    const other = await openProject({ cwd: server.folder.folder, env: server.folder.env });
    const second = await serveProject(other, alice);
    const leave = async (): Promise<void> => {
      await second[Symbol.asyncDispose]();
      await other.close();
    };
    const how = { taskPushNotificationConfig: config(receiver.url, { id: 'hook' }) };
    const message = said('task: ask.');
    const { id: taskId } = taskIn(await (await connect(second.origin, ALICE, 'JSONRPC')).sendMessage(request(message, how)));
    await eventually(() => (statesTold(receiver).at(-1) === 'TASK_STATE_INPUT_REQUIRED' ? true : undefined));
    // Sent again, it is the same message for the other one, which then knows the address as well.
    const client = await server.client();
    expect(taskIn(await client.sendMessage(request(message, how))).id).toBe(taskId);
    if (which !== 'both stay') await leave();
    await client.sendMessage(request(said('The second.', { taskId })));
    await eventually(() => (ends(statesTold(receiver)).length > 0 ? true : undefined));
    if (which === 'both stay') await leave();
    expect(ends(statesTold(receiver))).toHaveLength(1);
    expect([...server.errors, ...second.errors]).toEqual([]);
  });
});
