/** Real walls: what a program inside sees, writes and reaches, and what it does not. */
import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeInside } from '../../test/support/sandbox/sandbox-here.ts';
import { seededRandom, systemRandom } from '../base/random.ts';
import type { Sandbox, Walls } from './port.ts';
import { createSandbox } from './sandbox.ts';
import { sandboxSettings } from './settings.ts';

const top = realpathSync(mkdtempSync('/tmp/troupe-walls-'));
const home = join(top, 'home');
const workspace = join(home, 'code', 'project');
const ledger = join(workspace, '.troupe');
type Said = Parameters<typeof sandboxSettings>[1][number];
const NOTHING: Walls = { write: [], read: [], keep: [], hide: [], hosts: [] };

let sandbox: Sandbox;
let server: Server;
let port = 0;

beforeAll(async () => {
  for (const folder of [join(home, '.ssh'), join(home, 'bin'), ledger, join(workspace, 'agents')])
    mkdirSync(folder, { recursive: true });
  writeFileSync(join(home, '.ssh', 'id'), 'private');
  writeFileSync(join(home, 'notes.txt'), 'notes');
  writeFileSync(join(home, 'bin', 'own-tool'), '#!/bin/sh\necho from home\n', { mode: 0o755 });
  writeFileSync(join(ledger, 'ledger.db'), 'events');
  writeFileSync(join(workspace, 'agents', 'a.md'), 'agent');
  writeFileSync(join(workspace, 'file.txt'), 'content');
  symlinkSync(join(home, '.ssh'), join(workspace, 'link'));
  const settings = sandboxSettings('auto', []);
  sandbox = createSandbox({ settings, environment: { HOME: home }, random: systemRandom, state: [ledger] });
  server = createServer((_request, response) => response.end('reached'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});

afterAll(async () => {
  await sandbox?.close();
  server?.close();
  rmSync(top, { recursive: true, force: true });
});

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly said: string;
  readonly refused: readonly string[];
}

async function inside(command: string, walls: Partial<Walls> = {}): Promise<Ran> {
  const environment = { PATH: `${join(home, 'bin')}:${process.env['PATH'] ?? ''}`, HOME: home };
  const program = { file: '/bin/sh', args: ['-c', command], folder: workspace, environment };
  const entered = await sandbox.enter(program, { ...NOTHING, write: [workspace], keep: [join(workspace, 'agents')], ...walls });
  if (!entered.ok) throw new Error(entered.error);
  const { file, args, folder, left } = entered.value;
  return await new Promise((resolve) => {
    execFile(file, [...args], { cwd: folder, env: environment }, (error, out, said) =>
      resolve({ code: error === null ? 0 : Number(error.code), out, said, refused: left() }),
    );
  });
}

describeInside('a sandbox', () => {
  it('is on, and says of what it is made', async () => {
    expect(await sandbox.state()).toEqual({ kind: 'on', id: 'sandbox-runtime/linux' });
  });

  it('lets a program work in the workspace, with its arguments and its exit code', async () => {
    expect(await inside(`cat file.txt; echo "it's new" > new.txt; exit 7`)).toMatchObject({ code: 7, out: 'content' });
    expect(readFileSync(join(workspace, 'new.txt'), 'utf8')).toBe("it's new\n");
  });

  it('leaves nothing of its own in the workspace that it is started from, while it runs and afterwards', async () => {
    const before = process.cwd();
    process.chdir(workspace);
    try {
      const { out } = await inside('ls -A');
      expect(out.split('\n').filter((name) => /^\.(bash|git|zsh|profile|mcp|vscode|idea)/.test(name))).toEqual([]);
      expect(readdirSync(workspace).filter((name) => /^\.(bash|git|zsh|profile|mcp)/.test(name))).toEqual([]);
    } finally {
      process.chdir(before);
    }
  });

  it.each([
    ['a key in the home', 'cat ~/.ssh/id'],
    ['a file in the home', `cat ${join(home, 'notes.txt')}`],
    ['a key behind a link in the workspace', 'cat link/id'],
    ['the ledger, which lies in the workspace', 'cat .troupe/ledger.db'],
    ['the environment of whoever started it', `cat /proc/${process.pid}/environ`],
    ['the memory of whoever started it', `head -c 1 /proc/${process.pid}/mem`],
  ])('hides %s', async (_what, command) => {
    const { code, out } = await inside(command);
    expect({ code, out }).toEqual({ code: expect.not.toSatisfy((one) => one === 0), out: '' });
  });

  it('shows no process outside', async () => {
    const { out } = await inside('ls /proc | grep -c "^[0-9]*$"; kill -0 1 && echo one');
    expect(out).toContain('one');
    expect((await inside(`kill -0 ${process.pid}`)).code).not.toBe(0);
  });

  it.each([
    ['a system folder', 'echo x > /etc/evil'],
    ['the folder for temporary files of all', 'echo x > /tmp/evil'],
    ['what it is to leave as it is', 'echo evil > agents/a.md'],
    ['a new file in it', 'echo evil > agents/evil.md'],
  ])('does not let it write %s', async (_what, command) => {
    expect((await inside(command)).code).not.toBe(0);
    expect(readFileSync(join(workspace, 'agents', 'a.md'), 'utf8')).toBe('agent');
    expect(existsSync(join(workspace, 'agents', 'evil.md'))).toBe(false);
  });

  it('keeps what it writes to the home to itself', async () => {
    expect((await inside('echo x > ~/code/own && cat ~/code/own')).out).toBe('x\n');
    expect(existsSync(join(home, 'code', 'own'))).toBe(false);
  });

  it('gives it a folder for temporary files, and a home that is empty but for programs on the PATH', async () => {
    expect(await inside('f=$(mktemp) && echo ok > "$f" && cat "$f"; ls -A ~; own-tool')).toMatchObject({
      code: 0,
      out: 'ok\nbin\ncode\nfrom home\n',
    });
  });

  it('opens what it is told to', async () => {
    const notes = join(home, 'notes.txt');
    expect((await inside(`cat ${notes}`, { read: [notes] })).out).toBe('notes');
    const out = join(home, 'out');
    mkdirSync(out);
    await inside(`echo made > ${out}/file`, { write: [workspace, out] });
    expect(readFileSync(join(out, 'file'), 'utf8')).toBe('made\n');
  });

  it('reaches no host that was not allowed, and tells which it was', async () => {
    const told = '(async (r) => console.log(r.status, await r.text()), () => console.log(0))';
    const script = `fetch('http://127.0.0.1:${port}').then${told}`;
    const asked = `node -e "${script}"`;
    expect((await inside(asked)).out).toBe('0\n');
    const refused = await inside(`curl -s -o /dev/null -w '%{http_code}' http://elsewhere.example/`);
    expect(refused.out).toBe('403');
    expect(refused.refused.join('\n')).toContain('elsewhere.example');
    expect((await inside(asked, { hosts: [`127.0.0.1:${port}`] })).out).toBe('200 reached\n');
  });

  it('ends with everything that was left behind in it', async () => {
    const { code } = await inside('setsid sleep 1000 & sleep 0; exit 0');
    expect(code).toBe(0);
    await expect.poll(async () => (await inside('true')).code).toBe(0);
    const left = await new Promise<string>((resolve) => execFile('ps', ['-eo', 'args'], (_error, out) => resolve(out)));
    expect(left).not.toContain('sleep 1000');
  });
});

const OPENS = `
import { createSandbox } from ${JSON.stringify(join(import.meta.dirname, 'sandbox.ts'))};
const random = { bytes: (count) => crypto.getRandomValues(new Uint8Array(count)) };
const settings = { mode: 'auto', network: [], read: [], write: [] };
console.log((await createSandbox({ settings, environment: {}, random, state: [] }).state()).kind);
setInterval(() => undefined, 1_000);
`;

describeInside('whoever is killed', () => {
  const ways = (): string[] => readdirSync(temporary).filter((name) => /^claude-http-/.test(name));
  const temporary = mkdtempSync(join(top, 'temporary-'));
  const relays = (): readonly string[] =>
    execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })
      .split('\n')
      .filter((line) => line.includes(`UNIX-LISTEN:${temporary}`));

  it('leaves no way to the hosts outside behind', async () => {
    const child = spawn(process.execPath, ['--input-type=module', '-e', OPENS], {
      env: { PATH: process.env['PATH'], TMPDIR: temporary },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      const [said] = await once(child.stdout, 'data');
      expect(String(said)).toBe('on\n');
      expect({ relays: relays().length, ways: ways().length }).toEqual({ relays: 1, ways: 1 });
    } finally {
      child.kill('SIGKILL');
    }
    await expect.poll(() => ({ relays: relays(), ways: ways() })).toEqual({ relays: [], ways: [] });
  });
});

describeInside('a folder that cannot be shown inside', () => {
  const program = { file: '/bin/true', args: [], folder: '/dev/shm', environment: {} };

  it('is worked in without walls, unless walls are demanded', async () => {
    expect(await sandbox.enter(program, NOTHING)).toMatchObject({ ok: true, value: program });
    const demanded = createSandbox({ settings: sandboxSettings('on', []), environment: {}, random: systemRandom, state: [] });
    expect(await demanded.enter(program, NOTHING)).toMatchObject({ ok: false, error: expect.stringContaining('/dev/shm') });
    await demanded.close();
  });
});

describe('a sandbox that is switched off', () => {
  it('gives the program back as it is', async () => {
    const off = createSandbox({ settings: sandboxSettings('off', []), environment: {}, random: seededRandom(1), state: [] });
    const program = { file: '/bin/true', args: ['a'], folder: '/', environment: {} };
    expect(await off.enter(program, NOTHING)).toMatchObject({ ok: true, value: program });
    expect(await off.state()).toMatchObject({ kind: 'off', chosen: true });
  });
});

describe('what the settings say', () => {
  it.each([
    [undefined, [undefined, undefined], 'auto'],
    [undefined, ['off', undefined], 'off'],
    [undefined, ['off', 'auto'], 'auto'],
    [undefined, ['auto', 'on'], 'on'],
    [undefined, [{ network: ['a.example'] }, 'on'], 'on'],
    ['off', ['on', undefined], 'off'],
    ['nonsense', [undefined, 'off'], 'off'],
  ] satisfies [string | undefined, Said[], string][])('%s with %j is %s', (variable, said, mode) => {
    expect(sandboxSettings(variable, said).mode).toBe(mode);
  });

  it('takes hosts from the project, and from the user where the project says nothing', () => {
    expect(sandboxSettings(undefined, [{ network: ['a.example'] }, { network: ['b.example'] }]).network).toEqual(['a.example']);
    expect(sandboxSettings(undefined, [undefined, { network: ['b.example'] }]).network).toEqual(['b.example']);
  });
});
