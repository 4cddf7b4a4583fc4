/**
 * Troupe asks Troupe: the command line in one project, and the agents of another behind a real server. Each has its own ledger,
 * and a model server of its own that counts who was asked.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it } from 'vitest';
import { openProject } from '../../src/project/open.ts';
import { eventually } from '../support/a2a/peer.ts';
import { ALICE, OWNER, type Served, type ServedOptions, served } from '../support/a2a/served.ts';
import { polledDoor } from '../support/peers/polled-door.ts';
import { sdkServer } from '../support/peers/sdk-server.ts';
import { createTestProject, MAIN, type TestProject } from './support-project.ts';

interface Pair extends AsyncDisposable {
  readonly there: Served;
  readonly here: TestProject;
}

const TOKEN = `\${THERE_TOKEN}`;
const ONE = '/a2a/agents/helper/.well-known/agent-card.json';

async function caller(origin: string, more = '', path = ONE): Promise<TestProject> {
  const here = await createTestProject();
  here.env['THERE_TOKEN'] = OWNER;
  await here.write('agents/weather.md', `---\nname: weather\na2a: { card: "${origin}${path}", token: "${TOKEN}"${more} }\n---\n`);
  await here.look('agents', 'allow', 'weather', '--yes');
  return here;
}

async function pair(options: ServedOptions, more = '', path = ONE): Promise<Pair> {
  const there = await served(options);
  const here = await caller(there.origin, more, path);
  return {
    there,
    here,
    async [Symbol.asyncDispose]() {
      await here[Symbol.asyncDispose]();
      await there[Symbol.asyncDispose]();
    },
  };
}

const tasksOf = ({ project }: Served) => project.ledger.runs({ roots: true, limit: 10 });

describe('an agent that lives elsewhere', () => {
  it('is run like one that lives here', async () => {
    await using world = await pair({ play: () => ({ text: 'Sun in Porto.' }) });
    const ended = await world.here.troupe('run', 'weather', 'How is it in Porto?');
    expect(ended).toMatchObject({ code: 0, out: expect.stringContaining('Sun in Porto.') });
    expect(await tasksOf(world.there)).toMatchObject([{ agent: 'helper', state: 'completed' }]);
    const logs = await world.here.look('logs', 'last', '--jsonl');
    expect(logs.out).not.toContain(OWNER);
    // And in the same conversation again.
    const again = await world.here.troupe('run', '--continue', 'And tomorrow?');
    expect(again).toMatchObject({ code: 0, out: expect.stringContaining('Sun in Porto.') });
    const tasks = await tasksOf(world.there);
    expect(tasks).toHaveLength(2);
    expect(new Set(tasks.map(({ session }) => session)).size).toBe(1);
  });

  it('is asked over gRPC, and the command ends', async () => {
    await using world = await pair({ play: () => ({ text: 'Sun.' }) }, ', binding: GRPC', '/.well-known/agent-card.json');
    expect(await world.here.troupe('run', 'weather', 'How is it?')).toMatchObject({
      code: 0,
      out: expect.stringContaining('Sun.'),
    });
  });

  it('asks, and the answer goes back into its task', async () => {
    await using world = await pair({
      play: ({ index }) =>
        index === 0
          ? { calls: [{ name: 'ask', input: { question: 'Which \u001b[2Jcity?' } }] }
          : { text: 'Rain \u001b[2Jthere.' },
    });
    const asked = await world.here.troupe('run', 'weather', 'How is it?');
    expect(asked.code).toBe(5);
    expect(asked.out + asked.err).toMatch(/Which .*city\?/);
    // What a stranger says does nothing to the terminal.
    expect(asked.out + asked.err).not.toContain('\u001b[2J');
    expect(await tasksOf(world.there)).toMatchObject([{ state: 'waiting' }]);
    const answered = await world.here.troupe('answer', 'last', 'Porto');
    expect(answered).toMatchObject({ code: 0, out: expect.stringMatching(/Rain .*there\./) });
    expect(answered.err).not.toContain('\u001b[2J');
    expect(await tasksOf(world.there)).toMatchObject([{ state: 'completed' }]);
  });

  it('asks leave in a form of its own, and is given it in that form, by another process', async () => {
    await using there = await sdkServer();
    await using here = await createTestProject();
    await here.write('agents/coder.md', `---\nname: coder\na2a: { card: "${there.card}" }\n---\n`);
    await here.look('agents', 'allow', 'coder', '--yes');
    const asked = await here.troupe('run', 'coder', 'leave');
    expect(asked).toMatchObject({ code: 5, err: expect.stringMatching(/touch a[\s\S]*rm -rf b[\s\S]*allow/) });
    const answered = await here.troupe('answer', 'last', 'allow');
    expect(answered).toMatchObject({ code: 0, out: expect.stringContaining('{"callId":"second","outcome":"proceed_once"}') });
  });

  it('makes files, which are artifacts here when it is gone', async () => {
    const there = await sdkServer();
    await using here = await createTestProject();
    await here.write('agents/maps.md', `---\nname: maps\na2a: "${there.card}"\n---\n`);
    const ended = await here.troupe('run', 'maps', 'file');
    await there[Symbol.asyncDispose]();
    expect(ended).toMatchObject({ code: 0, out: expect.stringContaining('kept as artifact://docs/map.bin]') });
    expect((await here.look('artifacts', 'list')).out).toMatch(/doc +5 B +artifact:\/\/docs\/map\.bin +maps, at a2a:127/);
    expect((await here.look('artifacts', 'show', 'artifact://docs/map.bin')).out).toMatch(/name there: +map\.bin\ntask there: /);
    expect((await here.look('artifacts', 'manifest')).out).toContain('ref: artifact://docs/map.bin');
    expect((await here.look('artifacts', 'get', 'artifact://docs/map.bin', '-o', 'copy.bin')).code).toBe(0);
    expect(await readFile(join(here.folder, 'copy.bin'))).toEqual(Buffer.from([0, 255, 1, 254, 7]));
    expect(JSON.parse((await here.look('tasks', 'show', 'last', '--json')).out)).toMatchObject({
      artifacts: [{ artifactId: 'result' }, { name: 'map.bin', parts: [{ file: { uri: 'artifact://docs/map.bin' } }] }],
    });
  });

  it('waits until its owner lets it in, which only the owner can', async () => {
    await using world = await pair({
      play: ({ index }) =>
        index === 0 ? { calls: [{ name: 'shell', input: { command: 'echo hi' } }] } : { text: 'It said hi.' },
    });
    world.here.env['THERE_TOKEN'] = ALICE;
    const asked = await world.here.troupe('run', 'weather', 'Say hi.');
    expect(asked).toMatchObject({ code: 5, err: expect.stringContaining('It must be let in before it goes on') });
    const { engine } = world.there.project;
    const [task] = await tasksOf(world.there);
    if (task === undefined) throw new Error('there is no task');
    for (const { run, wait } of await engine.waits(task.run)) await engine.answer(run, wait, { kind: 'approved' });
    await engine.resume(task.run);
    const done = await world.here.troupe('answer', 'last', 'It may.');
    expect(done).toMatchObject({ code: 0, out: expect.stringContaining('It said hi.') });
    expect(await tasksOf(world.there)).toMatchObject([{ state: 'completed' }]);
  });

  it('is cancelled with the run', async () => {
    await using world = await pair({ play: () => new Promise(() => undefined) });
    const running = world.here.start(['run', 'weather', 'How is it?']);
    await eventually(async () => (await tasksOf(world.there)).find(({ state }) => state === 'running'));
    const cancelled = await world.here.troupe('cancel', 'last');
    expect(cancelled.code).toBe(0);
    await running.ended;
    expect(await tasksOf(world.there)).toMatchObject([{ state: 'cancelled' }]);
  });
});

/** `troupe serve` as a process, at a port that it can be started at again. */
async function serving(project: TestProject, port = '0') {
  const child = spawn(process.execPath, [MAIN, '-C', project.folder, 'serve', '--port', port], {
    env: { ...project.env, TROUPE_TOKEN: OWNER },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const exit = once(child, 'exit');
  const [first] = await once(createInterface({ input: child.stdout }), 'line');
  const { origin, port: taken } = new URL(String(first));
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    child.kill(signal);
    await exit;
  };
  return { origin, port: taken, end };
}

const SERVED = '---\nname: helper\ndescription: Helps\na2a: true\nisolation: inline\n---\nYou help.\n';

it.each([
  { killed: ['the caller'], when: 'model.request' },
  { killed: ['the caller'], when: 'peer.sent' },
  { killed: ['the caller', 'the peer'], when: 'peer.sent' },
  { killed: ['the peer'], when: 'peer.task' },
  { killed: ['the caller', 'the peer'], when: 'peer.task' },
])('does it once when $killed is killed at $when', async ({ killed, when }) => {
  await using there = await createTestProject('', SERVED);
  const gone = Promise.withResolvers<void>();
  await there.serve(async () => {
    await gone.promise;
    return { text: 'Still here.' };
  });
  let server = await serving(there);
  try {
    await using here = await caller(server.origin);
    const running = here.start(['run', 'weather', 'How is it?']);
    await eventually(async () => ((await here.look('logs', 'last', '--jsonl')).out.includes(`"${when}"`) ? true : undefined));
    if (killed.includes('the caller')) running.kill('SIGKILL');
    if (killed.includes('the peer')) await server.end('SIGKILL');
    gone.resolve();
    if (killed.includes('the peer')) server = await serving(there, server.port);
    const first = await running.ended;
    const ended = killed.includes('the caller') ? await here.troupe('resume', 'last') : first;
    expect(ended).toMatchObject({ code: 0, out: expect.stringContaining('Still here.') });
    await using project = await openProjectOf(there);
    expect(await project.ledger.runs({ roots: true, limit: 10 })).toMatchObject([{ state: 'completed' }]);
  } finally {
    await server.end('SIGTERM');
  }
});

it.each([
  { killed: ['the caller'], when: 'was sent' },
  { killed: ['the caller', 'the peer'], when: 'has a task' },
])('that has to be asked how it is does it once, when $killed is killed after the message $when', async ({ killed, when }) => {
  await using there = await createTestProject('', SERVED);
  const gone = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  await there.serve(async () => {
    begun.resolve();
    await gone.promise;
    return { text: 'Still here.' };
  });
  let server = await serving(there);
  try {
    await using door = await polledDoor(() => server.origin, when === 'was sent' ? gone.promise : Promise.resolve());
    await using here = await caller(door.origin);
    const running = here.start(['run', 'weather', 'How is it?']);
    await begun.promise;
    // Either nobody here knows yet what became of the message, or it is being asked how its task is.
    if (when === 'has a task')
      await eventually(async () => ((await here.look('logs', 'last', '--jsonl')).out.includes('"peer.task"') ? true : undefined));
    running.kill('SIGKILL');
    if (killed.includes('the peer')) await server.end('SIGKILL');
    await running.ended;
    gone.resolve();
    if (killed.includes('the peer')) server = await serving(there, server.port);
    const ended = await here.troupe('resume', 'last');
    expect(ended).toMatchObject({ code: 0, out: expect.stringContaining('Still here.') });
    expect(door.asked.filter((method) => method === 'SendMessage')).toHaveLength(1);
    expect(new Set(door.asked)).toEqual(new Set(['SendMessage', 'GetTask', ...(when === 'was sent' ? ['ListTasks'] : [])]));
    await using project = await openProjectOf(there);
    expect(await project.ledger.runs({ roots: true, limit: 10 })).toMatchObject([{ state: 'completed' }]);
  } finally {
    await server.end('SIGTERM');
  }
});

async function openProjectOf({ folder, env }: TestProject) {
  const project = await openProject({ cwd: folder, env, readOnly: true });
  return { ledger: project.ledger, [Symbol.asyncDispose]: () => project.close() };
}
