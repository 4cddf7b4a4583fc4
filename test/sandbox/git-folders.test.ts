/** What a program inside walls can do to the git folders that it works with: nothing that git would run outside. */
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { systemRandom } from '../../src/base/random.ts';
import type { Sandbox } from '../../src/sandbox/port.ts';
import { createSandbox } from '../../src/sandbox/sandbox.ts';
import { sandboxSettings } from '../../src/sandbox/settings.ts';
import { createGuard } from '../../src/tools/files/guard.ts';
import type { ToolOutcome } from '../../src/tools/port.ts';
import { shellTool } from '../../src/tools/shell/shell.ts';
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
