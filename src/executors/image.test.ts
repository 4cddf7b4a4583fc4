/** Executors in an OCI image: the exact command line, and a real process through an engine that only passes on. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { executorWorld, follower, steps } from '../../test/support/executors/executor-world.ts';
import { sampleCommand } from '../../test/support/executors/sample-command.ts';
import { commandWalls } from '../tools/shell/walls.ts';
import { type ExecutorFields, executorsFile } from './entry.ts';
import { imageProgram } from './image.ts';
import { resolveExecutors } from './resolve.ts';

const top = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-image-')));
afterAll(() => rmSync(top, { recursive: true, force: true }));
const bin = join(top, 'bin');
const log = join(top, 'argv');
mkdirSync(bin);
/** It says what it was asked for, and becomes what would run in the image. */
writeFileSync(
  join(bin, 'docker'),
  `#!/bin/sh\nprintf '%s\\n' "$*" >> '${log}'\n[ "$1" = run ] && exec ${sampleCommand().join(' ')}\n`,
  { mode: 0o755 },
);
const PATH = `${bin}:${process.env['PATH']}`;
const { uid, gid } = userInfo();

function entryOf(fields: ExecutorFields) {
  const [entry] = resolveExecutors([{ source: 'user', fields: { boxed: fields } }]).entries;
  const image = entry?.image;
  if (entry === undefined || image === undefined) throw new Error('there is no image');
  return { ...entry, image };
}

it('is started with nothing but what it needs', () => {
  const project = join(top, 'a,b "c"');
  mkdirSync(join(project, 'agents'), { recursive: true });
  mkdirSync(join(project, '.troupe'));
  writeFileSync(join(project, 'own.db'), '');
  const places = {
    ...{
      project,
      home: join(project, '.troupe'),
      ledgers: [join(project, 'own.db')],
      user: join(top, 'user'),
      keys: join(top, 'keys'),
    },
  };
  const entry = entryOf({ image: 'registry.example/agent:1', command: ['agent', '--acp', '--privileged'], env: { MODE: 'x' } });
  const start = {
    ...{ folder: project, walls: commandWalls(project, places), mark: 'f00', state: [places.home, ...places.ledgers] },
    environment: { PATH: '/host/bin', HOME: '/home/me', LANG: 'C', MODE: 'x', MY_KEY: 'secret' },
  };
  const made = imageProgram(entry, start, { PATH, HOME: '/home/me', DOCKER_HOST: 'unix:///run/docker.sock', OTHER: 'kept' });
  const quoted = (field: string): string => `"${field.replaceAll('"', '""')}"`;
  const at = (path: string, ...more: string[]): string =>
    ['--mount', ['type=bind', quoted(`source=${path}`), quoted(`target=${path}`), ...more].join(',')].join(' ');
  expect(made).toMatchObject({ ok: true, value: { file: 'docker', sandbox: 'oci/docker/registry.example/agent:1' } });
  if (!made.ok) throw new Error(made.error);
  expect(made.value.args.join(' ')).toBe(
    [
      ...['run --rm --interactive --pull never --name troupe-f00 --read-only --tmpfs /tmp:rw,nosuid,nodev,exec'],
      ...['--cap-drop ALL --security-opt no-new-privileges --pids-limit 4096 --network none', `--user ${uid}:${gid}`],
      ...[at(project), at(join(project, 'agents'), 'readonly')],
      `--mount type=tmpfs,${quoted(`target=${join(project, '.troupe')}`)}`,
      `--mount type=bind,source=/dev/null,${quoted(`target=${join(project, 'own.db')}`)},readonly`,
      ...[`--workdir ${project}`, '--env HOME=/tmp --env LANG --env MODE --env MY_KEY'],
      'registry.example/agent:1 agent --acp --privileged',
    ].join(' '),
  );
  // The engine finds its server, and nothing of ours that was not named.
  expect(made.value.environment).toMatchObject({ DOCKER_HOST: 'unix:///run/docker.sock', MY_KEY: 'secret', PATH });
  expect(made.value.environment).not.toHaveProperty('OTHER');
});

it('shows of the repository of a worktree what a commit needs', () => {
  const [repository, worktree] = [join(top, 'repository'), join(top, 'worktree')];
  const git = (...words: string[]): string => execFileSync('git', ['-C', repository, ...words], { encoding: 'utf8' });
  execFileSync('git', ['init', '-q', repository]);
  git('-c', 'user.name=a', '-c', 'user.email=a@example.org', 'commit', '-q', '--allow-empty', '-m', 'first');
  git('worktree', 'add', '-q', worktree);
  const start = { folder: worktree, environment: {}, walls: commandWalls(worktree, undefined), state: [], mark: 'm' };
  const entry = entryOf({ image: { name: 'agent', network: 'models' }, command: ['agent'] });
  const made = imageProgram(entry, start, { PATH });
  const line = made.ok ? made.value.args.join(' ') : '';
  const bound = (path: string): string => `type=bind,source=${path},target=${path}`;
  expect(line).toContain(`${bound(join(repository, '.git', 'objects'))} `);
  expect(line).toContain(`${bound(join(repository, '.git', 'config'))},readonly`);
  expect(line).toContain(`${bound(join(worktree, '.git'))},readonly`);
  expect(line).not.toContain(`source=${join(repository, '.git')},`);
  expect(line).toContain('--network models');
});

it.each<[object, string]>([
  [{ image: '--privileged', command: ['a'] }, 'must be the name of an image'],
  [{ image: '-v/:/host', command: ['a'] }, 'must be the name of an image'],
  [{ image: { name: 'agent', network: 'host' }, command: ['a'] }, 'that of this machine is not shared'],
  [{ image: { name: 'agent', network: 'container:other' }, command: ['a'] }, 'must be the name of a network'],
  [{ image: { name: 'agent', engine: '/bin/sh' }, command: ['a'] }, 'docker'],
  [{ image: 'agent', command: ['a'], env: { '--volume': '/:/host' } }, 'environment variable'],
])('takes no options for names: %j', (fields, told) => {
  const read = executorsFile.safeParse({ executors: { mine: fields } });
  expect(JSON.stringify(read.error?.issues)).toContain(told);
});

it('has a command, and no address', () => {
  const problem = (fields: ExecutorFields) => resolveExecutors([{ source: 'user', fields: { a: fields } }]).problems[0]?.message;
  expect(problem({ image: 'agent' })).toBe('has an image and no command');
  expect(problem({ image: 'agent', address: '127.0.0.1:1' })).toBe('has an image and no command');
});

it('works through an engine, and its container is taken away at the end', async () => {
  const world = await executorWorld({
    environment: { PATH, MY_KEY: 'given' },
    fields: { image: 'agent:1', keys: ['MY_KEY'] },
  });
  const opened = await world.open();
  if (!opened.ok) throw new Error(JSON.stringify(opened.error));
  expect(opened.value.about.sandbox).toBe('oci/docker/agent:1');
  await opened.value.prompt(steps('shell echo "$MY_KEY" > made.txt'), follower());
  expect(readFileSync(join(world.cwd, 'made.txt'), 'utf8')).toBe('given\n');
  await opened.value.end();
  const [run = '', removed = ''] = readFileSync(log, 'utf8').trim().split('\n');
  expect(run).toMatch(/^run --rm --interactive .* --env MY_KEY .*--env TROUPE_EXECUTOR_MARK agent:1 /);
  expect(run).not.toContain('given');
  expect(removed).toBe(`rm --force ${/--name (\S+)/.exec(run)?.[1]}`);
});

it('shows a workspace in which nothing is to be changed so that it can only be read', async () => {
  const world = await executorWorld({ environment: { PATH }, fields: { image: 'agent:1' } });
  execFileSync('git', ['init', '-q', world.cwd]);
  writeFileSync(log, '');
  const opened = await world.open({ mode: 'read-only' });
  if (!opened.ok) throw new Error(JSON.stringify(opened.error));
  await opened.value.end();
  const [run = ''] = readFileSync(log, 'utf8').split('\n');
  const mounts = [...run.matchAll(/--mount (\S+)/g)].map(([, mount = '']) => mount);
  expect(mounts).toContain(`type=bind,source=${world.cwd},target=${world.cwd},readonly`);
  expect(mounts.filter((mount) => mount.startsWith('type=bind') && !mount.endsWith(',readonly'))).toEqual([]);
});

it('is not there without an engine', async () => {
  const world = await executorWorld({
    environment: { PATH: join(top, 'none') },
    fields: { image: 'agent:1', install: 'get docker' },
  });
  expect(await world.open()).toMatchObject({
    error: { why: 'unavailable', message: expect.stringContaining('no docker'), fix: 'get docker' },
  });
  expect(existsSync(join(world.cwd, 'made.txt'))).toBe(false);
});
