/**
 * Two servers of one project, and the one that has taken everything is killed: the other, which lives, goes on with what was at
 * work and with what had not begun, whichever way it came in; nothing is done twice.
 */
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { serve } from '../support/a2a/serve-process.ts';
import { ALICE } from '../support/a2a/served.ts';
import { createTestProject, type TestProject } from './support-project.ts';

const OWNER = 'owner-0123456789abcdef';
const HELPER = '---\nname: helper\ndescription: Helps\na2a: true\nisolation: inline\n---\nYou help.\n';

/** As the owner, over the API. */
async function begin(origin: string, prompt: string): Promise<string> {
  const headers = { authorization: `Bearer ${OWNER}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ agent: 'helper', prompt });
  const answer = await fetch(new URL('/api/v1/runs', origin), { method: 'POST', headers, body });
  const told: unknown = await answer.json();
  if (typeof told !== 'object' || told === null || !('run' in told)) throw new Error(JSON.stringify(told));
  return String(told.run);
}

it('what is to pause, was forked, is of a project below, or of a person who has it back is left as it stands', async () => {
  await using project = await createTestProject('', HELPER);
  const below: Pick<TestProject, 'folder' | 'env'> = { folder: join(project.folder, 'below'), env: project.env };
  await project.write(
    'below/troupe.yaml',
    `ledger: sqlite:${join(project.folder, '.troupe/ledger.db')}\npermissions: { write: deny }\n`,
  );
  await project.write('below/agents/helper.md', HELPER);
  const { promise: isLetGo, resolve: letGo } = Promise.withResolvers<void>();
  const model = await project.serve(async ({ body }) => {
    if (JSON.stringify(body).includes('Hold')) await isLetGo;
    return { text: 'Done.' };
  });
  const asked = (words: string): number => model.requests.filter(({ body }) => JSON.stringify(body).includes(words)).length;
  const stateOf = async (run: string): Promise<unknown> => {
    const { out } = await project.look('ps', '--all', '--json');
    return (JSON.parse(out) as { run: string; state: string }[]).find((one) => one.run === run)?.state;
  };
  await using _living = await serve(project);

  const killed = await serve(project);
  const whole = await begin(killed.origin, 'Whole.');
  await expect.poll(() => stateOf(whole)).toBe('completed');
  expect((await project.look('fork', whole, '--set', 'prompt=Forked.', '--no-run')).code).toBe(0);
  const paused = await begin(killed.origin, 'Hold, to be paused.');
  await expect.poll(() => asked('to be paused')).toBe(1);
  expect((await project.look('pause', paused)).code).toBe(0);
  const mine = project.start(['run', 'helper', 'Hold mine.']);
  await expect.poll(() => asked('Hold mine.')).toBe(1);
  mine.kill('SIGKILL');
  await mine.ended;
  const killedBelow = await serve(below);
  const another = await begin(killedBelow.origin, 'Hold, of another project.');
  await expect.poll(() => asked('of another project')).toBe(1);
  await killedBelow.end('SIGKILL');
  const due = await begin(killed.origin, 'Hold, and go on.');
  await expect.poll(() => asked('and go on')).toBe(1);
  await killed.end('SIGKILL');
  letGo();

  // What was there before it has been looked at when this one has ended: the oldest comes first.
  await expect.poll(() => stateOf(due)).toBe('completed');
  expect([asked('to be paused'), asked('of another project'), asked('Hold mine.'), asked('Forked.')]).toEqual([1, 1, 1, 0]);
  expect([await stateOf(paused), await stateOf(another)]).toEqual(['interrupted', 'interrupted']);
});

it('what a killed server has accepted is done by the one that lives, begun or not, over every door', async () => {
  await using project = await createTestProject('assistants: { active: 1 }\n', HELPER);
  await project.write('agents/desk.md', '---\nname: desk\ngroup: { mode: broadcast, workers: [helper] }\n---\nYou lead.\n');
  const { promise: isLetGo, resolve: letGo } = Promise.withResolvers<void>();
  const model = await project.serve(async ({ body }) => {
    const said = JSON.stringify(body);
    if (said.includes('Hold')) await isLetGo;
    return { text: 'Done.' };
  });
  await using _living = await serve(project);
  const post = async (origin: string, path: string, body: object, token = OWNER): Promise<Record<string, unknown>> => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'a2a-version': '1.0' };
    const accept = { accept: 'application/json, text/event-stream' };
    const answer = await fetch(new URL(path, origin), {
      method: 'POST',
      headers: { ...headers, ...accept },
      body: JSON.stringify(body),
    });
    const text = await answer.text();
    expect([path, answer.status, text]).toEqual([path, expect.toSatisfy((code: number) => code < 300), expect.any(String)]);
    return JSON.parse(text.replace(/^event: message\ndata: /, '')) as Record<string, unknown>;
  };
  let sent = 0;
  const send = async (origin: string, words: string): Promise<void> => {
    sent += 1;
    const message = { messageId: `m-${sent}`, role: 'ROLE_USER', parts: [{ text: words }] };
    const params = { message, configuration: { returnImmediately: true } };
    expect(await post(origin, '/a2a', { jsonrpc: '2.0', id: 1, method: 'SendMessage', params }, ALICE)).toHaveProperty('result');
  };
  const states = async (): Promise<readonly string[]> => {
    const { out } = await project.look('ps', '--all', '--json');
    const roots = (JSON.parse(out) as { state: string; parent: string | null }[]).filter(({ parent }) => parent === null);
    return roots.map(({ state }) => state);
  };

  const asked = (words: string): number => model.requests.filter(({ body }) => JSON.stringify(body).includes(words)).length;

  // The one that lives has had its first look when this is done: what comes later is found by one that was there all along.
  const before = await serve(project);
  await send(before.origin, 'Before.');
  await before.end('SIGKILL');
  await expect.poll(states).toEqual(['completed']);

  const killed = await serve(project);
  await send(killed.origin, 'Hold.');
  await expect.poll(() => asked('Hold.')).toBe(1);
  await send(killed.origin, 'Submitted.');
  const { session } = await post(killed.origin, '/api/v1/runs', { agent: 'helper', prompt: 'Hold the API.' });
  await expect.poll(() => asked('Hold the API.')).toBe(1);
  await post(killed.origin, `/api/v1/sessions/${session}/prompts`, { text: 'In its turn.' });
  await post(killed.origin, '/api/v1/groups', { name: 'desk', agent: 'desk' });
  await post(killed.origin, '/api/v1/groups/desk/prompts', { text: 'Hold the group.' });
  await post(killed.origin, '/api/v1/groups/desk/prompts', { text: 'Then this.' });
  const args = { assistant_id: 'helper', query: 'Spawned.', run_mode: 'async' };
  await post(killed.origin, '/mcp', {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'spawn_assistant', arguments: args },
  });
  const mine = project.start(['run', 'helper', 'Hold mine.']);
  await expect.poll(() => asked('Hold mine.')).toBe(1);
  await expect.poll(() => asked('Hold the group.')).toBeGreaterThan(0);
  mine.kill('SIGKILL');
  await mine.ended;
  await killed.end('SIGKILL');
  letGo();

  const done = Array.from({ length: 8 }, () => 'completed');
  await expect.poll(async () => (await states()).toSorted()).toEqual([...done, 'interrupted']);
  // What had not begun is asked once, by the one that lives.
  for (const words of ['Submitted.', 'In its turn.', 'Spawned.']) expect([words, asked(words)]).toEqual([words, 1]);
  expect((await project.look('ledger', 'verify')).code).toBe(0);
});
