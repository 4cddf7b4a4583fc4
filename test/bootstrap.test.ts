/**
 * First use of a checkout, on small ones that are made here: the real scripts and the real npm, with a dependency that is a
 * folder beside it, so that no registry is needed.
 */
import { spawn } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');
const folders: string[] = [];

const program = `
const [word, code] = process.argv.slice(2);
process.on('SIGTERM', () => process.exit(7));
process.stdout.write([word, process.cwd()].join(' ') + '\\n');
if (word === 'wait') setTimeout(() => {}, 30_000);
if (word === 'fail') process.exit(Number(code));
`;

function checkout(): string {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-checkout-'));
  folders.push(folder);
  for (const name of ['scripts', 'troupe']) cpSync(join(root, name), join(folder, name), { recursive: true });
  for (const name of ['src/cli', 'thing', 'elsewhere', 'tools/runtime']) mkdirSync(join(folder, name), { recursive: true });
  const manifest = { name: 'made', version: '1.0.0', dependencies: { thing: 'file:thing' } };
  const packages = { '': manifest, 'node_modules/thing': { resolved: 'thing', link: true }, thing: { version: '1.0.0' } };
  const write = (name: string, value: unknown): void => writeFileSync(join(folder, name), JSON.stringify(value));
  write('package.json', { ...manifest, type: 'module' });
  write('package-lock.json', { ...manifest, lockfileVersion: 3, requires: true, packages });
  write('thing/package.json', { name: 'thing', version: '1.0.0' });
  writeFileSync(join(folder, 'src', 'cli', 'main.ts'), program);
  chmodSync(join(folder, 'troupe'), 0o755);
  return folder;
}

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function start(command: string, parameters: readonly string[], cwd: string) {
  const env = { ...process.env, PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH'] ?? ''}`, CI: 'true' };
  const child = spawn(command, parameters, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const spoke = new Promise<void>((resolve) => {
    child.stdout.on('data', (chunk) => {
      stdout += chunk;
      resolve();
    });
  });
  const ended = new Promise<Ended>((resolve) => {
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });
  return { child, spoke, ended };
}

const bootstrap = (folder: string, ...parameters: readonly string[]) =>
  start(process.execPath, [join(folder, 'scripts', 'bootstrap.mjs'), ...parameters], join(folder, 'elsewhere'));

afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

describe('a fresh checkout', () => {
  it('installs once, however many commands are started at the same time, and then says nothing more', async () => {
    const folder = checkout();
    const all = await Promise.all(['one', 'two', 'three'].map((word) => bootstrap(folder, 'cli', word).ended));
    expect(all.map(({ code, stdout }) => [code, stdout.split(' ')[0]])).toEqual([
      [0, 'one'],
      [0, 'two'],
      [0, 'three'],
    ]);
    const said = all.map(({ stderr }) => stderr).join('');
    expect(said.match(/installing dependencies/g)).toHaveLength(1);
    expect(existsSync(join(folder, '.install-lock'))).toBe(false);

    const again = await bootstrap(folder, 'cli', 'again').ended;
    expect(again.stderr).toBe('');
    expect(again.stdout).toBe(`again ${join(folder, 'elsewhere')}\n`);
  });

  it('takes over from a process that died while it installed', async () => {
    const folder = checkout();
    const lock = join(folder, '.install-lock');
    mkdirSync(lock);
    utimesSync(lock, new Date(0), new Date(0));
    expect((await bootstrap(folder, 'cli', 'on').ended).code).toBe(0);
  });

  it('says what npm said when it cannot install, and how to go on', async () => {
    const folder = checkout();
    writeFileSync(join(folder, 'package-lock.json'), 'not a lockfile');
    const { code, stderr } = await bootstrap(folder, 'cli').ended;
    expect(code).toBe(2);
    expect(stderr).toMatch(/npm could not install[\s\S]*Fix:/);
  });

  it('whose node_modules is a link empties nothing that the link leads to', async () => {
    const folder = checkout();
    writeFileSync(join(folder, 'elsewhere', 'kept'), '');
    symlinkSync('elsewhere', join(folder, 'node_modules'));
    const { code, stderr } = await bootstrap(folder, 'cli').ended;
    expect(code).toBe(2);
    expect(stderr).toMatch(/node_modules is a link to elsewhere[\s\S]*Fix:/);
    expect(existsSync(join(folder, 'elsewhere', 'kept'))).toBe(true);
  });
});

describe('a task', () => {
  const folder = checkout();

  it('passes on the exit code', async () => {
    expect((await bootstrap(folder, 'cli', 'fail', '4').ended).code).toBe(4);
  });

  it('passes on a signal', async () => {
    const waiting = bootstrap(folder, 'cli', 'wait');
    await waiting.spoke;
    waiting.child.kill('SIGTERM');
    expect((await waiting.ended).code).toBe(7);
  });

  it('that does not exist is refused by name', async () => {
    const { code, stderr } = await bootstrap(folder, 'dance').ended;
    expect(code).toBe(2);
    expect(stderr).toContain("no task 'dance'");
  });

  it('finds out when only the time of the lockfile changed, and when its content did', async () => {
    const lockfile = join(folder, 'package-lock.json');
    const later = new Date(Date.now() + 60_000);
    utimesSync(lockfile, later, later);
    expect((await bootstrap(folder, 'cli', 'same').ended).stderr).toBe('');
    writeFileSync(lockfile, readFileSync(lockfile, 'utf8').replace('"thing":{', '"other":{"version":"1.0.0"},"thing":{'));
    utimesSync(lockfile, later, later);
    expect((await bootstrap(folder, 'cli', 'changed').ended).stderr).toContain('installing dependencies');
  });
});

describe('coding agents', () => {
  it.each([
    { paths: [], CI: undefined, wanted: false },
    { paths: [], CI: 'true', wanted: true },
    { paths: ['test/e2e/coding-agents.test.ts'], CI: undefined, wanted: true },
    { paths: ['src/executors'], CI: 'true', wanted: false },
  ])('are fetched for $paths with CI=$CI: $wanted', async ({ paths, CI, wanted }) => {
    const { needsCodingAgents } = await import(join(root, 'scripts/bootstrap/run-task.mjs'));
    expect(needsCodingAgents(paths, { CI })).toBe(wanted);
  });
});

describe('./troupe', () => {
  it('works from anywhere, through links, and keeps the folder of the user', async () => {
    const folder = checkout();
    const elsewhere = join(folder, 'elsewhere');
    symlinkSync('../troupe', join(elsewhere, 'relative'));
    symlinkSync(join(elsewhere, 'relative'), join(elsewhere, 'absolute'));
    for (const command of [join(folder, 'troupe'), './relative', './absolute', '../troupe']) {
      const { code, stdout } = await start(command, ['hello'], elsewhere).ended;
      expect([code, stdout]).toEqual([0, `hello ${elsewhere}\n`]);
    }
    expect((await start(join(folder, 'troupe'), ['fail', '5'], elsewhere).ended).code).toBe(5);
  });

  it('fetches the servers of a cluster with the first command that needs them, and only then', async () => {
    const folder = checkout();
    const servers = { name: 'servers', version: '1.0.0', dependencies: { thing: 'file:../../thing' } };
    const packages = {
      '': servers,
      'node_modules/thing': { resolved: '../../thing', link: true },
      '../../thing': { version: '1.0.0' },
    };
    mkdirSync(join(folder, 'tools', 'cluster'));
    writeFileSync(join(folder, 'tools', 'cluster', 'package.json'), JSON.stringify(servers));
    writeFileSync(
      join(folder, 'tools', 'cluster', 'package-lock.json'),
      JSON.stringify({ ...servers, lockfileVersion: 3, requires: true, packages }),
    );
    const troupe = (word: string) => start(join(folder, 'troupe'), [word], folder).ended;
    const installed = () => existsSync(join(folder, 'tools', 'cluster', 'node_modules', 'thing'));
    expect((await troupe('hello')).code).toBe(0);
    expect(installed()).toBe(false);
    const first = await troupe('cluster');
    expect([first.code, first.stdout, installed()]).toEqual([0, `cluster ${folder}\n`, true]);
    expect(first.stderr).toContain('installing the servers of a cluster');
    expect((await troupe('cluster')).stderr).toBe('');
  });
});
