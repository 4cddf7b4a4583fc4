// biome-ignore-all lint/suspicious/noTemplateCurlyInString: it is how these files name variables.
/** MCP servers of other tools' files: known, shown whole, and never started before the owner has allowed exactly this. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, readdir, readFile, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { startHttpMcpServer } from '../support/mcp/server.ts';
import { programOf } from '../support/programs/programs.ts';
import { sitDown } from '../support/terminal/at-keyboard.ts';
import { createTestProject, MAIN, objectIn, type TestProject } from './support-project.ts';

const SERVER = await programOf(fileURLToPath(new URL('../support/mcp/server.ts', import.meta.url)));
const USER =
  '---\nname: user-of-it\ntools: ["mcp:test"]\npermissions: { "mcp:test": allow }\nisolation: inline\n---\nYou use it.\n';
/** Leaves a mark in the project as soon as it is started. */
const WORDS = ['-c', `env > started; exec ${process.execPath} ${SERVER}`] as const;

const FILES: readonly (readonly [file: string, content: (...words: readonly string[]) => object])[] = [
  ['.mcp.json', (...args) => ({ mcpServers: { test: { command: 'sh', args, env: { GIVEN: '<${MY_THING}>' } } } })],
  ['.claude/settings.json', (...args) => ({ mcpServers: { test: { command: 'sh', args, env: { GIVEN: '<${MY_THING}>' } } } })],
  [
    'opencode.jsonc',
    (...args) => ({ mcp: { test: { type: 'local', command: ['sh', ...args], environment: { GIVEN: '<{env:MY_THING}>' } } } }),
  ],
  ['.vscode/mcp.json', (...args) => ({ servers: { test: { command: 'sh', args, env: { GIVEN: '<${env:MY_THING}>' } } } })],
];

const isThere = (project: TestProject, path: string): Promise<boolean> =>
  access(join(project.folder, path)).then(
    () => true,
    () => false,
  );

async function projectWith(file: string, content: object, settings = ''): Promise<TestProject> {
  const project = await createTestProject(settings, USER);
  await project.write(file, JSON.stringify(content));
  await project.script({ toolCalls: [{ name: 'test__variable', input: { name: 'GIVEN' } }] }, { text: 'Done.' });
  project.env['MY_THING'] = 'no name of a secret, and yet one';
  project.env['NOT_MINE'] = 'nothing for servers';
  return project;
}

describe.each(FILES)('a server of %s', (file, content) => {
  it('starts only after it was allowed, and again only if it is the same', async () => {
    await using project = await projectWith(file, content(...WORDS));
    const refused = await project.troupe('run', 'user-of-it', 'Go.');
    expect(refused.code).not.toBe(0);
    expect(refused.err).toContain(`is declared by ${file}, and nobody has allowed it`);
    expect(refused.err).toContain('troupe servers allow "test"');
    const unasked = await project.look('servers', 'allow', 'test');
    expect([unasked.code, unasked.err.includes('env > started'), unasked.err.includes('MY_THING')]).toEqual([2, true, true]);
    expect(unasked.err).toContain('--yes');
    expect(unasked.err).not.toContain(project.env['MY_THING']);
    expect(await isThere(project, 'started')).toBe(false);

    expect(await project.look('servers', 'allow', 'test', '--yes')).toMatchObject({ code: 0, out: 'allowed  test\n' });
    expect(await project.look('servers', 'allow', 'test', '--yes')).toMatchObject({ code: 0, out: 'nothing to allow\n' });
    expect(await project.troupe('run', 'user-of-it', 'Go.')).toMatchObject({ code: 0, out: 'Done.\n' });
    const environment = await readFile(join(project.folder, 'started'), 'utf8');
    expect(environment).toContain(`GIVEN=<${project.env['MY_THING']}>`);
    expect(environment).not.toMatch(/NOT_MINE|^MY_THING/m);
    expect((await project.look('logs', 'last', '--jsonl')).out).toContain('<no name of a secret, and yet one>');

    await project.write(file, JSON.stringify(content(WORDS[0], WORDS[1].replace('env > started', 'env > again'))));
    expect((await project.look('run', 'user-of-it', 'Go.')).err).toContain('changed since');
    expect(await isThere(project, 'again')).toBe(false);

    await project.write(file, JSON.stringify(content(...WORDS)));
    expect(await project.look('servers', 'forget', 'test')).toMatchObject({ code: 0 });
    expect((await project.look('run', 'user-of-it', 'Go.')).code).not.toBe(0);
    expect((await project.look('servers', 'forget', 'test')).code).toBe(2);
  });
});

const MCP_JSON = FILES[0]?.[1] ?? (() => ({}));

describe('at a terminal', () => {
  it.each(['yes', 'no'])('it is shown whole and asked about before the run (%s)', async (answer) => {
    await using project = await projectWith('.mcp.json', MCP_JSON(...WORDS, `hidden\u202e ${'x'.repeat(300)} last word`));
    project.env['USER'] = 'somebody';
    await using person = sitDown(project, ['run', 'user-of-it', 'Go.']);
    await person.sees('allow? yes or no');
    // Where a line is broken depends on how long the folder's name is.
    const words = (text: string) => text.replaceAll(/\n {2}¦ |\s+/g, '');
    const screen = words(person.screen());
    for (const part of [
      '.mcp.json starts the MCP server test',
      'env > started',
      'hidden⟨U+202E⟩',
      'last word',
      'GIVEN',
      'it gets MY_THING',
    ])
      expect(screen).toContain(words(part));
    expect(await isThere(project, 'started')).toBe(false);
    person.type(`${answer}\r`);
    expect(await person.ended).toBe(answer === 'yes' ? 0 : 2);
    expect(await isThere(project, 'started')).toBe(answer === 'yes');
    const folder = join(project.folder, '.config/troupe/allowed-servers');
    const kept = await readdir(folder).catch(() => []);
    expect(kept).toHaveLength(answer === 'yes' ? 1 : 0);
    if (kept[0] === undefined) return;
    const record = objectIn(await readFile(join(folder, kept[0]), 'utf8'));
    expect(record).toMatchObject({
      ...{ project: project.folder, source: '.mcp.json', server: 'test', by: 'somebody', host: hostname(), through: 'terminal' },
      sha256: kept[0].replace('.json', ''),
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    });
  });
});

it('a value in the command line is a part of what was allowed', async () => {
  await using project = await projectWith('.mcp.json', {
    mcpServers: { test: { command: '${RUNS_IT}', args: [...WORDS], env: {} } },
  });
  project.env['RUNS_IT'] = 'sh';
  await project.look('servers', 'allow', 'test', '--yes');
  expect(await project.look('run', 'user-of-it', 'Go.')).toMatchObject({ code: 0 });
  await rm(join(project.folder, 'started'));
  project.env['RUNS_IT'] = '/bin/sh';
  expect((await project.look('run', 'user-of-it', 'Go.')).err).toContain('changed since');
  expect(await isThere(project, 'started')).toBe(false);
});

it('an address is asked only when it was allowed, with the key that its entry names', async () => {
  const http = await startHttpMcpServer();
  try {
    const entry = { type: 'http', url: http.url, headers: { 'x-token': 'Bearer ${MY_THING}' } };
    await using project = await projectWith('.mcp.json', { mcpServers: { test: entry } });
    expect((await project.look('run', 'user-of-it', 'Go.')).code).not.toBe(0);
    expect(http.lastHeaders()).toEqual({});
    await project.look('servers', 'allow', 'test', '--yes');
    expect(await project.look('run', 'user-of-it', 'Go.')).toMatchObject({ code: 0 });
    expect(http.lastHeaders()).toMatchObject({ 'x-token': `Bearer ${project.env['MY_THING']}` });
  } finally {
    await http.close();
  }
});

it('a script that an agent may change, and has changed, is not run by the start after a crash', async () => {
  await using project = await projectWith('.mcp.json', { mcpServers: { test: { command: 'sh', args: ['tools/serve.sh'] } } });
  const opened = '"protected:servers": allow';
  await project.write('troupe.yaml', `permissions: { ${opened} }\n`);
  const user = USER.replace('["mcp:test"]', '["mcp:test", read, write]');
  await project.write('agents/helper.md', user.replace('permissions: { ', `permissions: { ${opened}, `));
  await project.write('tools/serve.sh', `exec ${process.execPath} ${SERVER}\n`);
  const call = (name: string, input: object) => ({ toolCalls: [{ name, input }] });
  const evil = { path: 'tools/serve.sh', content: `touch started; exec ${process.execPath} ${SERVER}\n` };
  await project.script(
    call('read', { path: 'tools/serve.sh' }),
    call('write', evil),
    call('test__crash', {}),
    call('test__process', {}),
    {
      text: 'Tried.',
    },
  );
  await project.look('servers', 'allow', 'test', '--yes');
  expect(await project.look('run', 'user-of-it', 'Go.')).toMatchObject({ code: 0, out: 'Tried.\n' });
  expect((await project.look('logs', 'last', '--jsonl')).out).toContain('changed since');
  expect(await isThere(project, 'started')).toBe(false);
});

it('nobody is asked by troupe serve, and a caller hears nothing of the declaration', async () => {
  await using project = await projectWith('.mcp.json', MCP_JSON(...WORDS));
  const child = spawn(process.execPath, [MAIN, '-C', project.folder, 'serve', '--port', '0'], {
    env: { ...project.env },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  try {
    const [url = ''] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
    const params = { name: 'spawn_assistant', arguments: { assistant_id: 'user-of-it', query: 'Go.', run_mode: 'sync' } };
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
    const said = await (await fetch(url, { method: 'POST', headers, body })).text();
    expect(said).toContain('nobody has allowed it');
    expect(said).not.toContain('env > started');
    expect(await isThere(project, 'started')).toBe(false);
  } finally {
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
});

it('what the settings deny is denied here too, allowed or not', async () => {
  await using project = await projectWith('.mcp.json', MCP_JSON(...WORDS), 'permissions: { shell: deny }\n');
  expect((await project.look('servers', 'allow', 'test', '--yes')).err).toContain("the project's settings deny `shell`");
  expect((await project.look('run', 'user-of-it', 'Go.')).err).toContain("the project's settings deny `shell`");
  expect(await isThere(project, 'started')).toBe(false);
});

it('the settings win, and every command that shows servers says where each comes from', async () => {
  await using project = await projectWith('.mcp.json', {
    mcpServers: {
      test: { command: 'touch', args: ['started'] },
      off: { command: 'touch', args: ['started'], disabled: true },
      open: { command: 'touch', args: ['started'] },
    },
  });
  await project.write(
    'troupe.yaml',
    `mcp: { test: { command: ${process.execPath}, args: [${SERVER}], env: { GIVEN: mine } } }\n`,
  );
  await project.write('.vscode/mcp.json', '{ "servers": {\n  "open": { "command": "x" },\n  "broken": \n');
  await project.write('agents/second.md', '---\nname: second\ntools: ["mcp:open", "mcp:off/x"]\n---\nYou too.\n');
  expect(await project.troupe('run', 'user-of-it', 'Go.')).toMatchObject({ code: 0, out: 'Done.\n' });

  const listed = objectIn((await project.look('servers', '--json')).out);
  expect(listed['servers']).toMatchObject([
    { name: 'test', from: 'settings', source: 'troupe.yaml', state: 'allowed' },
    { name: 'test', from: 'file', source: '.mcp.json', state: 'shadowed' },
    { name: 'off', source: '.mcp.json', state: 'refused', reason: 'it is turned off there' },
    { name: 'open', source: '.mcp.json', line: 1, state: 'open', shown: '"touch" "started"' },
  ]);
  const check = await project.look('check');
  expect(check.code).toBe(2);
  expect(check.out).toMatch(/agents\/second\.md:3:\d+: warning: The MCP server "open" is declared by \.mcp\.json/);
  expect(check.out).toMatch(/agents\/second\.md:3:\d+: error: The MCP server "off" of \.mcp\.json is not started/);
  expect(check.out).toMatch(/\.vscode\/mcp\.json:\d+:\d+: warning: broken JSON/);
  const doctor = (await project.look('doctor')).out;
  expect(doctor).toContain('started, has');
  expect(doctor).toContain('(troupe.yaml)');
  expect(doctor).toContain('troupe servers allow "open"');
  expect((await project.look('agents', 'show', 'user-of-it')).out).toContain('server  test (troupe.yaml, allowed)');
  expect((await project.look('agents', 'show', 'second')).out).toContain('server  open (.mcp.json:1, not allowed yet)');
  expect((await project.look('servers', 'allow', 'tset')).err).toMatch(/There is no MCP server tset/);
  expect(await isThere(project, 'started')).toBe(false);
});

it('doctor starts no server of an agent file that nobody needs, and so nobody was asked about', async () => {
  const agent = '---\nname: helper\nmcp: { x: { command: touch, args: [started] } }\n---\nYou help.\n';
  await using project = await createTestProject('', agent);
  await project.look('doctor', '--offline');
  expect(await isThere(project, 'started')).toBe(false);
});
