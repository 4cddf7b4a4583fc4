import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { testWorkspace } from '../../../test/support/tool-workspace.ts';
import { systemClock } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import { createWorkspaceWatch, type Look, type WatchOptions } from './workspace-watch.ts';

const watching = (more: Partial<WatchOptions> = {}) =>
  createWorkspaceWatch({ clock: systemClock, environment: process.env, ...more });
const paths = ({ changes }: Look): string[] => changes.map(({ path }) => path).sort();
const digest = ({ state }: Look): string => (state.kind === 'known' ? state.digest : state.why);
const git = (folder: string, ...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', '-c', 'commit.gpgsign=false', ...args], {
    cwd: folder,
  });

describe.each([
  ['without git', false],
  ['in a git repository', true],
])('a workspace %s', (_name, inGit) => {
  const prepared = async () => {
    const place = await testWorkspace();
    const write = (path: string, text: string): void => {
      mkdirSync(join(place.path, path, '..'), { recursive: true });
      writeFileSync(join(place.path, path), text);
    };
    write('a.txt', 'one\n');
    write('deep/b.txt', 'two\n');
    if (inGit) {
      write('.gitignore', 'ignored\n');
      git(place.path, 'init', '-q');
      git(place.path, 'add', '-A');
      git(place.path, 'commit', '-qm', 'first');
    }
    return { place, write, watch: watching() };
  };

  it('is the same until a content changes, and then says what changed', async () => {
    const { place, write, watch } = await prepared();
    await using _place = place;
    const first = await watch.look(place.path);
    expect(first).toMatchObject({ state: { kind: 'known' }, changes: [] });
    utimesSync(join(place.path, 'a.txt'), 1, 1);
    write('deep/b.txt', 'two\n');
    const touched = await watch.look(place.path);
    expect([paths(touched), digest(touched)]).toEqual([[], digest(first)]);
    write('a.txt', 'ONE\n');
    write('deep/new.txt', 'three\n');
    rmSync(join(place.path, 'deep/b.txt'));
    const changed = await watch.look(place.path);
    expect(paths(changed)).toEqual(['a.txt', 'deep/b.txt', 'deep/new.txt']);
    expect(changed.changes.find(({ path }) => path === 'a.txt')).toMatchObject({
      before: { text: 'one\n' },
      after: { text: 'ONE\n' },
    });
    expect(digest(changed)).not.toBe(digest(first));
    write('a.txt', 'one\n');
    write('deep/b.txt', 'two\n');
    rmSync(join(place.path, 'deep/new.txt'));
    expect(digest(await watch.look(place.path))).toBe(digest(first));
  });

  it('notices a change of the same size at once, a mode and a link', async () => {
    const { place, write, watch } = await prepared();
    await using _place = place;
    symlinkSync('a.txt', join(place.path, 'link'));
    for (let round = 0; round < 20; round += 1) {
      await watch.look(place.path);
      write('a.txt', round % 2 === 0 ? 'eins' : 'zwei');
      expect(paths(await watch.look(place.path))).toEqual(['a.txt']);
    }
    chmodSync(join(place.path, 'a.txt'), 0o755);
    expect(paths(await watch.look(place.path))).toEqual(['a.txt']);
    rmSync(join(place.path, 'link'));
    symlinkSync('deep', join(place.path, 'link'));
    expect(paths(await watch.look(place.path))).toEqual(['link']);
  });

  it('does not report what was noted, and does not see what is nobody’s work', async () => {
    const { place, write, watch } = await prepared();
    await using _place = place;
    await watch.look(place.path);
    write('a.txt', 'by a tool');
    await watch.noted(place.path, 'a.txt');
    for (const path of ['node_modules/x', '.troupe/x', 'coverage/x', '__pycache__/x.pyc']) write(path, 'x');
    expect((await watch.look(place.path)).changes).toEqual([]);
    const apart = watching({ except: [join(place.path, 'state.db')] });
    await apart.look(place.path);
    write('state.db', 'x');
    write('state.db-wal', 'x');
    expect((await apart.look(place.path)).changes).toEqual([]);
  });

  it('beyond its limits is unknown, and stays so', async () => {
    const { place, write } = await prepared();
    await using _place = place;
    const watch = watching({ maxFiles: 4 });
    expect((await watch.look(place.path)).state.kind).toBe('known');
    for (const name of ['c', 'd', 'e', 'f']) write(name, 'x');
    const why = 'the workspace has more than 4 files (fingerprintFiles)';
    expect(await watch.look(place.path)).toEqual({ state: { kind: 'unknown', why }, changes: [] });
    for (const name of ['c', 'd', 'e', 'f']) rmSync(join(place.path, name));
    expect((await watch.look(place.path)).state).toEqual({ kind: 'unknown', why });
  });

  it('knows who works there at the same time', async () => {
    const { place, watch } = await prepared();
    await using _place = place;
    expect(watch.enter(place.path)()).toEqual({ alone: true });
    const [first, second] = [watch.enter(place.path), watch.enter(place.path)];
    expect([first(), second()]).toEqual([{ alone: false }, { alone: false }]);
    expect(watch.enter(place.path)()).toEqual({ alone: true });
  });
});

describe('in a git repository', () => {
  it('index and HEAD are only read, commits change nothing, and what is ignored later stays in view', async () => {
    await using place = await testWorkspace();
    writeFileSync(join(place.path, 'a.txt'), 'one\n');
    git(place.path, 'init', '-q');
    const watch = watching();
    const first = await watch.look(place.path);
    git(place.path, 'add', '-A');
    const index = readFileSync(join(place.path, '.git/index'));
    utimesSync(join(place.path, 'a.txt'), 1, 1);
    expect(digest(await watch.look(place.path))).toBe(digest(first));
    expect(readFileSync(join(place.path, '.git/index')).equals(index)).toBe(true);
    git(place.path, 'commit', '-qm', 'first');
    expect(digest(await watch.look(place.path))).toBe(digest(first));
    writeFileSync(join(place.path, 'new.txt'), 'new\n');
    await watch.look(place.path);
    writeFileSync(join(place.path, '.git/info/exclude'), 'new.txt\n');
    writeFileSync(join(place.path, 'new.txt'), 'changed\n');
    expect(paths(await watch.look(place.path))).toEqual(['new.txt']);
    renameSync(join(place.path, '.git'), join(place.path, '..', `${Math.abs(process.pid)}-moved.git`));
    expect(paths(await watch.look(place.path))).toEqual([]);
    rmSync(join(place.path, '..', `${Math.abs(process.pid)}-moved.git`), { recursive: true });
  });
});

it.each([
  ['that names more than anybody can hold', 'head -c 40000000 /dev/zero', 'fingerprintFiles'],
  ['that was stopped', 'kill -9 $$', 'SIGKILL'],
])('a git %s leaves the workspace unknown; what it would have passed over is not looked at', async (_name, script, why) => {
  await using place = await testWorkspace();
  await using programs = await testWorkspace();
  writeFileSync(join(programs.path, 'git'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  const environment = { ...process.env, PATH: `${programs.path}${delimiter}${process.env['PATH']}` };
  const { state, changes } = await watching({ environment }).look(place.path);
  expect([state, changes]).toEqual([{ kind: 'unknown', why: expect.stringContaining(why) }, []]);
});

it('forgets the places that were used longest ago, but none where somebody is at work', async () => {
  await using place = await testWorkspace();
  const folder = (name: string): string => {
    mkdirSync(join(place.path, name), { recursive: true });
    return join(place.path, name);
  };
  const watch = watching();
  const [idle, busy] = [folder('idle'), folder('busy')];
  for (const path of [idle, busy]) await watch.look(path);
  const leave = watch.enter(busy);
  for (let index = 0; index < limits.watchedPlaces; index += 1) watch.enter(folder(`other-${index}`))();
  for (const path of [idle, busy]) writeFileSync(join(path, 'new.txt'), 'new');
  expect(paths(await watch.look(busy))).toEqual(['new.txt']);
  expect(paths(await watch.look(idle))).toEqual([]);
  leave();
});

describe('programs on the search path outside of the workspace', () => {
  const SCRIPT = '#!/bin/sh\nexit 0\n';
  const ENTRY = "#!/usr/bin/python3\nimport sys\nfrom pytest import main\nif __name__ == '__main__':\n    sys.exit(main())\n";
  const SHIM = `#!/usr/bin/env bash\nset -e\n\nprogram="\${0##*/}"\nexec "/home/me/.pyenv/libexec/pyenv" exec "$program" "$@"\n`;
  const found = async (name: string, text: string) => {
    await using place = await testWorkspace();
    await using own = await testWorkspace();
    await using system = await testWorkspace();
    const write = (folder: string, program: string, content: string): void =>
      writeFileSync(join(folder, program), content, { mode: 0o755 });
    for (const program of ['npm', 'paste']) write(system.path, program, SCRIPT);
    write(own.path, 'mine', SCRIPT);
    const watch = watching({ environment: { ...process.env, PATH: [own.path, system.path].join(delimiter) } });
    await watch.look(place.path);
    if (text === '') rmSync(join(system.path, name));
    else write(own.path, name, text);
    const { changes } = await watch.look(place.path);
    expect(await watch.look(place.path)).toMatchObject({ changes: [] });
    return changes.map(({ path, program }) => [path.startsWith('/'), program]);
  };

  it.each([
    ['that takes the place of what runs tests', 'npm', SCRIPT, 'it takes the place of npm'],
    ['by way of an installer, too', 'npm', ENTRY, 'it takes the place of npm'],
    [
      'that takes the place of any other',
      'paste',
      `${SCRIPT}#\n`,
      'it takes the place of paste, and is not as an installer leaves it',
    ],
    [
      'that is called like a runner',
      'pytest',
      '#!/usr/bin/python3\nprint("1 passed")\n',
      'it takes the place of pytest, and is not as',
    ],
    [
      'that is called like a runner and does nothing',
      'pytest',
      '#!/usr/bin/python3\n',
      'it takes the place of pytest, and is not as',
    ],
    ['that was there and is another one', 'mine', `${SCRIPT}#\n`, 'it is another one than before'],
    ['that is taken away', 'npm', '', 'npm was taken away, and another may take its place'],
  ])('one %s is told', async (_case, name, text, why) => {
    expect(await found(name, text)).toEqual([[true, expect.stringContaining(why)]]);
  });

  it.each([
    ['of another name', 'notes', SCRIPT],
    ['as pip leaves it', 'pytest', ENTRY],
    ['as pyenv leaves it', 'pytest', SHIM],
    ['that was compiled, where there was none', 'cargo', '\0compiled'],
  ])('one %s is not', async (_case, name, text) => {
    expect(await found(name, text)).toEqual([]);
  });

  it('a folder in which something came and went is named once', async () => {
    await using place = await testWorkspace();
    await using own = await testWorkspace();
    const watch = watching({ environment: { ...process.env, PATH: own.path } });
    expect((await watch.look(place.path)).passing).toBeUndefined();
    writeFileSync(join(own.path, 'npm'), SCRIPT);
    rmSync(join(own.path, 'npm'));
    utimesSync(own.path, 1, 1);
    expect((await watch.look(place.path)).passing).toBe(own.path);
    expect((await watch.look(place.path)).passing).toBeUndefined();
  });
});

it.each([
  ['out of the workspace', '<out>/a.js', true],
  ['to where nothing is yet', '<out>/none.js', true],
  ['to what is never looked at', '../node_modules/a.js', true],
  ['to another file', 'b.js', false],
  ['to a folder of its own', '../src', false],
  ['to where a lock says who holds it', 'me@here.1', false],
])('a link %s is told as one: %s, %s', async (_case, to, told) => {
  await using place = await testWorkspace();
  await using out = await testWorkspace();
  for (const folder of ['src', 'node_modules']) mkdirSync(join(place.path, folder));
  for (const path of ['src/a.js', 'src/b.js', 'node_modules/a.js']) writeFileSync(join(place.path, path), '1');
  writeFileSync(join(out.path, 'a.js'), '1');
  const watch = watching();
  await watch.look(place.path);
  rmSync(join(place.path, 'src/a.js'));
  symlinkSync(to.replace('<out>', out.path), join(place.path, 'src/a.js'));
  const { changes } = await watch.look(place.path);
  expect(changes.map(({ path, program }) => [path, program !== undefined])).toEqual([['src/a.js', told]]);
});

describe('what lies outside of the workspace', () => {
  it.each([
    ['without git', false],
    ['in a git repository', true],
  ])('is not told where a link takes the place of a folder: %s', async (_case, inGit) => {
    await using place = await testWorkspace();
    await using out = await testWorkspace();
    mkdirSync(join(place.path, 'd'));
    for (const [folder, text] of [
      [join(place.path, 'd'), 'mine\n'],
      [out.path, 'secret\n'],
    ] as const)
      writeFileSync(join(folder, 'f.txt'), text);
    if (inGit) {
      git(place.path, 'init', '-q');
      git(place.path, 'add', '-A');
    }
    const watch = watching();
    await watch.look(place.path);
    renameSync(join(place.path, 'd'), join(place.path, 'moved'));
    symlinkSync(out.path, join(place.path, 'd'));
    const { changes } = await watch.look(place.path);
    expect(changes.map(({ path, after }) => [path, after?.text]).sort()).toEqual([
      ['d', undefined],
      ['d/f.txt', undefined],
      ['moved/f.txt', 'mine\n'],
    ]);
    await watch.noted(place.path, 'd/f.txt');
    expect((await watch.look(place.path)).changes).toEqual([]);
  });

  it('is compared and not told where a program of a package is a link to it', async () => {
    await using place = await testWorkspace();
    await using out = await testWorkspace();
    mkdirSync(join(place.path, 'node_modules/.bin'), { recursive: true });
    writeFileSync(join(place.path, 'node_modules/.bin/npm'), '#!/bin/sh\n', { mode: 0o755 });
    writeFileSync(join(out.path, 'own'), '#!/bin/sh\n# secret\n', { mode: 0o755 });
    const watch = watching();
    await watch.look(place.path);
    rmSync(join(place.path, 'node_modules/.bin/npm'));
    symlinkSync(join(out.path, 'own'), join(place.path, 'node_modules/.bin/npm'));
    const { changes } = await watch.look(place.path);
    expect(changes.map(({ path, after }) => [path, after?.text])).toEqual([['node_modules/.bin/npm', undefined]]);
  });
});
