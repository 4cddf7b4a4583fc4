/**
 * A real executor process inside walls. A hostile one, which asks nobody, sees and reaches nothing that it must not; an honest
 * one works as ever, and finds its session again.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { present } from '../../src/base/present.ts';
import { systemRandom } from '../../src/base/random.ts';
import { userText } from '../../src/events/messages.ts';
import type { ExecutorKeeping } from '../../src/executors/kept-in.ts';
import type { ExecutorSession } from '../../src/executors/port.ts';
import { openProject } from '../../src/project/open.ts';
import type { Sandbox } from '../../src/sandbox/port.ts';
import { createSandbox } from '../../src/sandbox/sandbox.ts';
import { sandboxSettings } from '../../src/sandbox/settings.ts';
import { executorWorld, follower, steps } from '../support/executors/executor-world.ts';
import { sampleSource } from '../support/executors/sample-command.ts';
import { describeInside } from '../support/sandbox/sandbox-here.ts';

const top = realpathSync(mkdtempSync('/tmp/troupe-kept-'));
const home = join(top, 'home');
const project = join(home, 'project');
const worktree = join(project, '.troupe', 'worktrees', 'task');
const own = join(home, '.sample');
const places = {
  ...{ project, home: join(project, '.troupe'), ledgers: [join(project, '.troupe', 'ledger.db')] },
  ...{ user: join(home, '.config', 'troupe'), keys: join(home, 'keys') },
};
const git = (...words: string[]): string => execFileSync('git', ['-C', project, ...words], { encoding: 'utf8' });
const settings = sandboxSettings(undefined, []);
let sandbox: Sandbox;
let keeping: ExecutorKeeping;
let allowed: Server;
let forbidden: Server;
const portOf = (server: Server): number => (server.address() as AddressInfo).port;

beforeAll(async () => {
  for (const folder of [join(home, '.ssh'), join(home, '.other'), join(home, '.config', 'troupe'), project])
    mkdirSync(folder, { recursive: true });
  writeFileSync(join(home, '.ssh', 'id'), 'private');
  writeFileSync(join(home, '.other', 'token'), 'private');
  writeFileSync(join(home, 'keys'), 'private');
  execFileSync('git', ['init', '-q', project]);
  writeFileSync(join(project, '.git', 'hooks', 'pre-push'), '');
  git('config', 'user.email', 'a@example.org');
  git('config', 'user.name', 'A');
  git('commit', '-q', '--allow-empty', '--no-verify', '-m', 'first');
  git('worktree', 'add', '-q', '--detach', worktree);
  writeFileSync(join(project, '.troupe', 'ledger.db'), 'events');
  const state = [places.home, ...places.ledgers, places.keys, places.user];
  sandbox = createSandbox({ settings, environment: { HOME: home }, random: systemRandom, state });
  keeping = { sandbox, settings, places, builtin: ['troupe', 'acp', '--executor'] };
  [allowed, forbidden] = ['allowed', 'forbidden'].map((said) => createServer((_request, response) => response.end(said))) as [
    Server,
    Server,
  ];
  for (const server of [allowed, forbidden]) await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});

afterAll(async () => {
  await sandbox?.close();
  allowed?.close();
  forbidden?.close();
  rmSync(top, { recursive: true, force: true });
});

async function opened(before?: string, mode?: 'read-only') {
  const world = await executorWorld({
    ...{ cwd: worktree, keeping, args: ['--store', own] },
    environment: {
      ...{ PATH: process.env['PATH'], HOME: home, SAMPLE_KEY: 'given', OTHER_KEY: 'not given' },
      SAMPLE_BASE_URL: `http://127.0.0.1:${portOf(allowed)}/v1`,
    },
    fields: { keys: ['SAMPLE_KEY', 'SAMPLE_BASE_URL'], sandbox: { write: ['~/.sample/'] } },
    others: { other: { command: ['other'], keys: ['OTHER_KEY'], sandbox: { write: ['~/.other/'] } } },
  });
  const session = await world.open(present({ session: before, mode }));
  if (!session.ok) throw new Error(JSON.stringify(session.error));
  return session.value;
}

interface Ran {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** What it gets to see without asking anybody, one line of shell after the other. */
async function alone(session: ExecutorSession, lines: readonly string[]): Promise<readonly Ran[]> {
  const ended = await session.prompt(steps(...lines.map((line) => `shell ${line}`)), follower());
  const said = ended.text.split('\n').filter((line) => line.startsWith('shell '));
  return said.map((line) => JSON.parse(line.slice('shell '.length)) as Ran);
}

describeInside('an executor that cannot begin', () => {
  it('is told of with the line that says why, and with what it may miss in there', async () => {
    const world = await executorWorld({ cwd: worktree, keeping, args: ['--broken'], environment: { PATH: process.env['PATH'] } });
    expect(await world.open({})).toMatchObject({
      error: { why: 'crashed', message: expect.stringContaining('cannot begin'), fix: expect.stringContaining('sandbox.read') },
    });
  });
});

describeInside('an executor that asks nobody', () => {
  it('sees and reaches nothing but what is its own', async () => {
    const session = await opened();
    expect(session.about.sandbox).toBe('sandbox-runtime/linux');
    const hostile = {
      environment: `cat /proc/${process.pid}/environ`,
      memory: `head -c 1 /proc/${process.pid}/mem`,
      ssh: 'cat ~/.ssh/id',
      other: 'cat ~/.other/token',
      ledger: `cat ${project}/.troupe/ledger.db`,
      keys: 'cat ~/keys',
      temporary: `ls ${top}/outside-of-it`,
      host: 'curl -sf http://elsewhere.example/',
      near: `curl -sf http://127.0.0.1:${portOf(forbidden)}/`,
      key: 'test -n "$OTHER_KEY"',
      hook: `echo evil > ${project}/.git/hooks/pre-push`,
      newHook: `echo evil > ${project}/.git/hooks/post-commit`,
      settings: 'git config core.fsmonitor evil',
      elsewhere: 'rm .git && echo "gitdir: /evil" > .git',
      leading: 'echo /evil > $(git rev-parse --git-dir)/commondir',
      system: 'echo evil > /etc/evil',
    };
    // What it writes to the home is its own, and nobody sees it.
    const seen = await alone(session, [...Object.values(hostile), `echo evil > ${project}/evil`]);
    const got = Object.keys(hostile).filter((_name, index) => seen[index]?.status === 0 || seen[index]?.stdout !== '');
    expect(got).toEqual([]);
    expect(seen).toHaveLength(Object.keys(hostile).length + 1);
    expect(readFileSync(join(project, '.git', 'hooks', 'pre-push'), 'utf8')).toBe('');
    const { refused, survivors } = await session.end();
    expect(refused?.join('\n')).toContain('elsewhere.example');
    expect(survivors).toEqual([]);
    expect(existsSync(join(project, 'evil'))).toBe(false);
  });

  it('changes nothing where it only reads, by itself and by commands that it has us run', async () => {
    const session = await opened(undefined, 'read-only');
    const [write, commit, read] = await alone(session, [
      'echo evil > evil.txt',
      'git commit -q --allow-empty -m evil',
      'cat .git',
    ]);
    expect([write?.status, commit?.status].includes(0)).toBe(false);
    expect(read?.stdout).toContain('gitdir: ');
    await session.prompt(steps('run . - echo evil > evil.txt'), follower());
    expect(existsSync(join(worktree, 'evil.txt'))).toBe(false);
    await session.end();
  });

  it('is gone with all that it started when it is ended', async () => {
    const session = await opened();
    const ofOurs = `sleep 40${process.pid}`;
    const running = (): boolean => execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' }).split('\n').includes(ofOurs);
    await alone(session, [`setsid ${ofOurs} >/dev/null 2>&1 &`, `env -i setsid ${ofOurs} >/dev/null 2>&1 &`]);
    await expect.poll(running).toBe(true);
    expect((await session.end()).survivors).toEqual([]);
    expect(running()).toBe(false);
  });
});

describeInside('a project that demands walls', () => {
  it('has its executor work inside, and says so in what is recorded', async () => {
    const root = join(home, 'demanding');
    mkdirSync(join(root, 'agents'), { recursive: true });
    writeFileSync(join(root, 'troupe.yaml'), 'sandbox: on\nverify: ["test -e made.txt"]\n');
    writeFileSync(join(root, 'executors.yaml'), JSON.stringify({ executors: { mine: { command: sampleSource() } } }));
    writeFileSync(join(root, 'agents', 'a.md'), '---\nexecutor: mine\n---\nYou work.\n');
    const opened = await openProject({ cwd: root, root, env: { HOME: home, PATH: process.env['PATH'] } });
    const input = userText('shell echo 1 > made.txt; echo evil > agents/a.md');
    const started = await opened.engine.start({ agent: 'a', input, workspace: root });
    if (started.kind !== 'started') throw new Error(started.error.message);
    expect(await started.handle.done).toMatchObject({ result: { verification: { state: 'verified' } } });
    const types = ['executor.session', 'cli.run', 'environment.recorded'] as const;
    const events = await opened.ledger.read({ session: started.handle.session, types });
    await opened.close();
    const kept = { sandbox: 'sandbox-runtime/linux' };
    expect(events.map(({ payload }) => payload)).toMatchObject([kept, kept, { environment: kept }]);
    expect(readFileSync(join(root, 'agents', 'a.md'), 'utf8')).toContain('You work.');
  });
});

describeInside('an honest executor', () => {
  it('writes, runs, commits, asks its model, keeps its things, and is loaded again', async () => {
    const session = await opened();
    const [write, temporary, key, model, commit] = await alone(session, [
      'echo made > made.txt; cat made.txt',
      'f=$(mktemp) && echo 1 > "$f" && echo 2 > /tmp/fixed && cat "$f" /tmp/fixed',
      'echo "$SAMPLE_KEY"; pwd',
      `curl -s "$SAMPLE_BASE_URL"`,
      'git add made.txt && git commit -qm second && git log --format=%s -1',
    ]);
    expect([write, temporary, key, model, commit].map((one) => `${one?.stdout}${one?.stderr}`)).toEqual([
      'made\n',
      '1\n2\n',
      `given\n${worktree}\n`,
      'allowed',
      'second\n',
    ]);
    expect(readFileSync(join(worktree, 'made.txt'), 'utf8')).toBe('made\n');
    expect(git('-C', worktree, 'log', '--format=%s', '-1')).toBe('second\n');
    expect(existsSync('/tmp/fixed')).toBe(false);

    const followed = follower();
    const asked = await session.prompt(steps('run . - cat ~/.sample/* ~/.ssh/id made.txt; pwd', 'write made.txt new'), followed);
    expect(asked.text).toContain(`made\\n${worktree}\\n`);
    // What is run for it sees what commands of agents see, and not what it keeps.
    expect(followed.commands[0]).toMatchObject({ sandbox: 'sandbox-runtime/linux', stdout: `made\n${worktree}\n` });
    expect(readFileSync(join(worktree, 'made.txt'), 'utf8')).toBe('new');
    await session.end();

    const again = await opened(session.session);
    expect(again.restored).toBe('loaded');
    await again.end();
  });
});
