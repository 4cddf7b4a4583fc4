/**
 * Bad luck with tools, the disk, the clock, signals and people who are not there, through the real command line. The same
 * promises as in bad-luck.test.ts: a clear message, the right exit code, and nothing that was done is lost or done twice.
 */
import { spawnSync } from 'node:child_process';
import { chmod, mkdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { Reply, SeenRequest, ServerCall } from '../support/models/script.ts';
import { programOf } from '../support/programs/programs.ts';
import {
  agentWith,
  createTestProject,
  expectErrorObject,
  expectKept,
  objectIn,
  printed,
  type TestProject,
} from './support-project.ts';

// Several processes each, side by side, on a machine that may be busy.

const MCP_SERVER = await programOf(fileURLToPath(new URL('../support/mcp/server.ts', import.meta.url)));
const MCP = `mcp: { test: { command: ${JSON.stringify(process.execPath)}, args: [${JSON.stringify(MCP_SERVER)}] } }\n`;
const shell = (command: string): ServerCall => ({ name: 'shell', input: { command } });
const free = 'permissions: { shell: allow }';

/** What the model was told about its calls. */
const told = (request: SeenRequest | undefined): string => JSON.stringify(request?.body['messages'] ?? '');

interface ToolRow {
  readonly name: string;
  readonly call: ServerCall;
  readonly told: RegExp;
  readonly agent?: string;
  readonly settings?: string;
}

const toolRows: readonly ToolRow[] = [
  { name: 'reports an error', call: { name: 'test__fail' }, told: /it broke/, settings: MCP },
  { name: 'crashes its server', call: { name: 'test__crash' }, told: /exit code 7; stderr: about to crash/, settings: MCP },
  { name: 'hangs', call: { name: 'test__hang' }, told: /time limit of 1 s/, agent: 'toolTimeout: 1s', settings: MCP },
  {
    name: 'hangs and will not end',
    call: shell('trap "" TERM; sleep 600'),
    told: /time limit of 1 s/,
    agent: 'toolTimeout: 1s',
  },
  { name: 'prints 500 MB', call: shell('yes troupe | head -c 500000000'), told: /troupe.*bytes/ },
  { name: 'prints 100 MB of nothing', call: shell('head -c 100000000 /dev/zero; exit 3'), told: /exit code 3/ },
  {
    name: 'deletes its own workspace',
    call: shell('rm -rf "$PWD"'),
    told: /exit code 0|no output/,
    settings: 'workspace: work\n',
  },
  { name: 'gets arguments that are no JSON', call: { name: 'shell', rawInput: '{"command": echo' }, told: /JSON|command/ },
  { name: 'does not exist', call: { name: 'wish' }, told: /wish/ },
];

describe.concurrent('a tool that', () => {
  it.for(toolRows)('$name', async ({ call, told: expected, agent = '', settings = '' }) => {
    const tools =
      settings === MCP ? 'tools: [list, "mcp:test"]\npermissions: { "mcp:test": allow }' : `tools: [list, shell]\n${free}`;
    await using project = await createTestProject(settings, agentWith(`${tools}\n${agent}`));
    await project.write('work/file.txt', 'x');
    await noteMemory(project);
    const server = await project.serve({ calls: [call] }, { calls: [{ name: 'list' }] }, { text: 'I saw.' });
    expect(await project.troupe('run', 'helper', 'hi')).toMatchObject({ code: 0, out: 'I saw.\n' });
    expect(told(server.requests[1])).toMatch(expected);
    if (settings.startsWith('workspace')) expect(told(server.requests[2])).toContain('workspace folder no longer exists');
    expect(Number(await readFile(join(project.folder, 'memory'), 'utf8'))).toBeLessThan(400_000);
    await expectKept(project, 'completed');
  });

  it('deletes the ledger too: what was done is put back, and the run goes on', async () => {
    await using project = await createTestProject('', agentWith(`tools: [shell]\n${free}`));
    const server = await project.serve({ calls: [shell('rm -rf .troupe && echo gone')] }, { text: 'Done.' });
    const cut = await project.troupe('run', 'helper', 'hi', '--json');
    expect(cut).toMatchObject({ code: 1, err: expect.stringMatching(/ledger was deleted while it was in use.*put back/) });
    expect(objectIn(cut.out)).toMatchObject({ status: 'interrupted', error: { code: 'ledger_gone', fix: expect.any(String) } });
    await expectKept(project, 'interrupted');
    expect(await project.troupe('resume', 'last')).toMatchObject({ code: 0, out: 'Done.\n' });
    expect(server.requests).toHaveLength(2);
    await expectKept(project, 'completed');
  });

  it('cannot be started is refused before anything runs', async () => {
    await using project = await createTestProject(
      'mcp: { test: { command: no-such-server } }\n',
      agentWith('tools: ["mcp:test"]'),
    );
    await project.serve({ text: 'Hi.' });
    const ended = await project.troupe('run', 'helper', 'hi', '--json');
    expect(ended).toMatchObject({ code: 2, err: expect.stringContaining('no-such-server') });
  });
});

/** Writes the most memory a command used, in KiB, to a file of the project. */
async function noteMemory(project: TestProject): Promise<void> {
  await preload(project, "process.on('exit', () => fs.writeFileSync('memory', String(process.resourceUsage().maxRSS)));");
}

/** Runs this code in every command of the project before anything else. */
async function preload(project: TestProject, code: string): Promise<void> {
  const path = join(project.folder, 'preload.mjs');
  await project.write('preload.mjs', `import fs from 'node:fs';\n${code}\n`);
  project.env['NODE_OPTIONS'] = `--import=${pathToFileURL(path).href}`;
}

describe.concurrent('a disk that is full', () => {
  const work: readonly Reply[] = [{ calls: [shell('head -c 600000 /dev/urandom | base64')] }, { text: 'Done.' }];
  const agent = agentWith(`tools: [shell]\n${free}`);

  it('stops the run, which goes on once there is room: a limit on the size of files', async () => {
    await using project = await createTestProject('', agent);
    const server = await project.serve(...work);
    const limited = await project.start(['run', 'helper', 'hi'], { through: ['sh', '-c', 'ulimit -f 1000; exec "$@"', 'sh'] })
      .ended;
    expect(limited).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringMatching(/why .*payload file failed[\s\S]*fix .*Check the disk/),
    });
    await expectKept(project, 'interrupted');
    expect(await project.typed(printed(limited.err, 'resume'))).toMatchObject({ code: 0, out: 'Done.\n' });
    expect(server.requests).toHaveLength(2);
    await expectKept(project, 'completed');
  });

  const mounts =
    spawnSync('unshare', ['--user', '--map-root-user', '--mount', 'mount', '-t', 'tmpfs', 'none', '/mnt']).status === 0;
  it.runIf(mounts)('stops the run, which goes on once there is room: a file system without space', async () => {
    await using project = await createTestProject('ledger: sqlite:disk/ledger.db\n', agent);
    await mkdir(join(project.folder, 'disk'));
    const server = await project.serve(...work);
    // The mount lives and ends with this one process, so the whole story happens inside it.
    const story = [
      'mount -t tmpfs -o size=900k none disk && dd if=/dev/zero of=disk/ballast bs=1k count=400 status=none',
      '"$@"; echo "exit $?"',
      'rm disk/ballast; mount -o remount,size=20m disk',
      // From here on without `run helper hi`.
      'for word do shift; [ "$word" = run ] && break; set -- "$@" "$word"; done; shift 2',
      '"$@" ledger verify; "$@" resume last; echo "exit $?"; "$@" ledger verify',
    ].join('\n');
    const through = ['unshare', '--user', '--map-root-user', '--mount', 'sh', '-c', story, 'sh'];
    const { out, err } = await project.start(['run', 'helper', 'hi'], { through }).ended;
    expect(err).toMatch(/why .*disk is full[\s\S]*fix .*Free some space and resume/);
    expect(out).toMatch(/^exit 1\nsound: \d+ events in 1 session\nDone\.\nexit 0\nsound: \d+ events in 1 session\n$/);
    expect(server.requests).toHaveLength(2);
  });
});

describe.concurrent('a ledger that', () => {
  interface LedgerRow {
    readonly name: string;
    damage(path: string): Promise<void>;
    readonly code: number;
    readonly error: string;
    readonly says: RegExp;
    /** What is there can still be looked at. */
    readonly readable?: boolean;
  }
  /** Permission bits mean nothing to root, unless it gives up that power. */
  const obedient = process.getuid?.() === 0 ? ['setpriv', '--bounding-set', '-dac_override'] : [];
  const rows: readonly LedgerRow[] = [
    {
      name: 'is read-only',
      async damage(path) {
        await chmod(path, 0o444);
        await chmod(dirname(path), 0o555);
      },
      code: 1,
      error: 'ledger_readonly',
      says: /ledger is read-only: .*\n.*fix: Give yourself the right to write/,
      readable: true,
    },
    {
      name: 'is truncated',
      damage: (path) => truncate(path, 5_000),
      code: 1,
      error: 'ledger_corrupt',
      says: /not a sound ledger.*\n.*backup/,
    },
    {
      name: 'is no database',
      damage: (path) => writeFile(path, 'hello '.repeat(1_000)),
      code: 1,
      error: 'ledger_corrupt',
      says: /not a database/,
    },
    {
      name: 'a newer version wrote',
      async damage(path) {
        const database = new DatabaseSync(path);
        database.exec('PRAGMA user_version = 99');
        database.close();
      },
      code: 1,
      error: 'ledger_newer',
      says: /newer Troupe wrote this ledger \(file version 99.*\n.*fix: Update Troupe/,
    },
  ];

  it.for(rows)('$name', async ({ damage, code, error, says, readable = false }) => {
    await using project = await createTestProject();
    await project.script({ text: 'Hello.' });
    expect((await project.troupe('run', 'helper', 'hi')).code).toBe(0);
    const path = join(project.folder, '.troupe/ledger.db');
    const before = await damaged(path, damage);
    const command = (...args: string[]) => project.start(args, { through: obedient }).ended;
    const run = await command('run', 'helper', 'hi', '--json');
    expect(run).toMatchObject({ code, err: expect.stringMatching(says) });
    expectErrorObject(run, error);
    expect(await command('doctor')).toMatchObject({ code: 1, out: expect.stringMatching(/broken +ledger: .*\n +fix: /) });
    for (const args of [
      ['show', 'last'],
      ['ledger', 'verify'],
    ])
      expect((await command(...args)).code).toBe(readable ? 0 : code);
    expect(await readFile(path)).toEqual(before);
    await chmod(dirname(path), 0o755);
  });

  /** The bytes afterwards: whatever is wrong with the file, nobody writes to it. */
  async function damaged(path: string, damage: LedgerRow['damage']): Promise<Buffer> {
    await rm(`${path}-wal`, { force: true });
    await rm(`${path}-shm`, { force: true });
    await damage(path);
    return readFile(path);
  }
});

describe.concurrent('a clock that', () => {
  const work: readonly Reply[] = [{ calls: [{ name: 'list' }] }, { text: 'Later.', delayMs: 1_500 }];
  const backwards = 'const now = Date.now; let back = 0; Date.now = () => now() - (back += 5_000);';

  it('goes backwards all the time does not disturb a run', async () => {
    await using project = await createTestProject();
    await preload(project, backwards);
    await project.serve({ calls: [shell('echo hi')] }, { calls: [{ name: 'list' }] }, { text: 'Done.' });
    const ended = await project.troupe('run', 'helper', 'hi', '--yes', '--json');
    expect(ended.code).toBe(0);
    expect(Number(objectIn(ended.out)['durationMs'])).toBeGreaterThanOrEqual(0);
    await expectKept(project, 'completed');
  });

  it('was an hour ahead when the run was cut off does not keep it from going on', async () => {
    await using project = await createTestProject();
    await preload(project, 'const now = Date.now; Date.now = () => now() + 3_600_000;');
    const server = await project.serve(...work);
    const running = project.start(['run', 'helper', 'hi']);
    await running.says('list done');
    running.kill('SIGKILL');
    await running.ended;
    delete project.env['NODE_OPTIONS'];
    expect(await project.troupe('resume', 'last')).toMatchObject({ code: 0, out: 'Later.\n' });
    expect(server.requests.filter((request) => request.toolResults === 0)).toHaveLength(1);
    await expectKept(project, 'completed');
  });
});
