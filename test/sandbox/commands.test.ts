/** Commands of agents, and those that prove something, inside walls: by the tools themselves, and by the whole program. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { systemRandom } from '../../src/base/random.ts';
import { userText } from '../../src/events/messages.ts';
import { openProject } from '../../src/project/open.ts';
import type { Project } from '../../src/project/project.ts';
import type { Sandbox } from '../../src/sandbox/port.ts';
import { createSandbox } from '../../src/sandbox/sandbox.ts';
import { sandboxSettings } from '../../src/sandbox/settings.ts';
import { createGuard, type ProtectedPlaces } from '../../src/tools/closed/guard.ts';
import type { ToolOutcome } from '../../src/tools/port.ts';
import { shellTool } from '../../src/tools/shell/shell.ts';
import { createVerifier } from '../../src/tools/shell/verifier.ts';
import { describeInside } from '../support/sandbox/sandbox-here.ts';
import { testContext } from '../support/tool-workspace.ts';

const top = realpathSync(mkdtempSync('/tmp/troupe-inside-test-'));
const home = join(top, 'home');
const project = join(home, 'project');
const places: ProtectedPlaces = {
  ...{ project, home: join(project, '.troupe'), ledgers: [], user: join(home, '.config', 'troupe'), keys: join(home, 'keys') },
};
const environment = { PATH: process.env['PATH'], HOME: home };
let sandbox: Sandbox;

beforeAll(() => {
  for (const folder of [join(project, 'agents'), join(project, '.troupe'), join(home, '.ssh')])
    mkdirSync(folder, { recursive: true });
  writeFileSync(join(home, '.ssh', 'id'), 'private');
  writeFileSync(join(project, 'agents', 'a.md'), '---\nmodel: scripted:answers.yaml\n---\nYou work.\n');
  writeFileSync(join(project, 'troupe.yaml'), 'verify: ["test -e made.txt"]\npermissions: { shell: allow }\n');
  sandbox = createSandbox({
    ...{
      settings: sandboxSettings('auto', []),
      environment,
      random: systemRandom,
      state: [places.home, places.user, places.keys],
    },
  });
});

afterAll(async () => {
  await sandbox?.close();
  rmSync(top, { recursive: true, force: true });
});

const textOf = (outcome: ToolOutcome): string =>
  outcome.kind === 'error' ? outcome.message : outcome.content.map((part) => (part.type === 'text' ? part.text : '')).join('\n');

async function shell(command: string, workspace = project): Promise<ToolOutcome> {
  const tool = shellTool({ clock: systemClock, environment, guard: createGuard(places), sandbox, places });
  return await tool.run({ command }, testContext(workspace));
}

describeInside('a command of an agent', () => {
  it('runs inside, and its record says so', async () => {
    const outcome = await shell('echo made > made.txt; cat made.txt');
    expect(textOf(outcome)).toBe('made\n(exit code 0)');
    expect(outcome.evidence?.[0]).toMatchObject({ type: 'cli.run', payload: { exitCode: 0, sandbox: 'sandbox-runtime/linux' } });
  });

  it.each([
    ['the rest of the home', 'cat ~/.ssh/id'],
    ['what Troupe keeps', 'cat .troupe/*'],
  ])('does not see %s', async (_what, command) => {
    expect((await shell(command)).kind).toBe('error');
  });

  it.each(['echo x >> agents/a.md', 'echo x > agents/evil.md', 'echo "permissions: {}" > troupe.yaml'])(
    'gives itself no rights: %s',
    async (command) => {
      const before = readFileSync(join(project, 'agents', 'a.md'), 'utf8') + readFileSync(join(project, 'troupe.yaml'), 'utf8');
      expect((await shell(command)).kind).toBe('error');
      expect(existsSync(join(project, 'agents', 'evil.md'))).toBe(false);
      expect(readFileSync(join(project, 'agents', 'a.md'), 'utf8') + readFileSync(join(project, 'troupe.yaml'), 'utf8')).toBe(
        before,
      );
    },
  );

  it('is told what it was refused, and how more is opened', async () => {
    const said = textOf(await shell('curl -s http://elsewhere.example/'));
    expect(said).toContain('elsewhere.example:80');
    expect(said).toContain('`sandbox` in troupe.yaml');
  });

  it('commits in a worktree, and leaves the hooks and settings of its repository as they are', async () => {
    const repository = join(home, 'repository');
    const worktree = join(home, 'worktree');
    const git = (...words: string[]): string => execFileSync('git', ['-C', repository, ...words], { encoding: 'utf8' });
    execFileSync('git', ['init', '-q', repository]);
    git('config', 'user.email', 'a@example.org');
    git('config', 'user.name', 'A');
    git('commit', '-q', '--allow-empty', '-m', 'first');
    git('worktree', 'add', '-q', '--detach', worktree);
    expect(textOf(await shell('echo 1 > f && git add f && git commit -qm second && git log --format=%s -1', worktree))).toBe(
      'second\n(exit code 0)',
    );
    expect(git('-C', worktree, 'log', '--format=%s', '-1')).toBe('second\n');
    expect((await shell(`echo evil > ${repository}/.git/hooks/pre-commit`, worktree)).kind).toBe('error');
    expect((await shell('git config core.fsmonitor evil', worktree)).kind).toBe('error');
  });

  it('ends with everything inside when its time is over', async () => {
    const tool = shellTool({ clock: systemClock, environment, guard: createGuard(places), sandbox, places });
    const outcome = await tool.run({ command: 'setsid sleep 54321 & sleep 54321', timeoutSeconds: 1 }, testContext(project));
    expect(textOf(outcome)).toContain('(stopped after 1 s)');
    const running = (): string => execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' });
    await expect.poll(() => running().includes('sleep 54321')).toBe(false);
  });
});

/** Where Troupe is installed is closed like all that lies around it: what the walls themselves need is there all the same. */
describeInside('Troupe installed', () => {
  const [installed = ''] = fileURLToPath(import.meta.resolve('@anthropic-ai/sandbox-runtime')).split('/node_modules/');

  it.each([
    ['in the home', { ...environment, HOME: installed }, false],
    ['below the folder for temporary files, and a program that shares none', environment, true],
  ])('%s', async (_where, given, apart) => {
    const own = createSandbox({ settings: sandboxSettings('auto', []), environment: given, random: systemRandom, state: [] });
    await own.state();
    if (apart) vi.stubEnv('TMPDIR', installed);
    const program = { file: '/bin/sh', args: ['-c', `ls ${installed}; ls ${installed}/bin; echo ran`], folder: project };
    const walls = { write: [project], read: [], keep: [], hide: [], hosts: [], apart };
    // Of a folder like this all programs are seen, with their packages.
    const elsewhere = process.env['PATH']?.split(':').filter((path) => !path.endsWith('/node_modules/.bin')) ?? [];
    const entered = await own.enter({ ...program, environment: { PATH: elsewhere.join(':') } }, walls);
    vi.unstubAllEnvs();
    if (!entered.ok) throw new Error(entered.error);
    const { file, args, environment: env } = entered.value;
    const out = execFileSync(file, args, { cwd: project, env, encoding: 'utf8' });
    entered.value.left();
    await own.close();
    // The program for Node may lie there, too.
    expect(out.split('\n').filter((line) => line !== 'tools')).toEqual(['bin', 'node_modules', 'relay.sh', 'ran', '']);
  });
});

describeInside('a command that proves something', () => {
  it('runs inside as well', async () => {
    const verifier = createVerifier({ clock: systemClock, environment, sandbox, places });
    const at = { ...testContext(project), timeoutMs: 60_000 };
    expect(await verifier.run('test ! -e ~/.ssh/id', at)).toMatchObject({ ok: true, value: { failure: undefined } });
    const { value } = (await verifier.run('cat ~/.ssh/id', at)) as { value: { failure?: string } };
    expect(value.failure).toContain('ended with 1');
  });
});

describeInside('a project', () => {
  it('has its agents work inside, and everything of it is closed with it', async () => {
    const steps = [
      { toolCalls: [{ name: 'shell', input: { command: 'cat ~/.ssh/id || echo nothing > made.txt' } }] },
      { text: 'Done.' },
    ];
    writeFileSync(join(project, 'answers.yaml'), JSON.stringify(steps));
    writeFileSync(join(project, 'agents', 'a.md'), '---\nmodel: scripted:answers.yaml\ntools: [shell]\n---\nYou work.\n');
    const opened: Project = await openProject({ cwd: project, env: environment });
    const started = await opened.engine.start({ agent: 'a', input: userText('go'), workspace: project });
    if (started.kind !== 'started') throw new Error(started.error.message);
    expect(await started.handle.done).toMatchObject({ result: { status: 'completed', verification: { state: 'verified' } } });
    const ran = await opened.ledger.read({ session: started.handle.session, types: ['cli.run'] });
    expect(ran.map(({ payload }) => Reflect.get(payload, 'sandbox'))).toEqual(['sandbox-runtime/linux', 'sandbox-runtime/linux']);
    await opened.close();
    expect(readFileSync(join(project, 'made.txt'), 'utf8')).toBe('nothing\n');
  });
});
