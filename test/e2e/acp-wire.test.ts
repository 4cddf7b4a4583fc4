/** `troupe acp` and its surroundings: teams, servers that clients bring, ports, several clients, and frames of any kind. */
import { cp, mkdtemp, rm, stat } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { methods } from '@agentclientprotocol/sdk';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { limits } from '../../src/base/limits.ts';
import { choose, connectAcp, linesOf, spawnAcp, startAcp } from '../support/acp/acp-client.ts';
import { createTestProject, type TestProject } from './support-project.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const shell = (command: string) => ({ toolCalls: [{ name: 'shell', input: { command } }] });
const done = { finalReport: 'All is done.' };

/** A port of a process, and connections to it. */
async function listening(project: TestProject) {
  const child = spawnAcp(project, ['--listen', '127.0.0.1:0']);
  const lines = linesOf(child.stdout);
  const ended = new Promise<number | null>((resolve) => child.on('close', (code) => resolve(code)));
  await expect.poll(() => lines.length, { interval: 10 }).toBe(1);
  const port = Number(lines[0]?.split(':')[1]);
  const sockets: Socket[] = [];
  return {
    ...{ child, ended },
    socket(): Socket {
      const socket = connect({ host: '127.0.0.1', port }).on('error', () => undefined);
      sockets.push(socket);
      return socket;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      if (child.exitCode === null) child.kill('SIGKILL');
      await ended;
    },
  };
}

describe('a team', () => {
  it('answers like an agent: the calls of its members are shown with their names', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'troupe-acp-team-'));
    await cp(join(root, 'examples/05-incident-room'), folder, { recursive: true });
    await using project = await createTestProject();
    const env = { ...project.env, TROUPE_HOME: project.folder };
    await using client = await startAcp({ folder, env }, ['commander']);
    const session = await client.begin(join(folder, 'workspace'));
    const response = await client.prompt(session, 'Payments fail since about 09:30 on 2026-03-04. What happened?');
    expect(response.stopReason).toBe('end_turn');
    const titles = client.updates.flatMap(({ update }) => (update.sessionUpdate === 'tool_call' ? [update.title] : []));
    for (const member of ['logs', 'metrics', 'changes'])
      expect(titles.some((title) => title.startsWith(`${member}: `))).toBe(true);
    const calls = new Map<string, string>();
    for (const { update } of client.updates)
      if (update.sessionUpdate === 'tool_call' || update.sessionUpdate === 'tool_call_update')
        calls.set(update.toolCallId, update.status ?? calls.get(update.toolCallId) ?? '');
    expect([...calls.values()].filter((status) => status !== 'completed')).toEqual([]);
    expect(client.said()).not.toBe('');
    await rm(folder, { recursive: true, force: true });
  });
});

describe('servers that a client brings', () => {
  const server = { name: 'test', command: process.execPath, args: [join(root, 'test/support/mcp/server.ts')], env: [] };
  const add = { toolCalls: [{ name: 'test__add', input: { a: 2, b: 3 } }] };

  it('are asked about whole, once, and then the agent that answers has their tools', async () => {
    await using project = await createTestProject();
    await project.script(add, { finalReport: 'The sum is {{lastToolResult}}.' });
    await using client = await startAcp(project, [], { permission: choose('allow_always') });
    for (const more of [{ mcpServers: [server] }, { mcpServers: [server] }]) {
      const session = await client.begin(project.folder, more);
      expect((await client.prompt(session, 'Add.')).stopReason).toBe('end_turn');
    }
    expect(client.said()).toContain('The sum is 5.');
    expect(client.asked).toHaveLength(1);
    expect(JSON.stringify(client.asked[0]?.toolCall)).toContain('server.ts');
  });

  it('are not started when they are rejected, and nothing else is', async () => {
    await using project = await createTestProject();
    await project.script(add, done);
    await using client = await startAcp(project, [], { permission: choose('reject_once') });
    const session = await client.begin(project.folder, { mcpServers: [server] });
    await expect(client.prompt(session, 'Add.')).rejects.toMatchObject({ data: { code: 'server_refused' } });
    expect((await project.look('ps', '--all', '--json')).out).not.toContain('run_');
    await expect(client.begin(project.folder, { mcpServers: [{ type: 'sse', name: 'old', url: 'http://x', headers: [] }] }))
      .rejects //
      .toMatchObject({ code: -32_602 });
  });
});

describe('a port', () => {
  it('serves several clients at once, and one that goes leaves its run to be taken up', async () => {
    await using project = await createTestProject();
    await project.script(shell('touch one.txt'), done);
    await using port = await listening(project);
    const begun = Promise.withResolvers<void>();
    const socket = port.socket();
    const first = await connectAcp(
      { input: socket, output: socket },
      {
        permission: () => {
          begun.resolve();
          return Promise.withResolvers<never>().promise;
        },
      },
    );
    const session = await first.begin(project.folder);
    const left = first.prompt(session, 'Go.');
    await begun.promise;
    const other = port.socket();
    const second = await connectAcp({ input: other, output: other });
    const { agent } = second.connection;
    const load = () => agent.request(methods.agent.session.load, { sessionId: session, cwd: project.folder, mcpServers: [] });
    // Sessions of one client are not those of another.
    await expect(second.prompt(session, 'Mine?')).rejects.toMatchObject({ code: -32_002 });
    socket.destroy();
    await expect(left).rejects.toThrow();
    await load();
    await expect
      .poll(() =>
        second.prompt(session, 'Go on.').then(
          ({ stopReason }) => stopReason,
          () => 'held',
        ),
      )
      .toBe('end_turn');
    await expect(stat(join(project.folder, 'one.txt'))).resolves.toBeDefined();
    port.child.kill('SIGTERM');
    expect(await port.ended).toBe(0);
  });

  it('lets a page of a browser go at its first byte', async () => {
    await using project = await createTestProject();
    await using port = await listening(project);
    const socket = port.socket();
    let heard = '';
    socket.on('data', (chunk) => {
      heard += String(chunk);
    });
    const closed = new Promise((resolve) => socket.on('close', resolve));
    const hello = { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: 1 } };
    socket.write(`POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n${JSON.stringify(hello)}\n`);
    await closed;
    expect(heard).toBe('');
  });

  it('is one of this machine', async () => {
    await using project = await createTestProject();
    for (const address of ['0.0.0.0:4750', 'example.org:4750', '127.0.0.1:99999', 'nonsense'])
      expect(await project.look('acp', '--listen', address)).toMatchObject({ code: 2 });
  });
});

describe('frames of any kind', () => {
  const methodsKnown = [
    ...['initialize', 'session/new', 'session/load', 'session/prompt', 'session/cancel', 'session/set_mode', 'session/list'],
    ...['session/set_config_option', 'session/close', 'session/resume', '$/cancel_request', 'nonsense'],
  ];
  const frame = fc.oneof(
    fc.record({
      jsonrpc: fc.constant('2.0'),
      id: fc.oneof(fc.integer(), fc.string(), fc.constant(null)),
      method: fc.constantFrom(...methodsKnown),
      params: fc.oneof(
        fc.record({
          sessionId: fc.string(),
          cwd: fc.string(),
          prompt: fc.anything(),
          mcpServers: fc.anything(),
          modeId: fc.string(),
        }),
        fc.jsonValue(),
      ),
    }),
    fc.jsonValue(),
  );

  it('are answered or passed over, and what is sound afterwards is served', async () => {
    await using project = await createTestProject();
    await project.script(done);
    const child = spawnAcp(project, []);
    const lines = linesOf(child.stdout);
    const ended = new Promise<number | null>((resolve) => child.on('close', (code) => resolve(code)));
    const send = (value: unknown): void =>
      void child.stdin.write(`${typeof value === 'string' ? value : JSON.stringify(value)}\n`);
    for (const value of fc.sample(frame, { numRuns: 300, seed: 14 })) send(value);
    for (const text of ['{', 'not JSON', '[]', '"', '\u0000', `{"id":7,"x":"${'y'.repeat(limits.acpMessageBytes)}"}`]) send(text);
    send({ jsonrpc: '2.0', id: 'hello', method: 'initialize', params: { protocolVersion: 1, clientCapabilities: {} } });
    send({ jsonrpc: '2.0', id: 'new', method: 'session/new', params: { cwd: project.folder, mcpServers: [] } });
    await expect.poll(() => lines.some((line) => line.includes('"id":"new"')), { interval: 20 }).toBe(true);
    const opened = lines.find((line) => line.includes('"id":"new"')) ?? '';
    expect(opened).toContain('"sessionId":"ses_');
    expect(lines.every((line) => line.startsWith('{'))).toBe(true);
    child.stdin.end();
    expect(await ended).toBe(0);
  });
});
