/** What callers of one server may do that are not its owner: what their entry says, and permissions stay the owner's to give. */
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type AssistantsClient, type HttpServer, startHttp, textsOf } from '../support/assistants/client.ts';
import { only, sessionOf } from '../support/assistants/ledger.ts';
import { createAssistantsProject, toolsOf } from '../support/assistants/served-project.ts';
import type { Reply, SeenRequest } from '../support/models/script.ts';

const OWNER = 'owner-0123456789abcdef';
const ALICE = 'alice-0123456789abcdef';
const BOB = 'bob-0123456789abcdef';
const TOKENS = { TROUPE_TOKEN: OWNER, TROUPE_TOKENS: `alice=${ALICE},bob=${BOB}` };

const AGENTS = {
  maker: 'description: Makes files by command\ntools: [shell]',
  leader: 'description: Leads\nagents: [maker]',
  asker: 'description: Asks\ntools: [ask]',
  writer: 'description: Writes files\ntools: [write]',
  spawner: 'description: Spawns\ntools: [assistants]',
  coder: 'description: Has an executor\nexecutor: mine',
  planner: 'description: Plans\narchitect: { executor: mine, workspace: in-place }',
};

const first: Readonly<Record<string, { readonly name: string; readonly input: object }>> = {
  make: { name: 'shell', input: { command: 'touch made.txt' } },
  ask: { name: 'ask', input: { question: 'Which one?' } },
  write: { name: 'write', input: { path: 'written.txt', content: 'Hello.' } },
  spawn: { name: 'spawn_assistant', input: { assistant_id: 'maker', query: 'make', run_mode: 'sync' } },
  list: { name: 'list_assistant', input: {} },
};

/** The task's one word says what is called; then the agent says what it got. */
function play({ toolResults, body }: SeenRequest): Reply {
  const text = JSON.stringify(body);
  const call = Object.entries(first).find(([word]) => text.includes(`task: ${word}.`))?.[1];
  if (toolResults === 0 && call !== undefined) return { calls: [{ name: call.name, input: { ...call.input } }] };
  const got = ['There is no assistant', 'can run commands (its tool shell)'].filter((word) =>
    text.replaceAll('\\', '').includes(word),
  );
  return { text: `Done. ${got.join(' ')}` };
}

async function served(settings: string, prepare: (folder: string) => Promise<unknown> = async () => undefined) {
  const { project } = await createAssistantsProject(AGENTS, play, settings);
  await prepare(project.folder);
  const server: HttpServer = await startHttp(project, TOKENS);
  const [owner, alice, bob] = await Promise.all([OWNER, ALICE, BOB].map((token) => server.connect('2026-07-28', token)));
  if (owner === undefined || alice === undefined || bob === undefined) throw new Error('three clients');
  return {
    ...{ project, owner, alice, bob },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await project[Symbol.asyncDispose]();
    },
  };
}

const spawnText = async (client: AssistantsClient, assistant_id: string, word: string): Promise<string> =>
  textsOf(await client.result('spawn_assistant', { assistant_id, query: `task: ${word}.`, run_mode: 'sync' })).join('\n');

describe('a permission', () => {
  it('is not given by the caller that asked for the run, but by the owner', async () => {
    await using world = await served('serve: { commands: [maker] }\n');
    const { project, owner, alice, bob } = world;
    for (const by of ['command line', 'client'] as const) {
      const { spawn, receive, untilEnded } = toolsOf(alice);
      const { process_id, thread_id } = await spawn('maker', 'task: make.');
      const { messages } = await receive(thread_id, { unread_only: true, mark_as_read: true, wait_ms: 60_000 });
      expect(messages).toMatchObject([{ content: expect.stringContaining('until the owner of the project has answered') }]);
      for (const client of [alice, bob]) {
        const refused = await client.result('answer_assistant', { process_id, answer: 'yes' });
        expect(refused.isError).toBe(true);
        expect(textsOf(refused).join('')).toMatch(client === alice ? /by the owner of this project, not by you/ : /no process/);
      }
      const answered = only(await sessionOf(project.folder, process_id), 'approval.answered');
      expect(answered).toEqual([]);
      if (by === 'client') await owner.callTool('answer_assistant', { process_id, answer: 'yes' });
      else expect(await project.troupe('approve', process_id)).toMatchObject({ code: 0 });
      expect((await untilEnded(process_id)).process).toMatchObject({ status: 'finished' });
    }
    expect(existsSync(join(project.folder, 'made.txt'))).toBe(true);
  });

  it('that was remembered for one run is asked for again in the next', async () => {
    await using world = await served('serve: { commands: [maker] }\n');
    const { spawn, receive, untilEnded } = toolsOf(world.alice);
    const one = await spawn('maker', 'task: make.');
    await receive(one.thread_id, { unread_only: true, mark_as_read: true, wait_ms: 60_000 });
    expect(await world.project.troupe('approve', one.process_id, '--remember')).toMatchObject({ code: 0 });
    await untilEnded(one.process_id);
    expect(await spawnText(world.alice, 'maker', 'make')).toContain('It waits for the owner of the project');
  });

  it('is given by a caller whose entry says that it may', async () => {
    await using world = await served('serve: { commands: allow, callers: { alice: { approves: true } } }\n');
    const { spawn, receive, untilEnded } = toolsOf(world.alice);
    const { process_id, thread_id } = await spawn('maker', 'task: make.');
    await receive(thread_id, { unread_only: true, mark_as_read: true, wait_ms: 60_000 });
    expect(await world.alice.callTool('answer_assistant', { process_id, answer: 'yes' })).toEqual({ success: true });
    expect((await untilEnded(process_id)).process).toMatchObject({ status: 'finished' });
  });
});

it('a question in words is answered by whoever spawned the run, unless its entry says no', async () => {
  await using world = await served('serve: { callers: { bob: { answers: false } } }\n');
  for (const client of [world.alice, world.bob]) {
    const { spawn, receive, untilEnded } = toolsOf(client);
    const { process_id, thread_id } = await spawn('asker', 'task: ask.');
    await receive(thread_id, { unread_only: true, mark_as_read: true, wait_ms: 60_000 });
    const result = await client.result('answer_assistant', { process_id, answer: 'The second.' });
    expect(result.isError === true).toBe(client === world.bob);
    if (client === world.bob) await world.owner.callTool('answer_assistant', { process_id, answer: 'The second.' });
    expect((await untilEnded(process_id)).process).toMatchObject({ status: 'finished' });
  }
});

it('with several callers agents that run commands are refused, to the owner too, and so is who may call them', async () => {
  const executors = JSON.stringify({ executors: { mine: { command: ['touch', 'made.txt'] } } });
  await using world = await served('', (folder) => writeFile(join(folder, 'executors.yaml'), executors));
  for (const client of [world.owner, world.alice]) {
    for (const name of ['maker', 'leader']) {
      const text = await spawnText(client, name, 'make');
      expect(text).toContain('commands_refused');
      expect(text).toContain('serve: { commands: [maker] }');
    }
    expect(await spawnText(client, 'executor:mine', 'make')).toContain('no_agent');
    for (const name of ['coder', 'planner']) {
      const text = await spawnText(client, name, 'make');
      expect(text).toContain('commands_refused');
      expect(text).toContain('the executor mine');
    }
    expect(await spawnText(client, 'spawner', 'spawn')).toContain('Done. can run commands (its tool shell)');
    expect(await spawnText(client, 'writer', 'write')).toContain('Done.');
  }
  expect(existsSync(join(world.project.folder, 'made.txt'))).toBe(false);
});

it('an agent that a caller may not spawn does not exist for it, nor for those that work for it', async () => {
  await using world = await served('serve: { commands: allow, callers: { alice: { spawn: [writer, spawner] } } }\n');
  const { alice, bob } = world;
  expect(await alice.callTool('list_assistant', {})).toMatchObject({
    items: [{ name: 'spawner' }, { name: 'writer' }],
    totalItems: 2,
  });
  expect(await bob.callTool('list_assistant', {})).toMatchObject({ totalItems: Object.keys(AGENTS).length + 1 });
  expect(JSON.stringify(await alice.callTool('search_assistant', { query: 'makes files by command' }))).not.toContain('maker');
  expect(await spawnText(alice, 'maker', 'make')).toContain('no_agent');
  expect(await spawnText(alice, 'spawner', 'spawn')).toContain('Done. There is no assistant');
  const { process_id } = await toolsOf(alice).spawn('spawner', 'task: list.');
  await toolsOf(alice).untilEnded(process_id);
  const results = only(await sessionOf(world.project.folder, process_id), 'tool.result');
  expect(JSON.stringify(results)).not.toContain('maker');
  expect(results.length).toBeGreaterThan(0);
});

it('each caller can have a workspace of its own, and it is said who has none', async () => {
  const settings = 'serve: { callers: { alice: { workspace: work/alice } } }\n';
  await using world = await served(settings, (folder) => mkdir(join(folder, 'work/alice'), { recursive: true }));
  const { project } = world;
  for (const client of [world.alice, world.bob]) expect(await spawnText(client, 'writer', 'write')).toContain('Done.');
  expect(existsSync(join(project.folder, 'work/alice/written.txt'))).toBe(true);
  expect(existsSync(join(project.folder, 'written.txt'))).toBe(true);

  Object.assign(project.env, TOKENS);
  const again = project.start(['serve', '--port', '0', '--allow-commands']);
  await again.says('may run commands for every caller');
  await again.says('warning: bob works in your own workspace');
  again.kill('SIGTERM');
  expect((await again.ended).err).not.toContain('alice works');
  await project.write('troupe.yaml', settings.replace('work/alice', 'work/nobody'));
  expect(await project.troupe('serve', '--port', '0')).toMatchObject({ code: 2, err: expect.stringContaining('mkdir -p') });
});
