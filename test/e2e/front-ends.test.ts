/** Clients that others wrote, against a real `troupe serve`: the official package of OpenAI, and the client of AG-UI. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { createTestProject, MAIN, type TestProject } from './support-project.ts';

const CLIENTS = join(import.meta.dirname, '../../tools/executors/node_modules');
const TOKEN = 'owner-0123456789abcdef';
const AGENT = '---\nname: helper\ntools: [write]\npermissions: { write: allow }\n---\nYou help.\n';

/** The packages are there for tests alone, and their types not for the checks: what is used of them is said here. */
interface Client {
  readonly models: { list(): Promise<{ readonly data: readonly { readonly id: string }[] }> };
  readonly chat: { readonly completions: { create(body: object): Promise<Chunks & { readonly choices: readonly Choice[] }> } };
  readonly responses: {
    create(body: object): Promise<Answer>;
    stream(body: object): AsyncIterable<{ readonly type: string }> & { finalResponse(): Promise<Answer> };
    retrieve(id: string): Promise<Answer>;
  };
}
interface Choice {
  readonly message: { readonly content: string };
}
type Chunks = AsyncIterable<{ readonly choices: readonly { readonly delta: { readonly content?: string } }[] }>;
interface Answer {
  readonly id: string;
  readonly output_text: string;
  readonly output: readonly { readonly type: string; readonly status: string }[];
}

async function served(project: TestProject): Promise<AsyncDisposable & { readonly origin: string }> {
  const child = spawn(process.execPath, [MAIN, '-C', project.folder, 'serve', '--port', '0'], {
    env: { ...project.env, TROUPE_TOKEN: TOKEN },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const exit = once(child, 'exit');
  const [first] = await once(createInterface({ input: child.stdout }), 'line');
  return {
    origin: new URL(String(first)).origin,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await exit;
    },
  };
}

it('the package of OpenAI lists, asks, streams and goes on, and is told what is wrong in its own words', async () => {
  await using project = await createTestProject('serve: { openai: true }', AGENT);
  const write = { calls: [{ name: 'write', input: { path: 'a.txt', content: 'one' } }] };
  await project.serve(
    { text: 'Good morning to you.' },
    { text: 'Good evening to you.' },
    write,
    { text: 'It is written.' },
    { text: 'And again.' },
  );
  await using server = await served(project);
  const { OpenAI } = await import(pathToFileURL(join(CLIENTS, 'openai/index.mjs')).href);
  const options = { baseURL: `${server.origin}/v1`, apiKey: TOKEN };
  const client: Client = new OpenAI(options);
  expect((await client.models.list()).data.map(({ id }) => id)).toEqual(['helper']);
  const messages = [{ role: 'user', content: 'hello' }];
  const whole = await client.chat.completions.create({ model: 'helper', messages });
  expect(whole.choices[0]?.message.content).toBe('Good morning to you.');
  const more = [...messages, whole.choices[0]?.message, { role: 'user', content: 'again' }];
  const words: string[] = [];
  for await (const chunk of await client.chat.completions.create({ model: 'helper', messages: more, stream: true }))
    words.push(chunk.choices[0]?.delta.content ?? '');
  expect(words.join('')).toBe('Good evening to you.');
  expect(words.filter((word) => word !== '').length).toBeGreaterThan(1);
  const stream = client.responses.stream({ model: 'helper', input: 'write' });
  const types = new Set<string>();
  for await (const { type } of stream) types.add(type);
  const answer = await stream.finalResponse();
  expect([...types]).toEqual(
    expect.arrayContaining(['response.created', 'response.mcp_call.completed', 'response.output_text.delta']),
  );
  expect([answer.output_text, answer.output.map(({ type, status }) => `${type} ${status}`)]).toEqual([
    'It is written.',
    ['mcp_call completed', 'message completed'],
  ]);
  expect((await client.responses.create({ model: 'helper', input: 'more', previous_response_id: answer.id })).output_text).toBe(
    'And again.',
  );
  expect((await client.responses.retrieve(answer.id)).output_text).toBe('It is written.');
  const refused = client.chat.completions.create({ model: 'nobody', messages });
  await expect(refused).rejects.toMatchObject({ status: 404, code: 'model_not_found', param: 'model' });
  const stranger: Client = new OpenAI({ ...options, apiKey: 'wrong-0123456789abcdef' });
  await expect(stranger.models.list()).rejects.toMatchObject({ status: 401, code: 'invalid_api_key' });
});

/** What is used of the client of AG-UI. */
interface HttpAgent {
  readonly messages: readonly { readonly role: string; readonly content?: string }[];
  readonly pendingInterrupts: readonly { readonly id: string; readonly metadata: { readonly shown: string } }[];
  addMessage(message: object): void;
  runAgent(parameters?: object, subscriber?: object): Promise<{ readonly result: unknown }>;
}

it('the client of AG-UI has a run as its events, with sub-agents, and answers what interrupts it', async () => {
  const lead = '---\nname: lead\nagents: [helper]\n---\nYou lead.\n';
  await using project = await createTestProject('serve: { agui: true }', AGENT.replace('write: allow', 'write: ask'));
  await project.write('agents/lead.md', lead);
  const write = { calls: [{ name: 'write', input: { path: 'a.txt', content: 'one' } }] };
  const call = { calls: [{ name: 'helper', input: { prompt: 'write it', reason: 'it has to be written' } }] };
  await project.serve(call, write, { text: 'It is written.' }, { text: 'All is done.' });
  await using server = await served(project);
  const { HttpAgent: Agent } = await import(pathToFileURL(join(CLIENTS, '@ag-ui/client/dist/index.mjs')).href);
  const url = `${server.origin}/agui/agents/lead`;
  const agent: HttpAgent = new Agent({ url, threadId: 'one', headers: { authorization: `Bearer ${TOKEN}` } });
  const types: string[] = [];
  const subscriber = { onEvent: ({ event }: { readonly event: { readonly type: string } }) => void types.push(event.type) };
  agent.addMessage({ id: 'm1', role: 'user', content: 'begin' });
  await agent.runAgent({ runId: 'r1' }, subscriber);
  const [interrupt] = agent.pendingInterrupts;
  expect(types).toEqual(expect.arrayContaining(['RUN_STARTED', 'TOOL_CALL_START', 'SUBAGENT_STARTED', 'SUBAGENT_FINISHED']));
  const payload = { approved: true, shown: interrupt?.metadata.shown };
  const resume = [{ interruptId: interrupt?.id, status: 'resolved', payload }];
  const { result } = await agent.runAgent({ runId: 'r2', resume }, subscriber);
  expect(result).toMatchObject({ status: 'completed', finalAgent: 'lead' });
  expect(agent.messages.filter(({ role }) => role === 'assistant').at(-1)?.content).toBe('All is done.');
});
