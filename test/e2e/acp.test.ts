/** `troupe acp` as editors have it: prompts, streaming, permissions, cancelling, and coming back. */
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { methods } from '@agentclientprotocol/sdk';
import { describe, expect, it } from 'vitest';
import { choose, startAcp } from '../support/acp/acp-client.ts';
import { createTestProject } from './support-project.ts';

const write = { toolCalls: [{ name: 'write', input: { path: 'a.txt', content: 'hello\n' } }] };
const shell = (command: string) => ({ toolCalls: [{ name: 'shell', input: { command } }] });
const done = { finalReport: 'All is done.' };

describe('a prompt', () => {
  it('is a run of the session: its words, its calls and what it used come as they are', async () => {
    await using project = await createTestProject();
    await project.script({ text: 'I begin.', ...write }, done);
    await using client = await startAcp(project);
    const session = await client.begin(project.folder);
    const response = await client.prompt(session, 'Write a file.');
    expect(response.stopReason).toBe('end_turn');
    expect(client.said()).toContain('I begin.');
    expect(client.said()).toContain('All is done.');
    expect(await readFile(join(project.folder, 'a.txt'), 'utf8')).toBe('hello\n');
    const kinds = client.updates.map(({ update }) => update.sessionUpdate);
    expect(kinds).toEqual(expect.arrayContaining(['tool_call', 'tool_call_update', 'usage_update', 'session_info_update']));
    expect(client.updates.find(({ update }) => update.sessionUpdate === 'tool_call')?.update).toMatchObject({
      title: 'write a.txt',
      kind: 'edit',
      locations: [{ path: join(project.folder, 'a.txt') }],
      content: [{ type: 'diff', newText: 'hello\n' }],
    });
    expect(response).toMatchObject({ usage: { totalTokens: expect.any(Number) }, _meta: { troupe: { status: 'completed' } } });
    expect(client.lines.every((line) => line.startsWith('{"jsonrpc":"2.0"'))).toBe(true);
  });

  it('asks the client for what the rules ask about, whole, and takes its word', async () => {
    await using project = await createTestProject();
    await project.script(shell('echo one > one.txt'), done);
    await using client = await startAcp(project);
    const session = await client.begin(project.folder);
    await client.prompt(session, 'Run it.');
    expect(client.asked).toHaveLength(1);
    expect(client.asked[0]).toMatchObject({
      toolCall: { kind: 'execute', rawInput: { command: 'echo one > one.txt' } },
      options: [{ kind: 'allow_once' }, { kind: 'allow_always' }, { kind: 'reject_once' }],
    });
    expect(JSON.stringify(client.asked[0]?.toolCall.content)).toContain('helper wants to use shell');
    await expect(stat(join(project.folder, 'one.txt'))).resolves.toBeDefined();
    const logs = await project.look('logs', 'last', '--jsonl');
    expect(logs.out).toContain('acp client tester 1');
  });

  it('does nothing that the client rejects', async () => {
    await using project = await createTestProject();
    await project.script(shell('touch one.txt'), { finalReport: '{{lastToolResult}}' });
    await using client = await startAcp(project, [], { permission: choose('reject_once') });
    const session = await client.begin(project.folder);
    expect((await client.prompt(session, 'Run it.')).stopReason).toBe('end_turn');
    expect(client.said()).toContain('the user said no');
    await expect(stat(join(project.folder, 'one.txt'))).rejects.toThrow();
  });

  it('is cancelled while it waits for a permission', async () => {
    await using project = await createTestProject();
    await project.script(shell('touch one.txt'), done);
    const never = Promise.withResolvers<never>();
    const begun = Promise.withResolvers<void>();
    await using client = await startAcp(project, [], {
      permission: (_asked, signal) => {
        begun.resolve();
        signal.addEventListener('abort', () => never.reject(new Error('taken back')));
        return never.promise;
      },
    });
    const session = await client.begin(project.folder);
    const answered = client.prompt(session, 'Run it.');
    await begun.promise;
    await client.connection.agent.notify(methods.agent.session.cancel, { sessionId: session });
    expect((await answered).stopReason).toBe('cancelled');
    await expect(stat(join(project.folder, 'one.txt'))).rejects.toThrow();
  });
});

describe('modes', () => {
  it('read-only closes what writes or runs, whatever the model wants', async () => {
    await using project = await createTestProject();
    await project.script(write, shell('touch one.txt'), { finalReport: '{{lastToolResult}}' });
    await using client = await startAcp(project, ['--mode', 'read-only']);
    const session = await client.begin(project.folder);
    await client.prompt(session, 'Write.');
    expect(client.asked).toEqual([]);
    expect(client.said()).toContain('read-only');
    for (const name of ['a.txt', 'one.txt']) await expect(stat(join(project.folder, name))).rejects.toThrow();
  });

  it('full asks nothing about edits and commands, and opens nothing that the project denies', async () => {
    await using project = await createTestProject('permissions: { shell: { "touch denied*": deny, "*": ask } }');
    await project.script(shell('touch one.txt'), shell('touch denied.txt'), done);
    await using client = await startAcp(project);
    const session = await client.begin(project.folder);
    await client.connection.agent.request(methods.agent.session.setMode, { sessionId: session, modeId: 'full' });
    await client.prompt(session, 'Run both.');
    expect(client.asked).toEqual([]);
    await expect(stat(join(project.folder, 'one.txt'))).resolves.toBeDefined();
    await expect(stat(join(project.folder, 'denied.txt'))).rejects.toThrow();
  });
});
