/** Agent files that change while a server runs: whatever comes in after that, by whichever way, is for the agent of then. */
import { methods } from '@agentclientprotocol/sdk';
import { expect, it } from 'vitest';
import { startAcp } from '../support/acp/acp-client.ts';
import { createTestProject, type TestProject } from './support-project.ts';

const OWNER = 'owner-token-0123456789abcdef';
const ALICE = 'alice-token-0123456789abcdef';

/** An agent that takes in another file, which changes; and one that changes itself. */
async function rewrite(project: TestProject, number: number): Promise<void> {
  await project.write('agents/_rules.md', `Rule ${number}.`);
  await project.write('agents/helper.md', `---\nname: helper\na2a: true\ndescription: Helps\n---\nYou are number ${number}.\n`);
}

it('a run, the next prompt, a group and a task of a peer have the files as they are now, over every door', async () => {
  await using project = await createTestProject('serve: { openai: true, agui: true }\n');
  await project.write('agents/taker.md', `---\nname: taker\ndescription: Takes in\n---\n\${include:_rules.md}\n`);
  await project.write('agents/desk.md', '---\nname: desk\ngroup: { mode: broadcast, workers: [helper] }\n---\nYou lead.\n');
  await rewrite(project, 0);
  const model = await project.serve({ text: 'Done.' });
  Object.assign(project.env, { TROUPE_TOKEN: OWNER, TROUPE_TOKENS: `alice=${ALICE}` });
  const serving = project.start(['serve', '--port', '0']);
  await serving.says('HTTP API:');
  const { origin } = new URL((await project.look('console')).out.trim());
  const post = async (path: string, body: object, token = OWNER): Promise<Record<string, unknown>> => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'a2a-version': '1.0' };
    const accept = path === '/mcp' ? { accept: 'application/json, text/event-stream' } : {};
    const answer = await fetch(new URL(path, origin), {
      method: 'POST',
      headers: { ...headers, ...accept },
      body: JSON.stringify(body),
    });
    const text = await answer.text();
    expect([path, answer.status, text]).toEqual([path, expect.toSatisfy((code: number) => code < 300), expect.any(String)]);
    return text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : {};
  };
  let session = '';
  const message = { messageId: 'm-1', role: 'ROLE_USER', parts: [{ text: 'Go.' }] };
  const doors: readonly (readonly [string, () => Promise<unknown>])[] = [
    [
      'the API, for the owner',
      async () => {
        session = String((await post('/api/v1/runs', { agent: 'helper', prompt: 'Go.' }))['session']);
      },
    ],
    ['the API, for a caller', () => post('/api/v1/runs', { agent: 'helper', prompt: 'Go.' }, ALICE)],
    ['the next prompt of a session', () => post(`/api/v1/sessions/${session}/prompts`, { text: 'And now?' })],
    [
      'a group',
      async () => {
        await post('/api/v1/groups', { name: 'desk', agent: 'desk' });
        await post('/api/v1/groups/desk/prompts', { text: 'Go.' });
      },
    ],
    [
      'MCP',
      () => {
        const args = { assistant_id: 'helper', query: 'Go.', run_mode: 'async' };
        return post('/mcp', {
          jsonrpc: '2.0',
          id: 1,
          method: 'tools/call',
          params: { name: 'spawn_assistant', arguments: args },
        });
      },
    ],
    ['A2A', () => post('/a2a', { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } }, ALICE)],
    ['OpenAI', () => post('/v1/chat/completions', { model: 'helper', messages: [{ role: 'user', content: 'Go.' }] })],
    [
      'AG-UI',
      () => {
        const said = [{ id: 'u1', role: 'user', content: 'Go.' }];
        const input = { threadId: 't', runId: 'r', messages: said, tools: [], context: [], state: {}, forwardedProps: {} };
        return post('/agui/agents/helper', input);
      },
    ],
  ];
  const heard = (words: string): boolean => model.requests.some(({ body }) => JSON.stringify(body).includes(words));
  for (const [index, [door, go]] of doors.entries()) {
    await rewrite(project, index + 1);
    await go();
    await expect.poll(() => heard(`number ${index + 1}.`), { message: door }).toBe(true);
    await post('/api/v1/runs', { agent: 'taker', prompt: 'Go.' });
    await expect.poll(() => heard(`Rule ${index + 1}.`), { message: door }).toBe(true);
  }
  serving.kill('SIGTERM');
  await serving.ended;
});

it('an editor’s next session and its next prompt have them, too', async () => {
  await using project = await createTestProject();
  await rewrite(project, 1);
  const model = await project.serve({ text: 'Done.' });
  await using client = await startAcp(project);
  const session = await client.begin(project.folder);
  await client.prompt(session, 'Go.');
  await rewrite(project, 2);
  await client.prompt(session, 'And now?');
  await rewrite(project, 3);
  await client.prompt(await client.begin(project.folder), 'Go.');
  const numbers = model.requests.map(({ body }) => /number (\d)/.exec(JSON.stringify(body))?.[1]);
  expect(numbers).toEqual(['1', '2', '3']);
  await client.connection.agent.request(methods.agent.session.close, { sessionId: session });
});
