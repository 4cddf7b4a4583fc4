/** What a program inside walls can do to the git folders that it works with: nothing that git would run outside. */
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { createIds } from '../../src/base/ids.ts';
import { systemRandom } from '../../src/base/random.ts';
import type { Sandbox } from '../../src/sandbox/port.ts';
import { createSandbox } from '../../src/sandbox/sandbox.ts';
import { sandboxSettings } from '../../src/sandbox/settings.ts';
import { createGuard } from '../../src/tools/closed/guard.ts';
import type { ToolOutcome } from '../../src/tools/port.ts';
import { shellTool } from '../../src/tools/shell/shell.ts';
import { createWorkspaces } from '../../src/workspaces/workspaces.ts';
import { describeInside } from '../support/sandbox/sandbox-here.ts';
import { testContext } from '../support/tool-workspace.ts';

const top = realpathSync(mkdtempSync('/tmp/troupe-git-inside-'));
const repository = join(top, 'repository');
const worktree = join(top, 'worktree');
const other = join(top, 'other');
const evil = join(top, 'evil.sh');
const broken = join(top, 'broken-out');
const environment = { PATH: process.env['PATH'], HOME: join(top, 'home') };
const gitAt = (folder: string, ...words: string[]): string =>
  execFileSync('git', ['-C', folder, ...words], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
let sandbox: Sandbox;

beforeAll(() => {
  mkdirSync(environment.HOME);
  writeFileSync(evil, `#!/bin/sh\ntouch ${broken}\n`);
  chmodSync(evil, 0o755);
  execFileSync('git', ['init', '-q', '-b', 'main', repository]);
  for (const [name, value] of [
    ['user.email', 'a@example.org'],
    ['user.name', 'A'],
    ['extensions.worktreeConfig', 'true'],
  ] as const)
    gitAt(repository, 'config', name, value);
  writeFileSync(join(repository, 'file'), 'one\n');
  gitAt(repository, 'add', '.');
  gitAt(repository, 'commit', '-qm', 'first');
  for (const path of [worktree, other]) gitAt(repository, 'worktree', 'add', '-q', '--detach', path);
  // A module as `git submodule add` lays it.
  execFileSync('git', ['init', '-q', '--bare', join(repository, '.git', 'modules', 'libraries', 'one')]);
  rmSync(join(repository, '.git', 'hooks'), { recursive: true, force: true });
  sandbox = createSandbox({ settings: sandboxSettings('auto', []), environment, random: systemRandom, state: [] });
});

afterAll(async () => {
  await sandbox?.close();
  rmSync(top, { recursive: true, force: true });
});

async function inside(folder: string, command: string): Promise<ToolOutcome> {
  const tool = shellTool({ clock: systemClock, environment, guard: createGuard(), sandbox, places: undefined });
  return await tool.run({ command }, testContext(folder));
}

const SET = `git config --file "$f" core.fsmonitor ${evil}; printf '[core]\\nfsmonitor = ${evil}\\n' > "$f"`;

describeInside('what git runs outside', () => {
  it.each<[string, string, string]>([
    ['settings of the worktree', worktree, `f=$(git rev-parse --git-dir)/config.worktree; ${SET}`],
    ['settings of the repository as a worktree', repository, `f=.git/config.worktree; ${SET}`],
    ['settings of another worktree', repository, `f=.git/worktrees/other/config.worktree; ${SET}`],
    ['settings of a module', repository, `f=.git/modules/libraries/one/config; ${SET}`],
    ['settings of a module as a worktree', repository, `f=.git/modules/libraries/one/config.worktree; ${SET}`],
    [
      'where another worktree belongs',
      repository,
      `mkdir e; cp -r .git/. e/ && f=e/config; ${SET}; pwd > .git/worktrees/other/commondir`,
    ],
    ['hooks where there are none', repository, `mkdir .git/hooks; cp ${evil} .git/hooks/post-index-change`],
    ['hooks of a module', repository, `cp ${evil} .git/modules/libraries/one/hooks/post-index-change`],
  ])('is not said inside: %s', async (_what, folder, command) => {
    expect((await inside(folder, command)).kind).toBe('error');
    for (const place of [repository, worktree, other]) gitAt(place, 'status');
    gitAt(repository, '--git-dir=.git/modules/libraries/one', '--work-tree=.', '-c', 'core.bare=false', 'add', 'file');
    expect(existsSync(broken)).toBe(false);
  });

  it('leaves nothing behind where it kept something from being made', async () => {
    const outcome = await inside(repository, 'git status && echo 2 > file && git commit -qam second');
    expect(outcome).toMatchObject({ kind: 'ok' });
    // Where git reads these settings an empty file is left, and no other.
    expect(readFileSync(join(repository, '.git', 'config.worktree'), 'utf8')).toBe('');
    expect(existsSync(join(repository, '.git', 'modules', 'libraries', 'one', 'config.worktree'))).toBe(false);
    expect(existsSync(join(repository, '.git', 'hooks'))).toBe(false);
  });
});

describeInside('the repository of a worktree', () => {
  const known = (): string =>
    ['for-each-ref', 'reflog', 'stash list'].map((words) => gitAt(repository, ...words.split(' '))).join();

  it('keeps its branches, tags, stash, history and packed objects', async () => {
    gitAt(repository, 'branch', 'mine');
    gitAt(repository, 'tag', 'v1');
    writeFileSync(join(repository, 'file'), 'stashed\n');
    gitAt(repository, 'stash');
    gitAt(repository, 'gc', '-q');
    gitAt(repository, 'branch', 'loose');
    const before = known();
    const common = join(repository, '.git');
    for (const command of [
      ...['git branch -D mine', 'git branch -D loose', 'git tag -d v1', 'git stash drop', 'git update-ref refs/heads/new HEAD'],
      ...['git reflog expire --expire=now --all', `rm -r ${common}/logs`, `rm ${common}/packed-refs`, `rm ${common}/HEAD`],
      ...[`rm -f ${common}/objects/pack/*`, `echo /evil > ${common}/objects/info/alternates`],
    ])
      expect([command, (await inside(worktree, command)).kind]).toEqual([command, 'error']);
    expect(known()).toBe(before);
    gitAt(repository, 'fsck', '--strict');
    expect((await inside(worktree, 'echo 3 > file && git commit -qam third && git log --oneline && git diff HEAD~1')).kind).toBe(
      'ok',
    );
    expect(gitAt(worktree, 'log', '--format=%s', '-1')).toBe('third\n');
    expect(known()).toBe(before);
  });
});

describeInside('the place of a task', () => {
  it('has a git folder of its own, and no object of the repository is removed or replaced', async () => {
    const options = { home: join(top, 'state'), environment, clock: systemClock, ids: createIds(systemClock, systemRandom) };
    // Nothing of this commit is packed.
    writeFileSync(join(repository, 'new'), 'new\n');
    gitAt(repository, 'add', 'new');
    gitAt(repository, 'commit', '-qm', 'new');
    const made = await createWorkspaces(options).prepare({ repo: repository, session: 'ses', task: 'task' });
    if (!made.ok) throw new Error(made.error.message);
    const { path } = made.value.place;
    const objects = join(repository, '.git', 'objects');
    const loose = gitAt(repository, 'rev-parse', 'HEAD:new').trim().replace(/^../, '$&/');
    for (const command of [
      ...[`rm -f ${objects}/${loose}`, `chmod u+w ${objects}/${loose}`, `touch ${objects}/${loose.slice(0, 2)}/x`],
      ...['echo /evil > .git/objects/info/alternates', 'echo /evil > .git/commondir', 'echo /evil > .git/troupe-worktree'],
      ...['git config core.fsmonitor evil', 'mkdir .git/hooks'],
    ])
      expect([command, (await inside(path, command)).kind]).toEqual([command, 'error']);
    const before = gitAt(repository, 'for-each-ref') + gitAt(repository, 'count-objects', '-v');
    for (const command of [
      'echo 9 > file && git commit -qam ninth && git log --oneline main && git diff HEAD~1',
      'git switch -qc own && echo 10 > file && git stash && git stash pop && git add -A && git commit -qm tenth',
    ])
      expect(await inside(path, command)).toMatchObject({ kind: 'ok' });
    expect(gitAt(path, 'log', '--format=%s', '-2')).toBe('tenth\nninth\n');
    expect(gitAt(repository, 'for-each-ref') + gitAt(repository, 'count-objects', '-v')).toBe(before);
    // The user sweeps meanwhile: where the task began stays, and so does what was done.
    gitAt(repository, 'gc', '-q', '--prune=now');
    gitAt(repository, 'fsck', '--strict');
    const captured = await createWorkspaces(options).capture(made.value.place);
    expect(captured).toMatchObject({ ok: true, value: { files: [{ path: 'file' }] } });
    expect((await inside(path, 'git status && git log')).kind).toBe('ok');
  });
});
