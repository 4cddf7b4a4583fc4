import { execFile, execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import {
  commitFiles,
  everythingOf,
  git,
  makeExecutable,
  testRepository,
  value,
  workspacesIn,
  writeFiles,
} from '../../test/support/workspaces/test-repository.ts';
import type { PreparedPlace } from './port.ts';

const task = (repo: string, name = 'task-1') => ({ repo, session: 'ses_1', task: name });
const read = (prepared: PreparedPlace, path: string): string => readFileSync(join(prepared.place.path, path), 'utf8');

describe('a place of its own', () => {
  it('begins at what is checked out, and the repository is as it was', async () => {
    const { top, home, workspaces } = await testRepository();
    writeFiles(top, { 'a.txt': 'mine, not committed\n' });
    const before = everythingOf(top);
    const made = value(await workspaces.prepare(task(top)));
    expect(made.place.path).toBe(join(home, 'worktrees/ses_1/task-1'));
    expect(read(made, 'a.txt')).toBe('one\n');
    expect(git(made.place.path, 'status', '--porcelain')).toBe('');
    expect(git(top, 'worktree', 'list')).toContain('task-1');
    expect(git(made.place.path, 'rev-parse', 'HEAD')).toBe(git(top, 'rev-parse', 'HEAD'));
    expect(everythingOf(top)).toBe(before);
  });

  it('has the packages that the repository links to as they are there, not the user’s', async () => {
    const { top, workspaces } = await testRepository({
      '.gitignore': 'node_modules\n',
      'package.json': '{ "workspaces": ["packages/*"] }',
      'packages/one/package.json': '{ "name": "one" }',
      'packages/one/index.js': "module.exports = 'as it began';\n",
      'packages/two/package.json': '{ "name": "@all/two" }',
      'packages/two/test.js': "console.log(require('one'), require('bought'));\n",
    });
    writeFiles(top, { 'node_modules/bought/index.js': "module.exports = 'bought';\n", 'private/index.js': '' });
    writeFiles(top, { 'node_modules/@all/x': '', 'node_modules/.bin/y': '', 'packages/two/node_modules/x': '' });
    for (const [link, leads] of [
      ['node_modules/one', '../packages/one'],
      ['node_modules/@all/two', '../../packages/two'],
      ['node_modules/.bin/tests', join(top, 'packages/two/test.js')],
      ['node_modules/private', '../private'],
      ['node_modules/stored', 'bought'],
      ['node_modules/away', '/usr'],
      ['packages/two/node_modules/one', '../../one'],
    ] as const)
      symlinkSync(leads, join(top, link));
    const made = value(await workspaces.prepare(task(top)));
    const { path } = made.place;
    writeFiles(path, { 'packages/one/index.js': "module.exports = 'as it is here';\n" });
    const found = ['', '.bin', '@all'].flatMap((folder) => readdirSync(join(path, 'node_modules', folder)));
    expect(found).toEqual(['.bin', '@all', 'one', 'tests', 'two']);
    expect(realpathSync(join(path, 'node_modules/.bin/tests'))).toBe(join(path, 'packages/two/test.js'));
    const ran = execFileSync(process.execPath, [join(path, 'node_modules/@all/two/test.js')], {
      encoding: 'utf8',
      env: { NODE_PATH: join(top, 'node_modules') },
    });
    expect(ran).toBe('as it is here bought\n');
    expect(readdirSync(join(path, 'packages/two/node_modules'))).toEqual(['one']);
    expect(value(await workspaces.capture(made.place)).files.map((file) => file.path)).toEqual(['packages/one/index.js']);
    expect(value(await workspaces.ignored(made.place))).toEqual(['node_modules/', 'packages/two/node_modules/']);
  });

  it('is the same one when it is asked for again, with what was done there', async () => {
    const { top, workspaces } = await testRepository();
    const made = value(await workspaces.prepare(task(top)));
    writeFiles(made.place.path, { 'a.txt': 'work\n' });
    commitFiles(top, { 'later.txt': 'x' });
    expect(value(await workspaces.prepare(task(top)))).toEqual(made);
    expect(read(made, 'a.txt')).toBe('work\n');
  });

  it('can begin with what is not committed, which stays where it is', async () => {
    const { top, workspaces } = await testRepository();
    writeFiles(top, { 'a.txt': 'changed\n', 'staged.txt': 'staged\n', 'new.txt': 'new\n', 'ignored/x': 'no' });
    writeFileSync(join(top, '.gitignore'), 'ignored/\n');
    rmSync(join(top, 'docs/x.md'));
    git(top, 'add', 'staged.txt');
    writeFiles(top, { 'staged.txt': 'staged, and changed again\n' });
    const before = everythingOf(top);
    const made = value(await workspaces.prepare({ ...task(top), base: 'working-tree' }));
    expect(read(made, 'a.txt')).toBe('changed\n');
    expect(read(made, 'new.txt')).toBe('new\n');
    expect(read(made, 'staged.txt')).toBe('staged, and changed again\n');
    expect(existsSync(join(made.place.path, 'docs/x.md'))).toBe(false);
    expect(existsSync(join(made.place.path, 'ignored'))).toBe(false);
    expect(git(made.place.path, 'status', '--porcelain')).toBe('');
    expect(everythingOf(top)).toBe(before);
    expect(value(await workspaces.capture(made.place)).patch).toHaveLength(0);
  });

  it('can be on a branch, which goes with it unless it holds commits', async () => {
    const { top, workspaces } = await testRepository();
    const [one, other] = [
      value(await workspaces.prepare({ ...task(top), branch: 'troupe/one' })),
      value(await workspaces.prepare({ ...task(top, 'task-2'), branch: 'troupe/two' })),
    ];
    expect(git(one.place.path, 'branch', '--show-current').trim()).toBe('troupe/one');
    commitFiles(one.place.path, { 'a.txt': 'two\n' });
    const captured = value(await workspaces.capture(one.place)).patch;
    expect(value(await workspaces.remove(one.place, { captured }))).toEqual({ removed: true, kept: 'troupe/one' });
    expect(value(await workspaces.remove(other.place, {}))).toEqual({ removed: true });
    expect(
      git(top, 'branch', '--list')
        .split('\n')
        .map((line) => line.trim())
        .filter(Boolean),
    ).toEqual(['* main', 'troupe/one']);
    expect(await workspaces.prepare({ ...task(top, 'task-3'), branch: 'main' })).toMatchObject({ error: { code: 'bad_name' } });
    expect(await workspaces.prepare({ ...task(top, 'task-3'), branch: 'troupe/one' })).toMatchObject({
      error: { code: 'branch_taken' },
    });
  });

  it('has the ignored files that .worktreeinclude names, and no others', async () => {
    const { top, workspaces } = await testRepository({ '.gitignore': '.env*\ncache/\n', 'a.txt': 'a' });
    writeFiles(top, {
      '.env': 'KEY=1',
      '.env.local': 'KEY=2',
      'cache/x': 'x',
      'cache/deep/y': 'y',
      '.worktreeinclude': '.env*\n!.env.local\ncache/deep/\nuntracked\n',
    });
    writeFiles(top, { untracked: 'not ignored' });
    const { place, notes } = value(await workspaces.prepare(task(top)));
    expect(readFileSync(join(place.path, '.env'), 'utf8')).toBe('KEY=1');
    expect(readFileSync(join(place.path, 'cache/deep/y'), 'utf8')).toBe('y');
    expect(['.env.local', 'cache/x', 'untracked'].filter((path) => existsSync(join(place.path, path)))).toEqual([]);
    expect(notes).toEqual([]);
    expect(value(await workspaces.capture(place)).files).toEqual([]);
  });

  it('has its modules from the clones of this machine; others are told', async () => {
    const inner = await testRepository({ 'lib.txt': 'lib\n' });
    const { top, workspaces } = await testRepository();
    git(top, 'submodule', '--quiet', 'add', inner.top, 'libs/inner');
    commitFiles(top, {}, 'with a module');
    const { place, notes } = value(await workspaces.prepare(task(top)));
    expect(readFileSync(join(place.path, 'libs/inner/lib.txt'), 'utf8')).toBe('lib\n');
    expect(notes).toEqual([]);
    expect(git(place.path, 'status', '--porcelain')).toBe('');
    writeFiles(place.path, { 'libs/inner/lib.txt': 'changed\n' });
    expect(value(await workspaces.capture(place)).uncaptured).toEqual(['files of the module libs/inner are changed']);
    expect(await workspaces.remove(place, {})).toMatchObject({ error: { code: 'work_held' } });
    rmSync(join(top, '.git/modules'), { recursive: true });
    const second = value(await workspaces.prepare(task(top, 'task-2')));
    expect(second.notes).toEqual(['the module libs/inner is not on this machine: it is empty']);
  });

  it('is in place by choice, and goes by what was there then', async () => {
    const { top, workspaces } = await testRepository();
    writeFiles(top, { 'a.txt': 'mine\n' });
    const before = everythingOf(top);
    const { place } = value(await workspaces.prepare({ ...task(top), inPlace: true }));
    expect(everythingOf(top)).toBe(before);
    writeFiles(top, { 'docs/x.md': 'written by the task\n' });
    const again = value(await workspaces.prepare({ ...task(top), inPlace: true }));
    expect(again.place).toEqual(place);
    const work = value(await workspaces.capture(place, { include: ['src/'], exclude: [], noTouch: [] }));
    expect(work.outside).toEqual([{ path: 'docs/x.md', why: 'include_paths does not have it' }]);
    expect(readFileSync(join(top, 'docs/x.md'), 'utf8')).toBe('written by the task\n');
    expect(value(await workspaces.capture(place)).files.map(({ path }) => path)).toEqual(['docs/x.md']);
  });
});

describe('what cannot be is told', () => {
  it.each([
    ['a folder without a repository', async () => (await testRepository()).home, 'no_repository', 'not in a git repository'],
    [
      'a repository without a commit',
      async () => {
        const { home } = await testRepository();
        git(home, 'init', '-q', 'empty');
        return join(home, 'empty');
      },
      'no_repository',
      'has no commit yet',
    ],
    [
      'a bare repository',
      async () => {
        const { home, top } = await testRepository();
        git(home, 'clone', '-q', '--bare', top, 'bare.git');
        return join(home, 'bare.git');
      },
      'no_repository',
      'is bare',
    ],
  ])('%s', async (_name, folder, code, words) => {
    const { workspaces } = await testRepository();
    const outcome = await workspaces.prepare(task(await folder()));
    expect(outcome).toMatchObject({ ok: false, error: { code, fix: expect.any(String) } });
    expect(JSON.stringify(outcome)).toContain(words);
  });

  it.each(['../out', 'a/b', '', '.hidden', 'x'.repeat(200), 'a..b'])('a task called %j', async (name) => {
    const { top, workspaces } = await testRepository();
    expect(await workspaces.prepare(task(top, name))).toMatchObject({ error: { code: 'bad_name' } });
  });

  it.each(['--upload-pack=x', 'no-such', 'a b', ''])('the base %j', async (base) => {
    const { top, workspaces } = await testRepository();
    expect(await workspaces.prepare({ ...task(top), base })).toMatchObject({ error: { code: 'bad_base' } });
  });
});

describe('odd repositories work', () => {
  it('one in another, a worktree of one, and a sparse checkout', async () => {
    const { top, home, workspaces } = await testRepository();
    git(top, 'init', '-q', 'vendor/inner');
    commitFiles(join(top, 'vendor/inner'), { 'inner.txt': 'inner' });
    expect(read(value(await workspaces.prepare(task(join(top, 'vendor/inner')))), 'inner.txt')).toBe('inner');
    git(top, 'worktree', 'add', '-q', join(home, 'other'));
    expect(read(value(await workspaces.prepare(task(join(home, 'other/src'), 'task-2'))), 'src/main.ts')).toBe('main\n');
    git(top, 'sparse-checkout', 'set', 'docs');
    expect(existsSync(join(top, 'src'))).toBe(false);
    const sparse = value(await workspaces.prepare({ ...task(top, 'task-3'), base: 'working-tree' }));
    expect(read(sparse, 'src/main.ts')).toBe('main\n');
    expect(value(await workspaces.capture(sparse.place)).files).toEqual([]);
  });

  it('one with objects of the longer names, and one whose folder has odd signs', async () => {
    const { home, workspaces } = await testRepository();
    const odd = join(home, 'an "odd" näme\\here');
    mkdirSync(odd);
    git(odd, 'init', '-q', '--object-format=sha256');
    commitFiles(odd, { 'ä "b".txt': 'x\n', 'docs/x.md': 'x\n' });
    const { place } = value(await workspaces.prepare(task(odd)));
    writeFiles(place.path, { 'ä "b".txt': 'y\n', 'new.txt': 'z' });
    rmSync(join(place.path, 'docs/x.md'));
    const work = value(await workspaces.capture(place, { include: ['*.txt'], exclude: [], noTouch: [] }));
    expect(work.files.map(({ path }) => path)).toEqual(['new.txt', 'ä "b".txt']);
    expect(readFileSync(join(place.path, 'docs/x.md'), 'utf8')).toBe('x\n');
  });

  it('one with a split index', async () => {
    const { top, workspaces } = await testRepository();
    git(top, 'update-index', '--split-index');
    writeFiles(top, { 'a.txt': 'changed\n' });
    expect(read(value(await workspaces.prepare({ ...task(top), base: 'working-tree' })), 'a.txt')).toBe('changed\n');
  });
});

describe('a hostile repository runs nothing', () => {
  it('no hook, filter, driver, monitor, pager, helper or address of a module', async () => {
    const { top, home, workspaces } = await testRepository({
      '.gitattributes': '*.txt filter=evil diff=evil merge=evil\n',
      'a.txt': 'one\n',
      '.gitmodules':
        '[submodule "x"]\n\tpath = x\n\turl = ext::sh -c touch% OWNED\n[submodule "../../y"]\n\tpath = y\n\turl = ./y\n',
    });
    const owned = join(home, 'OWNED');
    const evil = join(home, 'evil.sh');
    writeFileSync(evil, `#!/bin/sh\necho "$0 $*" >> ${owned}\ncat\n`);
    makeExecutable(evil);
    const head = git(top, 'rev-parse', 'HEAD').trim();
    git(top, 'update-index', '--add', '--cacheinfo', `160000,${head},x`);
    git(top, 'commit', '-q', '-m', 'a module');
    for (const hook of ['post-checkout', 'pre-commit', 'reference-transaction', 'post-index-change', 'fsmonitor-watchman']) {
      writeFileSync(join(top, '.git/hooks', hook), `#!/bin/sh\nexec ${evil} ${hook} </dev/null\n`);
      chmodSync(join(top, '.git/hooks', hook), 0o755);
    }
    const settings = {
      'filter.evil.clean': evil,
      'filter.evil.smudge': evil,
      'filter.evil.process': evil,
      'filter.evil.required': 'true',
      'diff.evil.command': evil,
      'diff.evil.textconv': evil,
      'diff.external': evil,
      'merge.evil.driver': `${evil} %A`,
      'core.fsmonitor': evil,
      'core.pager': evil,
      'core.editor': evil,
      'core.sshCommand': evil,
      'credential.helper': `!${evil}`,
      'core.alternateRefsCommand': evil,
      'uploadpack.packObjectsHook': evil,
      'submodule.x.update': `!${evil}`,
      'alias.read-tree': `!${evil}`,
      'protocol.ext.allow': 'always',
    };
    for (const [name, one] of Object.entries(settings)) git(top, 'config', name, one);
    rmSync(owned, { force: true });
    writeFiles(top, { 'a.txt': 'dirty\n' });
    const made = value(await workspaces.prepare({ ...task(top), base: 'working-tree', branch: 'troupe/x' }));
    writeFiles(made.place.path, { 'a.txt': 'two\n', 'b.txt': 'new\n', 'docs/y.md': 'out\n' });
    const work = value(await workspaces.capture(made.place, { include: ['*.txt'], exclude: [], noTouch: [] }));
    expect(work.files.map(({ path }) => path)).toEqual(['a.txt', 'b.txt']);
    expect(work.outside.map(({ path }) => path)).toEqual(['docs/y.md']);
    expect(value(await workspaces.remove(made.place, { captured: work.patch })).removed).toBe(true);
    expect(existsSync(owned) ? readFileSync(owned, 'utf8') : 'nothing ran').toBe('nothing ran');
    // The traps are set: git by itself runs into them.
    git(top, 'commit', '-q', '--allow-empty', '-m', 'x');
    expect(readFileSync(owned, 'utf8')).toContain('pre-commit');
  });

  it('a link in the base does not take a copied file elsewhere', async () => {
    const { top, home, workspaces } = await testRepository({ '.gitignore': 'conf/secret\n', 'a.txt': 'a' });
    mkdirSync(join(home, 'elsewhere'));
    symlinkSync(join(home, 'elsewhere'), join(top, 'conf'));
    const linked = commitFiles(top, {}, 'a link');
    git(top, 'rm', '-q', 'conf');
    git(top, 'commit', '-q', '-m', 'no link');
    writeFiles(top, { 'conf/secret': 's', '.worktreeinclude': 'conf/secret\n' });
    const { notes } = value(await workspaces.prepare({ ...task(top), base: linked }));
    expect(notes).toEqual(['conf/secret was not copied: a link leads out of the worktree']);
    expect(readdirSync(join(home, 'elsewhere'))).toEqual([]);
  });
});

describe('cut off anywhere', () => {
  it.each(['added', 'checked out', 'filled', 'recorded', 'announced'])(
    'after it was %s, the next attempt makes it whole',
    async (point) => {
      const { top, home, workspaces } = await testRepository();
      const before = everythingOf(top);
      const between = (effect: string): void => {
        if (effect === point) throw new Error('the power is gone');
      };
      const cut = workspacesIn(home, { between }).workspaces;
      await expect(cut.prepare({ ...task(top), branch: 'troupe/x' })).rejects.toThrow('the power');
      expect(existsSync(join(home, 'worktrees/ses_1/task-1'))).toBe(false);
      const made = value(await workspaces.prepare({ ...task(top), branch: 'troupe/x' }));
      expect(read(made, 'src/main.ts')).toBe('main\n');
      expect(git(made.place.path, 'status', '--porcelain')).toBe('');
      expect(git(top, 'worktree', 'list').trim().split('\n')).toHaveLength(2);
      expect(readdirSync(join(top, '.git/worktrees'))).toHaveLength(1);
      expect(readdirSync(join(home, 'worktrees/ses_1')).toSorted()).toEqual(['task-1', 'task-1.index', 'task-1.json']);
      value(await workspaces.remove(made.place, {}));
      expect(everythingOf(top)).toBe(before);
      expect(existsSync(join(home, 'worktrees/ses_1'))).toBe(false);
    },
  );
});

describe('several processes', () => {
  it('make the same place once, and others beside it', async () => {
    const { top, home } = await testRepository();
    const main = join(import.meta.dirname, '../../test/support/workspaces/prepare-main.ts');
    const outcomes = await Promise.all(
      ['same', 'same', 'same', 'other-1', 'other-2'].map(async (name) => {
        const { stdout } = await promisify(execFile)(process.execPath, [main, home, top, name]);
        return stdout.trim();
      }),
    );
    expect(outcomes).toEqual(['same', 'same', 'same', 'other-1', 'other-2'].map((name) => join(home, 'worktrees/ses_1', name)));
    expect(git(top, 'worktree', 'list').trim().split('\n')).toHaveLength(4);
  });

  it('that are killed in the middle leave nothing half, and no lock', async () => {
    const { top, home, workspaces } = await testRepository();
    const main = join(import.meta.dirname, '../../test/support/workspaces/prepare-main.ts');
    for (const point of ['added', 'announced']) {
      const killed = promisify(execFile)(process.execPath, [main, home, top, 'task-1', point]);
      await expect(killed).rejects.toMatchObject({ signal: 'SIGKILL' });
      expect(existsSync(join(home, 'worktrees/ses_1/task-1'))).toBe(false);
    }
    const made = value(await workspaces.prepare(task(top)));
    expect(read(made, 'src/main.ts')).toBe('main\n');
    expect(readdirSync(join(top, '.git/worktrees'))).toHaveLength(1);
  });

  it('fifty places stand beside each other', async () => {
    const { top, workspaces } = await testRepository();
    const names = Array.from({ length: 50 }, (_, number) => `task-${number}`);
    const made = await Promise.all(names.map((name) => workspaces.prepare(task(top, name))));
    expect(new Set(made.map((one) => value(one).place.path)).size).toBe(50);
    expect(git(top, 'worktree', 'list').trim().split('\n')).toHaveLength(51);
    expect(readdirSync(join(top, '.git/worktrees'))).toHaveLength(50);
  });
});
