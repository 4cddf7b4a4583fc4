/** `troupe serve` as peers have it: killed in the middle of a task, it loses nothing and begins nothing twice. */
import { generateKeyPairSync } from 'node:crypto';
import { AgentCard, SecurityScheme, TaskState, verifyAgentCardSignature } from '@a2a-js/sdk';
import { expect, it } from 'vitest';
import { signatureProblem } from '../../src/peers/cards/verify-card.ts';
import { answerOf, eventually, request, said, stateOf, taskIn } from '../support/a2a/peer.ts';
import { startReceiver, statesTold } from '../support/a2a/receiver.ts';
import { serve } from '../support/a2a/serve-process.ts';
import { ALICE, BOB, connect } from '../support/a2a/served.ts';
import { createTestProject } from './support-project.ts';

/** It works in a process of its own, as whatever a client asks for. */
const AGENT = '---\nname: helper\ndescription: Helps\na2a: true\n---\nYou help.\n';

const ROUNDS = 4;

/** The task that this says is completed. */
function isEnd(body: Readonly<Record<string, unknown>>): string | undefined {
  const { task, statusUpdate } = body as Record<
    string,
    { id?: string; taskId?: string; status?: { state?: string } } | undefined
  >;
  const told = task ?? statusUpdate;
  return told?.status?.state === 'TASK_STATE_COMPLETED' ? (told.id ?? told.taskId) : undefined;
}

it('a killed server loses no task, begins none twice, and what was not told is told by the next', async () => {
  await using receiver = await startReceiver(503);
  await using project = await createTestProject('a2a: { privatePush: true }\n', AGENT);
  const killed = Promise.withResolvers<void>();
  const model = await project.serve(async () => {
    await killed.promise;
    return { text: 'Still here.' };
  });
  const before = await serve(project);
  const client = await connect(before.origin, ALICE, 'JSONRPC');
  const message = said('Work.');
  const push = {
    tenant: '',
    id: 'hook',
    taskId: '',
    url: receiver.url,
    token: 'hook-token-0123456789',
    authentication: undefined,
  };
  const how = { returnImmediately: true, taskPushNotificationConfig: push };
  const task = taskIn(await client.sendMessage(request(message, how)));
  await expect.poll(() => model.requests.length).toBe(1);
  await expect.poll(() => receiver.refused).toBeGreaterThan(0);
  await before.end('SIGKILL');
  killed.resolve();
  receiver.status = 200;

  await using after = await serve(project);
  for (const binding of ['GRPC', 'HTTP+JSON', 'JSONRPC'] as const) {
    const again = await connect(after.origin, ALICE, binding);
    expect(taskIn(await again.sendMessage(request(message, how))).id).toBe(task.id);
  }
  const reader = await connect(after.origin, ALICE, 'HTTP+JSON');
  const done = await eventually(async () => {
    const now = await reader.getTask({ tenant: '', id: task.id });
    return stateOf(now) === TaskState.TASK_STATE_COMPLETED ? now : undefined;
  });
  expect(answerOf(done)).toBe('Still here.');
  await expect.poll(() => statesTold(receiver).at(-1)).toBe('TASK_STATE_COMPLETED');
  expect(receiver.told[0]?.headers['x-a2a-notification-token']).toBe('hook-token-0123456789');
  const { out } = await project.troupe('ps', '--json', '--all');
  expect(out.split(task.id)).toHaveLength(2);
  const stranger = await connect(after.origin, BOB, 'JSONRPC');
  await expect(stranger.getTask({ tenant: '', id: task.id })).rejects.toThrow('not found');
});

it('a server that is killed at any moment, again and again, leaves every task begun once, ended once and told', async () => {
  await using receiver = await startReceiver();
  await using project = await createTestProject(
    'a2a: { privatePush: true }\n',
    AGENT.replace('a2a: true', 'isolation: inline\na2a: true'),
  );
  const model = await project.serve({ text: 'Here.', delayMs: 150 });
  const push = { tenant: '', id: 'hook', taskId: '', url: receiver.url, token: '', authentication: undefined };
  const how = { returnImmediately: true, taskPushNotificationConfig: push };
  const messages = Array.from({ length: ROUNDS * 3 }, (_, index) => said(`Work ${index}.`));
  const ids = new Map<string, string>();
  for (let round = 0; round < ROUNDS; round += 1) {
    const server = await serve(project);
    const client = await connect(server.origin, ALICE, 'JSONRPC');
    const asked = model.requests.length;
    // Whoever did not hear that a message was taken sends it again.
    const sent = messages.slice(0, (round + 1) * 3).map(async (message) => {
      const { id } = taskIn(await client.sendMessage(request(message, how)));
      expect(ids.get(message.messageId) ?? id).toBe(id);
      ids.set(message.messageId, id);
    });
    const settled = Promise.allSettled(sent);
    // Each round brings three messages that nobody has seen: in the middle of the first, the second or the third of them.
    await expect.poll(() => model.requests.length - asked).toBeGreaterThan(round % 3);
    await server.end('SIGKILL');
    for (const outcome of await settled) if (outcome.status === 'rejected') expect(String(outcome.reason)).not.toContain('to be');
  }
  await using server = await serve(project);
  const client = await connect(server.origin, ALICE, 'JSONRPC');
  for (const message of messages) {
    const { id } = taskIn(await client.sendMessage(request(message, { taskPushNotificationConfig: push })));
    expect(ids.get(message.messageId) ?? id).toBe(id);
    ids.set(message.messageId, id);
    expect(stateOf(await client.getTask({ tenant: '', id }))).toBe(TaskState.TASK_STATE_COMPLETED);
  }
  expect(new Set(ids.values()).size).toBe(messages.length);
  const told = () => new Set(receiver.told.flatMap(({ body }) => (isEnd(body) ? [isEnd(body)] : [])));
  await expect.poll(() => told().size).toBe(messages.length);
  const { out } = await project.troupe('ps', '--json', '--all');
  for (const id of ids.values()) expect(out.split(id)).toHaveLength(2);
});

it('a card is signed with the key of the project', async () => {
  await using project = await createTestProject('a2a: { key: card-key.pem, url: "https://agents.example/" }\n', AGENT);
  await project.serve({ text: 'Done.' });
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  await project.write('card-key.pem', privateKey.export({ format: 'pem', type: 'pkcs8' }).toString());
  await using server = await serve(project);
  const card = AgentCard.fromJSON(await (await fetch(new URL('/.well-known/agent-card.json', server.origin))).json());
  expect(card.supportedInterfaces[0]?.url).toBe('https://agents.example/a2a');
  await verifyAgentCardSignature(async () => publicKey)(card);
  // All of it is signed, how to log in included, which the SDK does not look at.
  const trusted = publicKey.export({ format: 'pem', type: 'spki' }).toString();
  expect(Object.keys(card.securitySchemes)).toEqual(['token']);
  expect(signatureProblem(card, trusted)).toBeUndefined();
  const other = SecurityScheme.fromJSON({ httpAuthSecurityScheme: { scheme: 'basic' } });
  expect(signatureProblem({ ...card, securitySchemes: { token: other } }, trusted)).toContain('no signature');
  await expect(verifyAgentCardSignature(async () => publicKey)({ ...card, name: 'Somebody else' })).rejects.toThrow();
});

it('a key that signs nothing is found by check, and no server starts with it', async () => {
  await using project = await createTestProject('a2a:\n  key: card-key.pem\n', AGENT);
  const missing = await project.look('check');
  expect([missing.code, missing.out]).toEqual([
    0,
    expect.stringMatching(/^troupe\.yaml:\d+:8: warning: there is no file card-key\.pem/m),
  ]);
  const refused = await project.look('serve', '--port', '0');
  expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('a2a.key: card-key.pem cannot be read')]);
  await project.write('card-key.pem', 'no key\n');
  const broken = await project.look('check');
  expect([broken.code, broken.out]).toEqual([
    2,
    expect.stringMatching(/^troupe\.yaml:\d+:8: error: a2a\.key: card-key\.pem holds no/m),
  ]);
  expect((await project.look('serve', '--port', '0')).err).toContain('a2a.key: card-key.pem holds no private key');
});

it('a server that is told to end does so, also while a cancel is not heard by whoever works on the task', async () => {
  await using project = await createTestProject('', AGENT.replace('a2a: true', 'isolation: inline\na2a: true'));
  const model = await project.serve({ fault: 'hang' });
  await using working = await serve(project);
  await using server = await serve(project);
  const sender = await connect(working.origin, ALICE, 'JSONRPC');
  const task = taskIn(await sender.sendMessage(request(said('Work.'), { returnImmediately: true })));
  await expect.poll(() => model.requests.length).toBe(1);
  process.kill(working.pid, 'SIGSTOP');
  const client = await connect(server.origin, ALICE, 'JSONRPC');
  const cancelling = client.cancelTask({ tenant: '', id: task.id, metadata: undefined }).catch(() => undefined);
  await expect.poll(async () => (await project.look('logs', task.id, '--jsonl')).out).toContain('"run.signalled"');
  await server.end('SIGTERM');
  await cancelling;
  process.kill(working.pid, 'SIGCONT');
});
