/**
 * Workers in empty folders: they have nothing of the project but the ledger and the address of the engine. What the agents are,
 * what they may do, which options the command was given and the files that tasks are about comes with the run. The place of a
 * task is built where it is worked on, and when that worker is killed it goes on elsewhere with the files as they were. Only
 * which programs are started on a machine is said there.
 */
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import type { SessionId } from '../../src/base/ids.ts';
import { systemRandom } from '../../src/base/random.ts';
import { runProgram } from '../../src/cli/program/program.ts';
import { freePorts } from '../../src/cluster/free-ports.ts';
import { type LocalCluster, startLocalCluster } from '../../src/cluster/local-cluster.ts';
import type { ServerProcess } from '../../src/cluster/server-process.ts';
import { startWorker } from '../../src/cluster/worker-process.ts';
import type { RunHandle } from '../../src/engine/port.ts';
import type { LedgerEvent } from '../../src/events/envelope.ts';
import { userText } from '../../src/events/messages.ts';
import { openProject } from '../../src/project/open.ts';
import type { Project, ProjectFlags } from '../../src/project/project.ts';
import { chooseOwnPorts } from '../support/cluster/own-ports.ts';
import { testTerminal } from '../support/test-terminal.ts';
import { commitFiles, git, writeFiles } from '../support/workspaces/test-repository.ts';

const top = mkdtempSync(join(tmpdir(), 'troupe-empty-'));
const root = join(top, 'project');
const checkout = join(import.meta.dirname, '..', '..');
const program = join(checkout, 'src', 'cli', 'main.ts');
/** As a prompt names the variable. */
const PLACE = '$' + '{place}';
let cluster: LocalCluster;
const workers: ServerProcess[] = [];
const NAMES = ['one', 'two', 'three'];
/** A process of its own, that does what is said in the file for its task, in whatever life. */
const SAMPLE = {
  ...{ title: 'Sample', sandbox: 'off' },
  command: [process.execPath, join(checkout, 'test/support/executors/sample-agent-main.ts'), '--plays', top],
};

const script = (name: string, turns: readonly unknown[]): string => {
  writeFileSync(join(root, `${name}.yaml`), JSON.stringify(turns));
  return `scripted:${join(root, `${name}.yaml`)}`;
};

const calling = (name: string) => ({ toolCalls: [{ name, input: { prompt: 'x', reason: 'y' } }] });

function agent(name: string, frontmatter: string, prompt = 'You work.'): void {
  writeFileSync(join(root, 'agents', `${name}.md`), `---\nname: ${name}\n${frontmatter}\n---\n${prompt}\n`);
}

beforeAll(async () => {
  mkdirSync(join(root, 'agents'), { recursive: true });
  writeFileSync(join(root, 'troupe.yaml'), 'permissions: { shell: deny }\nvars: { place: here }\n');
  await chooseOwnPorts(root, 1);
  cluster = await startLocalCluster({
    ...{ root, folder: join(root, '.troupe', 'cluster'), nodes: 1, workers: 0 },
    env: { PATH: process.env['PATH'], HOME: root },
    packages: [join(checkout, 'tools', 'cluster')],
    ...{ program, clock: systemClock, random: systemRandom, say: () => undefined, gaveUp: () => undefined },
  });
  const [port = 0] = await freePorts([0]);
  for (const name of NAMES) {
    const folder = join(top, name);
    mkdirSync(folder);
    writeFiles(folder, { 'executors.yaml': JSON.stringify({ executors: { sample: SAMPLE } }) });
    const { settings, admin } = cluster;
    const env = { PATH: process.env['PATH'], HOME: folder };
    workers.push(
      await startWorker({ root: folder, name, port, admin, settings, env, program, clock: systemClock, say: () => undefined }),
    );
  }
});

afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.stop()));
  await cluster?.stop();
  rmSync(top, { recursive: true, force: true });
});

const settings = () => ({ HOME: root, TROUPE_LEDGER: cluster.settings.ledger, TROUPE_ENGINE: cluster.settings.engine });

const open = (flags?: ProjectFlags, cwd = root): Promise<Project> => openProject({ cwd, env: settings(), flags });

async function runs(project: Project, name: string, prompt = 'go') {
  const started = await project.engine.start({ agent: name, input: userText(prompt), workspace: root });
  if (started.kind !== 'started') throw new Error(started.error.message);
  return { end: await started.handle.done, session: started.handle.session };
}

describe('workers in empty folders', () => {
  it('run agents that others call, as they were when the run started', async () => {
    agent('boss', `model: ${script('boss', [calling('helper'), { text: 'All done.' }])}\nagents: [helper]`);
    agent('helper', `model: ${script('helper', [{ text: 'I helped.' }])}`);
    await during(await open(), async (project) => {
      const { end } = await runs(project, 'boss');
      expect(end).toMatchObject({ kind: 'ended', result: { status: 'completed', report: { body: 'All done.' } } });
    });
  });

  it('hold what the project denies', async () => {
    const command = { name: 'shell', input: { command: 'touch made' } };
    agent(
      'runner',
      `model: ${script('runner', [{ toolCalls: [command] }, { text: 'Done.' }])}\ntools: [shell]\npermissions: { shell: allow }`,
    );
    agent('above', `model: ${script('above', [calling('runner'), { text: 'Over.' }])}\nagents: [runner]`);
    await during(await open(), async (project) => {
      const { session } = await runs(project, 'above');
      const results = await project.ledger.read({ session, types: ['tool.result'] });
      expect(JSON.stringify(results)).toContain('may not use shell');
    });
  });

  it('fill prompts and choose models by the options of the command, for every agent of the run', async () => {
    const other = script('other', [
      { toolCalls: [{ name: 'inner', input: { prompt: 'x', reason: 'y' } }] },
      { text: 'By the other.' },
    ]);
    agent('outer', 'agents: [inner]', `You are ${PLACE}.`);
    agent('inner', 'description: inner', `Inside of ${PLACE}.`);
    await during(await open({ model: other, vars: { place: 'elsewhere' } }), async (project) => {
      const { session } = await runs(project, 'outer');
      const setups = await project.ledger.read({ session, types: ['session.config'] });
      const said = setups.map(({ payload }) => Reflect.get(payload, 'system'));
      expect(said).toEqual([expect.stringContaining('You are elsewhere.'), expect.stringContaining('Inside of elsewhere.')]);
      expect(JSON.stringify(setups)).toContain('other.yaml');
    });
  });
});

async function during(project: Project, use: (project: Project) => Promise<void>): Promise<void> {
  try {
    await use(project);
  } finally {
    await project.close();
  }
}

const repliesOf = (goal: string) => ({
  agents: {
    lead: [
      { toolCalls: [{ name: 'read', input: { path: 'src/draft.txt' } }] },
      {
        toolCalls: [
          {
            name: 'delegate',
            input: {
              tasks: [
                {
                  goal,
                  include_paths: ['src/'],
                  exclude_paths: [],
                  acceptance: ['`grep -q second src/two.txt` passes'],
                  constraints: { max_cli_calls: 8, max_duration_seconds: 600, no_touch: [] },
                },
              ],
            },
          },
        ],
      },
      {
        when: { contains: '## RESULT OF' },
        toolCalls: [{ name: 'judge', input: { tasks: [{ task_id: '*', verdict: 'accepted', why: 'It passed.' }] } }],
      },
      { when: { contains: 'Go on: hand over' }, finalReport: 'Both files are there.' },
    ],
    hand: [
      { toolCalls: [{ name: 'write', input: { path: 'src/one.txt', content: 'first\n' } }] },
      { toolCalls: [{ name: 'shell', input: { command: 'echo half > src/half.txt && sleep 600' } }] },
      { toolCalls: [{ name: 'shell', input: { command: 'cat src/one.txt src/draft.txt && ls src' } }] },
      { toolCalls: [{ name: 'write', input: { path: 'src/two.txt', content: 'second\n' } }] },
      { text: 'Both files are written.' },
    ],
  },
});

/** A repository with something that is not committed, and a project with an architect beside it. */
function lead(executor: string): { readonly repo: string; readonly folder: string } {
  const [repo, folder] = [join(top, `repo-${executor}`), join(top, `lead-${executor}`)];
  mkdirSync(join(folder, 'agents'), { recursive: true });
  mkdirSync(repo);
  git(repo, 'init', '-q', '-b', 'main');
  commitFiles(repo, { 'src/old.txt': 'old\n', 'README.md': 'read me\n' });
  writeFiles(repo, { 'src/draft.txt': 'not committed\n' });
  writeFiles(folder, {
    'replies.json': JSON.stringify(repliesOf(executor)),
    'troupe.yaml': `model: scripted:${join(folder, 'replies.json')}\n`,
    'agents/lead.md': `---\narchitect: { executor: ${executor} }\n---\nYou lead.\n`,
    'agents/hand.md': '---\ntools: [read, write, shell]\npermissions: { shell: allow }\n---\nYou do the task of your package.\n',
    'agents/sample.md': '---\nexecutor: sample\npermissions: { shell: allow }\n---\nYou do it, too.\n',
  });
  return { repo, folder };
}

const eventsOf = async ({ ledger }: Project, session: SessionId): Promise<readonly LedgerEvent[]> => {
  const events: LedgerEvent[] = [];
  for (;;) {
    const page = await ledger.read({ session, after: events.at(-1)?.position ?? 0 });
    if (page.length === 0) return events;
    events.push(...page);
  }
};

const ofType = <Type extends LedgerEvent['event_type']>(events: readonly LedgerEvent[], type: Type) =>
  events.filter((event): event is Extract<LedgerEvent, { event_type: Type }> => event.event_type === type);

/** Nobody has the repository from here on: the workers stand still until it is out of their sight. */
async function startedOutOfSight(project: Project, agent: string, repo: string, hidden: string): Promise<RunHandle> {
  const standing = workers.filter((worker) => worker.alive());
  for (const worker of standing) worker.kill('SIGSTOP');
  const started = await project.engine.start({ agent, input: userText('Write them.'), workspace: repo });
  renameSync(repo, hidden);
  for (const worker of standing) worker.kill('SIGCONT');
  if (started.kind !== 'started') throw new Error(started.error.message);
  return started.handle;
}

/** By a file of its folder. */
function killWorkerOf(path: string): void {
  const worker = workers[NAMES.indexOf(path.slice(top.length + 1).split('/')[0] ?? '')];
  process.kill(worker?.pid ?? 0, 'SIGKILL');
}

const alive = (pid: number): boolean => {
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
};

it('an executor’s task goes on elsewhere with the files as they were, and is applied where the repository is', async () => {
  const { repo, folder } = lead('hand');
  const hidden = join(top, 'hidden');
  await during(await open(undefined, folder), async (project) => {
    const { session, run, done } = await startedOutOfSight(project, 'lead', repo, hidden);

    const written = () => globSync(join(top, '{one,two,three}/.troupe/worktrees/*/task-*/src/half.txt'));
    await expect.poll(written).toHaveLength(1);
    killWorkerOf(written()[0] ?? '');

    const end = await done;
    const events = await eventsOf(project, session);
    expect(end, JSON.stringify(ofType(events, 'task.error'))).toMatchObject({ kind: 'ended', result: { status: 'completed' } });
    const said = ofType(events, 'tool.result').map(({ payload }) => JSON.stringify(payload.content));
    expect(said.find((text) => text.includes('not committed'))).toBeDefined();
    // What was recorded is there, what was half done is not.
    expect(said.find((text) => text.includes('first'))).toContain('first\\nnot committed\\ndraft.txt\\nold.txt\\none.txt');
    const [captured] = ofType(events, 'task.captured');
    expect(captured?.payload.files.map(({ path }) => path)).toEqual(['src/one.txt', 'src/two.txt']);
    // Each file was kept once.
    const kept = ofType(events, 'workspace.kept').filter(({ payload }) => payload.task !== undefined);
    expect(kept.flatMap(({ payload }) => payload.files.map(({ path }) => path))).toEqual(['src/one.txt', 'src/two.txt']);
    expect(new Set(kept.map(({ payload }) => payload.by)).size).toBe(2);
    expect(existsSync(repo)).toBe(false);

    renameSync(hidden, repo);
    const terminal = testTerminal({ cwd: folder, env: { ...settings(), PATH: process.env['PATH'] } });
    expect(await runProgram(['apply', run], terminal), terminal.written.progress).toBe(0);
    expect(readFileSync(join(repo, 'src/one.txt'), 'utf8')).toBe('first\n');
    expect(readFileSync(join(repo, 'src/draft.txt'), 'utf8')).toBe('not committed\n');
    expect(git(repo, 'status', '--porcelain').trim().split('\n')).toEqual([
      '?? src/draft.txt',
      '?? src/one.txt',
      '?? src/two.txt',
    ]);
  });
});

it('an executor’s process is started elsewhere and told what is done: its calls are recorded with their files', async () => {
  const { repo, folder } = lead('sample');
  const at = (name: string): string => join(top, name);
  const begun = { sessionUpdate: 'tool_call', toolCallId: 'c2', title: 'second', kind: 'edit', status: 'in_progress' };
  const plays = (...lines: readonly string[]): void => writeFileSync(at('plays-sample'), lines.join('\n'));
  // Its first call is done and recorded before the second begins, and the second never ends.
  const second = [`update ${JSON.stringify(begun)}`, 'put src/half.txt half', `pid-to ${at('pid')}`, 'hang'];
  plays(`do ${at('effects')} first src/one.txt`, `until ${at('recorded')}`, ...second);
  await during(await open(undefined, folder), async (project) => {
    const started = await project.engine.start({ agent: 'lead', input: userText('Write them.'), workspace: repo });
    if (started.kind !== 'started') throw new Error(started.error.message);
    const { session, done } = started.handle;
    const seen = () => project.ledger.read({ session, types: ['file.diff'] });
    await expect.poll(seen).toHaveLength(1);
    writeFileSync(at('recorded'), '');
    await expect.poll(() => existsSync(at('pid'))).toBe(true);
    // What it was told of it is in the ledger, too.
    const told = () => project.ledger.read({ session, types: ['executor.call'] });
    await expect.poll(async () => JSON.stringify(await told())).toContain('second');
    // Who goes on has another session, and nothing but what it is told.
    plays(
      'shows src/draft.txt',
      'shows src/one.txt',
      `do ${at('effects')} second src/two.txt`,
      'put src/late.txt late',
      'say done',
    );
    // Of this session: a worker that was killed before left its own behind.
    const [half = ''] = globSync(join(top, `{one,two,three}/.troupe/worktrees/${session}/task-*/src/half.txt`));
    killWorkerOf(half);

    const end = await done;
    const events = await eventsOf(project, session);
    expect(end, JSON.stringify(ofType(events, 'task.error'))).toMatchObject({ kind: 'ended', result: { status: 'completed' } });
    expect(alive(Number(readFileSync(at('pid'), 'utf8')))).toBe(false);
    expect(ofType(events, 'executor.session').map(({ payload }) => payload.restored)).toEqual(['new', 'new']);
    const [first, again, ...more] = ofType(events, 'executor.prompted').map(({ payload }) => payload);
    expect([first?.how, again?.how, more]).toEqual(['request', 'again', []]);
    expect(again?.told).toContain('Known to be done:\n- first\n\nBegun, and nobody knows whether it was done:\n- second\n');
    // What was recorded is there, what was half done is not, and nothing was done twice.
    const [captured] = ofType(events, 'task.captured');
    expect(captured?.payload.files.map(({ path }) => path)).toEqual(['src/late.txt', 'src/one.txt', 'src/two.txt']);
    expect(readFileSync(at('effects'), 'utf8')).toMatch(/^first \S+\nsecond \S+\n$/);
    const results = ofType(events, 'executor.result');
    expect(results.map(({ payload }) => payload.id)).toEqual(['first', 'second']);
    // Whoever finds the result of a call in the ledger finds its files there, and what was changed without a call before the end.
    const kept = ofType(events, 'workspace.kept').filter(({ payload }) => payload.task !== undefined);
    expect(kept.flatMap(({ payload }) => payload.files.map(({ path }) => path)).toSorted()).toEqual([
      ...['src/late.txt', 'src/one.txt', 'src/two.txt'],
    ]);
    const keptAt = (path: string) => kept.find(({ payload }) => payload.files.some((file) => file.path === path))?.position;
    expect(keptAt('src/one.txt')).toBeLessThan(results[0]?.position ?? 0);
    expect(keptAt('src/two.txt')).toBeLessThan(results[1]?.position ?? 0);
    expect(new Set(kept.map(({ payload }) => payload.by)).size).toBe(2);
  });
});

it('an architect whose executor the worker does not know fails before its model is asked', async () => {
  const { repo, folder } = lead('stranger');
  await during(await open(undefined, folder), async (project) => {
    const started = await project.engine.start({ agent: 'lead', input: userText('Write them.'), workspace: repo });
    if (started.kind !== 'started') throw new Error(started.error.message);
    const { session, done } = started.handle;
    const error = { code: 'executor_unavailable', message: expect.stringContaining('There is no executor "stranger"') };
    expect(await done).toMatchObject({ kind: 'ended', result: { status: 'failed', error } });
    expect(await project.ledger.read({ session, types: ['model.request'] })).toEqual([]);
  });
});

it('who works in a folder that is not there fails before its model is asked, and goes on once it is', async () => {
  const { folder } = lead('folderless');
  const shared = join(top, 'shared');
  const write = { name: 'write', input: { path: 'made.txt', content: 'made\n' } };
  writeFiles(folder, {
    'agents/handy.md': `---\nmodel: ${script('handy', [{ toolCalls: [write] }, { text: 'Written.' }])}\ntools: [write]\n---\nYou write.\n`,
    'agents/asks.md': `---\nmodel: ${script('asks', [calling('handy'), { text: 'It could not.' }])}\nagents: [handy]\n---\nYou ask.\n`,
  });
  await during(await open(undefined, folder), async (project) => {
    const started = await project.engine.start({ agent: 'handy', input: userText('Write.'), workspace: shared });
    if (started.kind !== 'started') throw new Error(started.error.message);
    const { session, run, done } = started.handle;
    const message = expect.stringMatching(
      `^handy works in ${shared}, and there is no such folder where it was taken up \\(process \\d+ on `,
    );
    expect(await done).toMatchObject({ kind: 'ended', result: { status: 'failed', error: { code: 'no_folder', message } } });
    expect(await project.ledger.read({ session, types: ['model.request'] })).toEqual([]);

    // Who needs no folder goes on, and is told of who does.
    const above = await project.engine.start({ agent: 'asks', input: userText('Write.'), workspace: shared });
    if (above.kind !== 'started') throw new Error(above.error.message);
    expect(await above.handle.done).toMatchObject({ result: { status: 'completed', report: { body: 'It could not.' } } });
    const told = await project.ledger.read({ session: above.handle.session, types: ['tool.result'] });
    expect(JSON.stringify(told)).toContain(`handy works in ${shared}`);

    mkdirSync(shared);
    const resumed = await project.engine.resume(run, {});
    if (resumed.kind !== 'resumed') throw new Error(JSON.stringify(resumed));
    expect(await resumed.handle.done).toMatchObject({ kind: 'ended', result: { status: 'completed' } });
    expect(readFileSync(join(shared, 'made.txt'), 'utf8')).toBe('made\n');
  });
});

it('who only looks sees the files that came with the run, also beside an architect', async () => {
  const { repo, folder } = lead('looker');
  const read = { name: 'read', input: { path: 'src/draft.txt' } };
  writeFiles(folder, {
    'agents/looker.md': `---\nmodel: ${script('looker', [{ toolCalls: [read] }, { text: 'Seen.' }])}\ntools: [read]\n---\nYou look.\n`,
    'agents/above.md': `---\nmodel: ${script('beside', [calling('looker'), { text: 'Over.' }])}\nagents: [looker, lead]\n---\nYou ask.\n`,
  });
  await during(await open(undefined, folder), async (project) => {
    const { session, done } = await startedOutOfSight(project, 'above', repo, join(top, 'hidden-looker'));
    expect(await done).toMatchObject({ kind: 'ended', result: { status: 'completed' } });
    const said = ofType(await eventsOf(project, session), 'tool.result').map(({ payload }) => JSON.stringify(payload.content));
    expect(said.find((text) => text.includes('not committed'))).toBeDefined();
  });
});
