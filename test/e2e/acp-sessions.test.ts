/** Sessions of `troupe acp`: what a client chooses, comes back to, is told when something goes wrong, and leaves behind. */
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { methods, type PromptResponse } from '@agentclientprotocol/sdk';
import { describe, expect, it } from 'vitest';
import { choose, startAcp, type TestClient } from '../support/acp/acp-client.ts';
import { createTestProject, type TestProject } from './support-project.ts';

const { session: sessions } = methods.agent;
const shell = (command: string) => ({ toolCalls: [{ name: 'shell', input: { command } }] });
const ask = { toolCalls: [{ name: 'ask', input: { question: 'Which colour?', choices: ['red', 'blue'] } }] };
const done = { finalReport: 'All is done.' };
const second = (project: TestProject) => project.write('agents/critic.md', '---\ndescription: Judges.\n---\nYou judge.\n');

/** A client that has been asked and does not answer. */
async function asking(project: TestProject, args: readonly string[] = []) {
  const begun = Promise.withResolvers<void>();
  const takenBack = Promise.withResolvers<void>();
  const client = await startAcp(project, args, {
    permission: (_asked, signal) => {
      begun.resolve();
      signal.addEventListener('abort', () => takenBack.resolve());
      return Promise.withResolvers<never>().promise;
    },
  });
  return { client, begun: begun.promise, takenBack: takenBack.promise };
}

const loaded = (client: TestClient, sessionId: string, cwd: string) =>
  client.connection.agent.request(sessions.load, { sessionId, cwd, mcpServers: [] });

describe('a session', () => {
  it('goes on with what was said, is listed, and comes again with its words and calls when it is loaded', async () => {
    await using project = await createTestProject();
    await project.serve({ text: 'Red it is.' }, (request) => ({
      text: JSON.stringify(request.body).includes('Red it is.') ? 'I remember red.' : 'What?',
    }));
    let session = '';
    {
      await using client = await startAcp(project);
      session = await client.begin(project.folder);
      await client.prompt(session, 'Choose a colour.');
      await client.prompt(session, 'Which was it?');
      expect(client.said()).toContain('I remember red.');
    }
    await using client = await startAcp(project);
    const { sessions: listed } = await client.connection.agent.request(sessions.list, { cwd: project.folder });
    expect(listed).toMatchObject([{ sessionId: session, cwd: project.folder, title: 'Choose a colour.' }]);
    const opened = await loaded(client, session, project.folder);
    expect(opened).toMatchObject({ modes: { currentModeId: 'ask' } });
    expect(client.updates.flatMap(({ update }) => ('content' in update ? [[update.sessionUpdate, update.content]] : []))).toEqual(
      [
        ['user_message_chunk', { type: 'text', text: 'Choose a colour.' }],
        ['agent_message_chunk', { type: 'text', text: 'Red it is.' }],
        ['user_message_chunk', { type: 'text', text: 'Which was it?' }],
        ['agent_message_chunk', { type: 'text', text: 'I remember red.' }],
      ],
    );
  });

  it('is resumed without its words, closed, and unknown afterwards', async () => {
    await using project = await createTestProject();
    await project.serve({ text: 'Well.' });
    await using client = await startAcp(project);
    const { agent } = client.connection;
    const session = await client.begin(project.folder);
    await client.prompt(session, 'Go.');
    await agent.request(sessions.close, { sessionId: session });
    await expect(client.prompt(session, 'Again.')).rejects.toMatchObject({ code: -32_002 });
    const before = client.said();
    await agent.request(sessions.resume, { sessionId: session, cwd: project.folder });
    expect(client.said()).toBe(before);
    expect((await client.prompt(session, 'Again.')).stopReason).toBe('end_turn');
    await expect(loaded(client, 'ses_nobody', project.folder)).rejects.toMatchObject({ code: -32_002 });
  });

  it('answers one prompt at a time', async () => {
    await using project = await createTestProject();
    await project.script(shell('true'), done);
    const { client, begun } = await asking(project);
    await using _client = client;
    const session = await client.begin(project.folder);
    const first = client.prompt(session, 'Go.');
    await begun;
    await expect(client.prompt(session, 'And this.')).rejects.toMatchObject({ code: -32_600, data: { code: 'busy' } });
    const { agent } = client.connection;
    const mode = (modeId: string) => agent.request(sessions.setMode, { sessionId: session, modeId });
    // Less freedom would come too late for what is at work.
    await expect(mode('read-only')).rejects.toMatchObject({ code: -32_600 });
    await expect(mode('nonsense')).rejects.toMatchObject({ code: -32_602 });
    await agent.notify(sessions.cancel, { sessionId: session });
    expect((await first).stopReason).toBe('cancelled');
    await mode('read-only');
  });

  it('is answered by the agent and with the model that the client chooses', async () => {
    await using project = await createTestProject();
    await second(project);
    await project.script({ finalReport: 'The default.' });
    await project.write('other.yaml', JSON.stringify([{ text: 'Another model.' }]));
    await using client = await startAcp(project, ['helper']);
    const { agent } = client.connection;
    const opened = await agent.request(sessions.new, { cwd: project.folder, mcpServers: [] });
    expect(opened.configOptions?.map(({ id, currentValue }) => [id, currentValue])).toEqual([
      ['mode', 'ask'],
      ['model', 'default'],
      ['agent', 'helper'],
    ]);
    const { sessionId } = opened;
    await client.until((update) => update.sessionUpdate === 'available_commands_update');
    const set = (configId: string, value: string) => agent.request(sessions.setConfigOption, { sessionId, configId, value });
    await set('agent', 'critic');
    await set('model', 'scripted:other.yaml');
    await client.prompt(sessionId, 'Judge.');
    expect(client.said()).toBe('Another model.');
    await set('model', 'default');
    await client.prompt(sessionId, '/helper Help.');
    const ps = await project.look('ps', '--all', '--json');
    expect(ps.out.match(/"agent": "\w+"/g)).toEqual(['"agent": "helper"', '"agent": "critic"']);
    await expect(set('agent', 'nobody')).rejects.toMatchObject({ code: -32_602 });
    await expect(set('model', 'scripted:missing.yaml')).rejects.toMatchObject({ code: -32_602 });
    await expect(set('colour', 'red')).rejects.toMatchObject({ code: -32_602 });
  });

  it('has an agent that somebody named, or that there is one of', async () => {
    await using project = await createTestProject();
    await second(project);
    await using client = await startAcp(project);
    await expect(client.begin(project.folder)).rejects.toMatchObject({ message: expect.stringContaining('critic, helper') });
    await expect(client.begin('relative')).rejects.toMatchObject({ code: -32_602 });
    await expect(client.begin(join(project.folder, 'missing'))).rejects.toMatchObject({ code: -32_602 });
  });
});

describe('a question', () => {
  it('is a form for a client that shows one', async () => {
    await using project = await createTestProject();
    await project.script(ask, { finalReport: '{{lastToolResult}}' });
    await using client = await startAcp(project, [], {
      capabilities: { elicitation: { form: {} } },
      question: async (asked) => {
        expect(asked).toMatchObject({ mode: 'form', requestedSchema: { properties: { choice: { enum: ['red', 'blue'] } } } });
        return { action: 'accept', content: { choice: 'blue' } };
      },
    });
    const session = await client.begin(project.folder);
    expect((await client.prompt(session, 'Paint it.')).stopReason).toBe('end_turn');
    expect(client.said()).toContain('blue');
  });

  it('ends the prompt of any other, and the next prompt is its answer', async () => {
    await using project = await createTestProject();
    await project.script(ask, { finalReport: '{{lastToolResult}}' });
    await using client = await startAcp(project);
    const session = await client.begin(project.folder);
    const first = await client.prompt(session, 'Paint it.');
    expect(first).toMatchObject({ stopReason: 'end_turn', _meta: { troupe: { status: 'waiting', modelCalls: 1 } } });
    expect(client.said()).toContain('Which colour?');
    const answered = await client.prompt(session, 'green');
    // What was told of the same run before is not told again.
    expect(answered).toMatchObject({ stopReason: 'end_turn', _meta: { troupe: { status: 'completed', modelCalls: 1 } } });
    expect(client.said()).toContain('green');
  });
});

describe('a permission that somebody else gives', () => {
  it('is taken back from the client, and the run goes on', async () => {
    await using project = await createTestProject();
    await project.script(shell('touch one.txt'), done);
    const { client, begun, takenBack } = await asking(project);
    await using _client = client;
    const session = await client.begin(project.folder);
    const answered = client.prompt(session, 'Go.');
    await begun;
    expect((await project.troupe('approve', 'last')).code).toBe(0);
    await takenBack;
    expect((await answered).stopReason).toBe('end_turn');
    await expect(stat(join(project.folder, 'one.txt'))).resolves.toBeDefined();
  });
});

describe('always', () => {
  it('names the rule that it writes, and is asked once', async () => {
    await using project = await createTestProject();
    await project.script(shell('echo x >> a.txt'), shell('echo x >> a.txt'), done);
    await using client = await startAcp(project, [], { permission: choose('allow_always') });
    const session = await client.begin(project.folder);
    await client.prompt(session, 'Twice.');
    expect(client.asked).toHaveLength(1);
    const always = client.asked[0]?.options.find(({ kind }) => kind === 'allow_always');
    expect(always?.name).toMatch(/^Always in this session: shell .*echo x >> a\.txt/);
    expect(await readFile(join(project.folder, 'a.txt'), 'utf8')).toBe('x\nx\n');
  });
});

describe('a client that goes', () => {
  it('leaves the run to whoever loads the session', async () => {
    await using project = await createTestProject();
    await project.script(shell('touch one.txt'), done);
    let session = '';
    {
      const { client, begun } = await asking(project);
      await using _client = client;
      session = await client.begin(project.folder);
      const answered: Promise<PromptResponse> = client.prompt(session, 'Go.');
      await begun;
      client.child.stdin.end();
      expect(await client.ended).toBe(0);
      await expect(answered).rejects.toThrow();
    }
    await using client = await startAcp(project);
    await loaded(client, session, project.folder);
    expect((await client.prompt(session, 'Go on.')).stopReason).toBe('end_turn');
    await expect(stat(join(project.folder, 'one.txt'))).resolves.toBeDefined();
  });

  it('stops with SIGTERM as with the end of its input', async () => {
    await using project = await createTestProject();
    await project.script(done);
    await using client = await startAcp(project);
    client.child.kill('SIGTERM');
    expect(await client.ended).toBe(0);
  });
});

describe('the end of a prompt', () => {
  it.each<[string, readonly unknown[], string, string, object]>([
    [
      'turns that are used up',
      [shell('true'), shell('true'), { text: 'I had no time.' }],
      'maxTurns: 1',
      'full',
      { stopReason: 'max_turn_requests' },
    ],
    ['a budget that is used up', [shell('true'), done], 'budget: { calls: 1 }', 'full', { stopReason: 'max_turn_requests' }],
    ['a model that refuses', [{ error: { kind: 'refused', message: 'No.' } }], 'maxRetries: 0', 'ask', { stopReason: 'refusal' }],
  ])('%s', async (_what, replies, key, mode, expected) => {
    await using project = await createTestProject('', `---\nname: helper\ntools: [shell]\n${key}\n---\nYou help.\n`);
    await project.script(...replies);
    await using client = await startAcp(project, ['--mode', mode]);
    const session = await client.begin(project.folder);
    expect(await client.prompt(session, 'Go.')).toMatchObject(expected);
  });

  it('is an error with what to do where there is no model', async () => {
    await using project = await createTestProject();
    await using client = await startAcp(project);
    const session = await client.begin(project.folder);
    const refused = client.prompt(session, 'Go.');
    await expect(refused).rejects.toMatchObject({ code: -32_000, message: expect.stringContaining('OPENAI_API_KEY') });
  });

  it('is an error with what to do where the provider fails', async () => {
    await using project = await createTestProject('', '---\nname: helper\nmaxRetries: 0\n---\nYou help.\n');
    await project.script({ error: { kind: 'auth', message: 'bad key' } });
    await using client = await startAcp(project);
    const session = await client.begin(project.folder);
    await expect(client.prompt(session, 'Go.')).rejects.toMatchObject({ data: { run: expect.stringMatching(/^run_/) } });
  });
});
