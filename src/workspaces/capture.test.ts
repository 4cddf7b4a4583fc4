import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import {
  commitFiles,
  everythingOf,
  git,
  testRepository,
  value,
  workspacesIn,
  writeFiles,
} from '../../test/support/workspaces/test-repository.ts';

const task = (repo: string, name = 'task-1') => ({ repo, session: 'ses_1', task: name });
const only = (...include: string[]) => ({ include, exclude: [], noTouch: [] });

async function prepared(files?: Parameters<typeof testRepository>[0]) {
  const repository = await testRepository(files);
  const { place } = value(await repository.workspaces.prepare(task(repository.top)));
  return { ...repository, place };
}

describe('a patch', () => {
  it('brings everything: bytes, modes, links, renames, new and deleted files', async () => {
    const { top, home, place, workspaces } = await prepared({
      'text.txt': 'one\ntwo\nthree\n',
      'old/name.txt': 'a long enough text to be known again\nwherever it goes\n',
      'picture.bin': Uint8Array.from({ length: 3000 }, (_, at) => (at * 7) % 256),
      'run.sh': '#!/bin/sh\n',
      'gone.txt': 'gone\n',
      'latin.txt': Uint8Array.from([0xe4, 0xf6, 0x0a]),
      '.gitignore': 'build/\n',
    });
    writeFiles(place.path, {
      'text.txt': 'one\n2\nthree\n',
      'picture.bin': Uint8Array.from({ length: 3000 }, (_, at) => (at * 11) % 256),
      'new/deep/ä "x" \t.txt': 'new, without an end of line',
      'latin.txt': Uint8Array.from([0xe4, 0xfc, 0x0a]),
      'crlf.txt': 'a\r\nb\r\n',
      'empty.txt': '',
      'build/out.js': 'ignored',
    });
    mkdirSync(join(place.path, 'fresh'));
    renameSync(join(place.path, 'old/name.txt'), join(place.path, 'fresh/name.txt'));
    chmodSync(join(place.path, 'run.sh'), 0o755);
    rmSync(join(place.path, 'gone.txt'));
    symlinkSync('text.txt', join(place.path, 'link'));
    const work = value(await workspaces.capture(place));
    expect(work.files.find(({ path }) => path === 'fresh/name.txt')).toMatchObject({ change: 'renamed', from: 'old/name.txt' });
    expect(work.files.find(({ path }) => path === 'picture.bin')).toMatchObject({ change: 'changed', binary: true });
    expect(work.files.find(({ path }) => path === 'text.txt')).toMatchObject({ addedLines: 1, removedLines: 1 });
    expect(work.files.map(({ path }) => path)).not.toContain('build/out.js');
    // Git itself makes the same files of it.
    git(top, 'worktree', 'add', '-q', '--detach', join(home, 'other'));
    writeFileSync(join(home, 'patch'), work.patch);
    git(join(home, 'other'), 'apply', join(home, 'patch'));
    rmSync(join(place.path, 'build'), { recursive: true });
    const files = (folder: string) =>
      everythingOf(folder)
        .replaceAll(/^\.git[ /].*\n/gm, '')
        .replaceAll(/ [\d.]+ (\w+)$/gm, ' $1');
    expect(files(join(home, 'other'))).toBe(files(place.path));
    expect(value(await workspaces.capture(place)).patch).toEqual(work.patch);
  });

  it('is of what is on the disk, whatever was committed, staged, hidden or stashed there', async () => {
    const { place, workspaces } = await prepared();
    writeFiles(place.path, { 'a.txt': 'committed\n', 'docs/x.md': 'hidden\n' });
    git(place.path, 'update-index', '--assume-unchanged', 'docs/x.md');
    git(place.path, 'add', 'a.txt');
    git(place.path, 'commit', '-q', '-m', 'mine');
    writeFiles(place.path, { 'src/main.ts': 'staged\n' });
    git(place.path, 'add', 'src/main.ts');
    const names = value(await workspaces.capture(place)).files.map(({ path }) => path);
    expect(names).toEqual(['a.txt', 'docs/x.md', 'src/main.ts']);
  });

  it('holds the files of a repository that was begun inside, and nothing of what programs leave behind', async () => {
    const { place, workspaces } = await prepared();
    writeFiles(place.path, { 'app/index.ts': 'x', 'app/.gitignore': 'tmp/\n', 'app/tmp/y': 'y', 'app/node_modules/z/z.js': 'z' });
    git(join(place.path, 'app'), 'init', '-q');
    writeFiles(place.path, { 'node_modules/b/b.js': 'b', '__pycache__/c.pyc': 'c' });
    const work = value(await workspaces.capture(place));
    expect(work.files.map(({ path }) => path)).toEqual(['app/.gitignore', 'app/index.ts']);
    expect(work.uncaptured).toContain("node_modules/ is not the project's own");
  });

  it('leaves large files as pointers: nothing is fetched, and nothing is changed', async () => {
    const pointer = 'version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12\n';
    const { place, workspaces } = await prepared({
      '.gitattributes': '*.bin filter=lfs diff=lfs merge=lfs -text\n',
      'x.bin': pointer,
    });
    expect(readFileSync(join(place.path, 'x.bin'), 'utf8')).toBe(pointer);
    expect(value(await workspaces.capture(place)).files).toEqual([]);
  });

  it('that would be too large is refused by the name of the limit', async () => {
    const { place, workspaces } = await prepared();
    mkdirSync(join(place.path, 'many'));
    for (let number = 0; number <= 20_000; number += 1) writeFileSync(join(place.path, 'many', `${number}`), '');
    expect(await workspaces.capture(place)).toMatchObject({
      error: { code: 'patch_too_large', message: expect.stringContaining('patchFiles') },
    });
  });

  it('of more bytes than can be read in a while is refused before one of them is read', async () => {
    const { place, workspaces } = await prepared({ 'known.bin': 'small', '.gitignore': 'ignored.bin\n' });
    for (const name of ['new.bin', 'known.bin', 'ignored.bin']) {
      writeFileSync(join(place.path, name), '');
      truncateSync(join(place.path, name), 40 * 2 ** 30);
      const captured = await workspaces.capture(place);
      if (name === 'ignored.bin') expect(value(captured).files).toEqual([]);
      else
        expect(captured).toMatchObject({
          error: { code: 'patch_too_large', message: expect.stringMatching(/40960 MiB.*newBytes.*\b(?:new|known)\.bin alone/) },
        });
      rmSync(join(place.path, name));
      if (name === 'known.bin') writeFileSync(join(place.path, name), 'small');
    }
  });
});

describe('what is written outside of a domain', () => {
  it('is kept as a patch, taken back and told; what is inside stays', async () => {
    const { top, home, place, workspaces } = await prepared({
      'src/a.ts': 'a\n',
      'docs/x.md': 'x\n',
      'docs/y.md': 'y\n',
      'run.sh': 'x\n',
    });
    writeFiles(place.path, {
      'src/a.ts': 'mine\n',
      'docs/x.md': 'not mine\n',
      'docs/new/z.md': 'new\n',
      'other/deep/file': 'new',
    });
    rmSync(join(place.path, 'docs/y.md'));
    chmodSync(join(place.path, 'run.sh'), 0o755);
    const work = value(await workspaces.capture(place, only('src/')));
    expect(work.files.map(({ path }) => path)).toEqual(['src/a.ts']);
    expect(work.outside.map(({ path }) => path).toSorted()).toEqual([
      'docs/new/z.md',
      'docs/x.md',
      'docs/y.md',
      'other/deep/file',
      'run.sh',
    ]);
    expect(git(place.path, 'status', '--porcelain', '--untracked-files=all')).toBe(' M src/a.ts\n');
    expect(existsSync(join(place.path, 'other'))).toBe(false);
    // Nothing of it is lost.
    const [first] = work.outside;
    git(top, 'worktree', 'add', '-q', '--detach', join(home, 'other'));
    git(join(home, 'other'), 'apply', first?.kept ?? '');
    expect(readFileSync(join(home, 'other/docs/new/z.md'), 'utf8')).toBe('new\n');
    expect(existsSync(join(home, 'other/docs/y.md'))).toBe(false);
    // Told again, and not twice.
    expect(value(await workspaces.capture(place, only('src/')))).toEqual(work);
  });

  it.each(['kept', 'restored'])('is lost nowhere when it is cut off after it was %s', async (point) => {
    const { home, place, workspaces } = await prepared();
    writeFiles(place.path, { 'docs/x.md': 'not mine\n', 'src/main.ts': 'mine\n' });
    const between = (effect: string): void => {
      if (effect === point) throw new Error('the power is gone');
    };
    await expect(workspacesIn(home, { between }).workspaces.capture(place, only('src/'))).rejects.toThrow('the power');
    const work = value(await workspaces.capture(place, only('src/')));
    expect(work.files.map(({ path }) => path)).toEqual(['src/main.ts']);
    expect(work.outside.map(({ path }) => path)).toEqual(['docs/x.md']);
    expect(readFileSync(work.outside[0]?.kept ?? '', 'utf8')).toContain('+not mine');
    expect(readdirSync(join(home, 'worktrees/ses_1/task-1.kept'))).toHaveLength(2);
  });

  it('through a link is seen where it is; a link that leads out is outside itself', async () => {
    const { home, place, workspaces } = await prepared();
    mkdirSync(join(home, 'elsewhere'));
    symlinkSync('../docs', join(place.path, 'src/docs'));
    writeFileSync(join(place.path, 'src/docs/x.md'), 'through a link\n');
    symlinkSync(join(home, 'elsewhere'), join(place.path, 'src/out'));
    symlinkSync('../../../../up', join(place.path, 'src/up'));
    symlinkSync('../.git/hooks', join(place.path, 'src/hooks'));
    const work = value(await workspaces.capture(place, only('src/')));
    expect(work.files.map(({ path }) => path)).toEqual(['src/docs']);
    expect(work.outside.map(({ path }) => path).toSorted()).toEqual(['docs/x.md', 'src/hooks', 'src/out', 'src/up']);
    expect(readFileSync(join(place.path, 'docs/x.md'), 'utf8')).toBe('x\n');
  });

  it('a folder that was replaced by a link is restored, and what the link led to is untouched', async () => {
    const { home, place, workspaces } = await prepared();
    writeFiles(home, { 'elsewhere/x.md': 'theirs\n' });
    rmSync(join(place.path, 'docs'), { recursive: true });
    symlinkSync(join(home, 'elsewhere'), join(place.path, 'docs'));
    const work = value(await workspaces.capture(place, only('src/')));
    expect(work.outside.map(({ path }) => path).toSorted()).toEqual(['docs', 'docs/x.md']);
    expect(readFileSync(join(place.path, 'docs/x.md'), 'utf8')).toBe('x\n');
    expect(readFileSync(join(home, 'elsewhere/x.md'), 'utf8')).toBe('theirs\n');
  });
});

describe('only a place is taken for one', () => {
  it('a folder of it stands for the whole; a folder that is none is not compared, restored or removed', async () => {
    const { top, place, workspaces } = await prepared();
    writeFiles(place.path, { 'a.txt': 'work\n', 'src/main.ts': 'work\n' });
    const inside = { ...place, path: join(place.path, 'src') };
    expect(value(await workspaces.capture(inside)).files.map(({ path }) => path)).toEqual(['a.txt', 'src/main.ts']);
    const before = everythingOf(top);
    for (const none of [
      { ...place, path: top },
      { ...place, path: join(top, 'src') },
    ]) {
      expect(await workspaces.capture(none, only('docs/'))).toMatchObject({ error: { code: 'not_a_place' } });
      expect(await workspaces.remove(none, { force: true })).toMatchObject({ error: { code: 'not_a_place' } });
    }
    expect(everythingOf(top)).toBe(before);
    const elsewhere = commitFiles(top, { 'later.txt': 'x' });
    expect(await workspaces.capture({ ...place, base: elsewhere } as typeof place)).toMatchObject({
      error: { code: 'not_a_place' },
    });
  });

  it('the index that changes are found by is no younger than it was: what was written at the same moment is read', async () => {
    const { place, workspaces } = await prepared();
    const admin = join(place.path, '.git');
    expect(statSync(`${place.path}.index`).mtimeMs).toBeLessThanOrEqual(statSync(join(admin, 'index')).mtimeMs);
    expect(value(await workspaces.capture(place)).files).toEqual([]);
  });
});

it.each([
  ['little', '^{tree}', Buffer.from('tree 0\0')],
  ['much', ':long.txt', randomBytes(100_000)],
  ['more than it looks', ':long.txt', Buffer.alloc(5 * 2 ** 20)],
])(
  'is not compared with a base that somebody has put in the place of the one it began with: %s',
  async (_name, object, content) => {
    const { top, place, workspaces } = await prepared({ 'long.txt': 'x'.repeat(5 * 2 ** 20) });
    const named = git(top, 'rev-parse', `${place.base}${object}`).trim();
    const loose = join(top, '.git', 'objects', named.slice(0, 2), named.slice(2));
    expect(value(await workspaces.capture(place)).files).toEqual([]);
    chmodSync(loose, 0o644);
    writeFileSync(loose, deflateSync(content));
    expect(await workspaces.capture(place)).toMatchObject({ ok: false, error: { code: 'base_changed' } });
  },
);

describe('a place that is removed', () => {
  it('holds nothing that is in no patch, unless that is said', async () => {
    const { top, home, place, workspaces } = await prepared();
    writeFiles(place.path, { 'a.txt': 'work\n' });
    expect(await workspaces.remove(place, {})).toMatchObject({ error: { code: 'work_held' } });
    const { patch } = value(await workspaces.capture(place));
    writeFiles(place.path, { 'a.txt': 'more work\n' });
    expect(await workspaces.remove(place, { captured: patch })).toMatchObject({ error: { code: 'work_held' } });
    expect(readFileSync(join(place.path, 'a.txt'), 'utf8')).toBe('more work\n');
    expect(value(await workspaces.remove(place, { force: true }))).toEqual({ removed: true });
    expect(existsSync(join(home, 'worktrees/ses_1'))).toBe(false);
    expect(git(top, 'worktree', 'list').trim().split('\n')).toHaveLength(1);
    expect(value(await workspaces.remove(place, {}))).toEqual({ removed: true });
  });

  it('removes nothing but what is its own, whatever its .git says', async () => {
    const { top, home, place, workspaces } = await prepared();
    commitFiles(top, {});
    mkdirSync(join(home, 'x/worktrees/precious'), { recursive: true });
    writeFiles(home, { 'x/worktrees/precious/file': 'x' });
    rmSync(join(place.path, '.git'), { recursive: true });
    writeFileSync(join(place.path, '.git'), `gitdir: ${join(home, 'x/worktrees/precious')}\n`);
    value(await workspaces.remove(place, { force: true }));
    expect(readFileSync(join(home, 'x/worktrees/precious/file'), 'utf8')).toBe('x');
  });
});

describe('work that no patch can hold', () => {
  const latin = (folder: string, name: string): Buffer => Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(name, 'latin1')]);

  it('is named, and its place stays: names that are no text, those that git refuses, folders too deep for git', async () => {
    const { place, workspaces, top } = await prepared({ 'a.txt': 'one\n' });
    writeFiles(place.path, { 'a.txt': 'two\n', 'src/.GIT/config': 'x', 'src/git~1/q': 'x', 'src/�.txt': 'a text' });
    writeFileSync(latin(place.path, 'caf\xe9.txt'), 'new');
    // Deeper than any path may be long.
    const deep = 'd'.repeat(100);
    const dig = `for (let i = 0; i < 60; i += 1) { fs.mkdirSync('${deep}'); process.chdir('${deep}'); }`;
    execFileSync(process.execPath, ['-e', `${dig} fs.writeFileSync('deep.txt', 'deep')`], { cwd: place.path });
    try {
      const work = value(await workspaces.capture(place));
      expect(work.files.map(({ path }) => path).sort()).toEqual(['a.txt', 'src/�.txt']);
      expect(work.lost).toEqual([
        expect.stringContaining('could not open directory'),
        'git takes no file that is called src/.GIT/config',
        'git takes no file that is called src/git~1/q',
        'the name of caf\\xe9.txt is not UTF-8',
      ]);
      const held = await workspaces.remove(place, { captured: work.patch });
      expect(held).toMatchObject({ ok: false, error: { code: 'work_held' } });
      expect(existsSync(join(place.path, 'a.txt'))).toBe(true);
      expect(existsSync(join(top, 'src'))).toBe(false);
    } finally {
      execFileSync('rm', ['-rf', join(place.path, deep)]);
    }
  });

  it('is a change of a file that is tracked, too', async () => {
    const { top, workspaces } = await testRepository({ 'a.txt': 'one\n' });
    writeFileSync(latin(top, 'caf\xe9.txt'), 'old');
    git(top, 'add', '-A');
    git(top, 'commit', '-qm', 'latin');
    const { place } = value(await workspaces.prepare(task(top, 'task-2')));
    expect(value(await workspaces.capture(place)).lost).toEqual([]);
    writeFileSync(latin(place.path, 'caf\xe9.txt'), 'changed');
    expect(value(await workspaces.capture(place)).lost).toEqual(['the name of caf\\xe9.txt is not UTF-8']);
  });
});

it('what lies behind a link that took the place of a folder is not captured', async () => {
  const { place, workspaces, home } = await prepared({ 'd/f.txt': 'mine\n' });
  writeFiles(join(home, 'out'), { 'f.txt': 'secret\n' });
  rmSync(join(place.path, 'd'), { recursive: true });
  symlinkSync(join(home, 'out'), join(place.path, 'd'));
  const { patch } = value(await workspaces.capture(place));
  expect(Buffer.from(patch).toString()).not.toContain('secret');
});

it('a name that holds a tab is shown as it is', async () => {
  const { place, workspaces } = await prepared({ 'old\ttab.txt': 'one\n' });
  writeFiles(place.path, { 'old\ttab.txt': 'two\n', 'new\ttab.txt': 'new\n' });
  expect(value(await workspaces.capture(place)).files).toMatchObject([
    { path: 'new\ttab.txt', change: 'added' },
    { path: 'old\ttab.txt', change: 'changed' },
  ]);
});
