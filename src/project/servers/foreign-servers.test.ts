// biome-ignore-all lint/suspicious/noTemplateCurlyInString: it is how these files name variables.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { limits } from '../../base/limits.ts';
import type { McpServerConfig } from '../../tools/mcp/connection.ts';
import { type ForeignServer, type ForeignServers, readForeignServers } from './foreign-servers.ts';

const ENV = {
  HOME: '/home/me',
  TOKEN: 'abc${OTHER}',
  EMPTY: '',
  PORT: '8080',
  API_KEY: 'sk-secret-0123456789',
  INPUT_MY_KEY: 'asked',
};

async function read(files: Readonly<Record<string, string | object>>, settings: readonly string[] = []) {
  const root = await mkdtemp(join(tmpdir(), 'troupe-foreign-'));
  try {
    for (const [path, content] of Object.entries(files)) {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await writeFile(join(root, path), typeof content === 'string' ? content : JSON.stringify(content));
    }
    return { root, ...(await readForeignServers({ root, env: ENV }, settings)) };
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

function named({ servers }: ForeignServers, name: string): ForeignServer {
  const found = servers.find((one) => one.name === name && one.shadowedBy === undefined);
  if (found === undefined) throw new Error(`no ${name} among ${servers.map((one) => one.name)}`);
  return found;
}

function started(read: ForeignServers, name: string): McpServerConfig {
  const server = named(read, name);
  if (server.kind === 'refused') throw new Error(server.reason);
  return server.started();
}

const refused = (read: ForeignServers, name: string): string | undefined => {
  const server = named(read, name);
  return server.kind === 'refused' ? server.reason : undefined;
};

describe('.mcp.json', () => {
  it('has commands and addresses, with variables and what stands for them when they are not set', async () => {
    const found = await read({
      '.mcp.json': {
        mcpServers: {
          local: { command: '${SHELLS:-sh}', args: ['-c', '${TOKEN}', '$PORT'], env: { KEY: 'x${API_KEY}', N: 1, GONE: null } },
          remote: { type: 'http', url: 'https://example.org:${PORT}/mcp', headers: { A: 'Bearer ${EMPTY:-none}' } },
          here: { command: '${CLAUDE_PROJECT_DIR}/run' },
        },
      },
    });
    // What a value holds is not looked at again.
    expect(started(found, 'local')).toEqual({
      command: 'sh',
      args: ['-c', 'abc${OTHER}', '$PORT'],
      env: { KEY: 'xsk-secret-0123456789', N: '1' },
    });
    expect(started(found, 'remote')).toEqual({ url: 'https://example.org:8080/mcp', headers: { A: 'Bearer none' } });
    expect(started(found, 'here')).toMatchObject({ command: `${found.root}/run` });
    expect(named(found, 'local')).toMatchObject({ takes: ['TOKEN', 'API_KEY'], place: { file: '.mcp.json', line: 1 } });
    expect(found.diagnostics).toEqual([]);
  });

  it('shows names in place of secrets, and everything else as it would be started', async () => {
    const found = await read({
      '.mcp.json': { mcpServers: { a: { command: 'x', args: ['${PORT}', '${API_KEY}'], env: { K: '${API_KEY}' } } } },
    });
    const server = named(found, 'a');
    expect(server).toMatchObject({
      shown: { command: 'x', args: ['8080', '${API_KEY}'], env: { K: '${API_KEY}' } },
      declared: { command: 'x', args: ['8080', ENV.API_KEY], env: { K: '${API_KEY}' } },
    });
  });

  it.each([
    [{ command: 'x', args: ['${NOT_THERE}'] }, 'the environment variable NOT_THERE is not set'],
    [{ type: 'sse', url: 'https://a.example/sse' }, '`type: sse` is not spoken here; Streamable HTTP and stdio are'],
    [{ url: 'https://a.example/', headersHelper: './evil.sh' }, 'a `headersHelper` is not run'],
    [{ url: 'file:///etc/passwd' }, '`url` is no http address'],
    [{ args: ['x'] }, 'it has neither a `command` with its words nor a `url`'],
    [{ command: ['a', 'b'] }, 'it has neither a `command` with its words nor a `url`'],
    [{ command: 'a', args: [1] }, 'it has neither a `command` with its words nor a `url`'],
    [{ command: 'a', env: ['A=1'] }, 'its variables are not a map of texts'],
    [['a'], 'it is not a map of keys and values'],
  ])('%j is not started', async (entry, reason) => {
    expect(refused(await read({ '.mcp.json': { mcpServers: { a: entry } } }), 'a')).toBe(reason);
  });

  it('is turned off by the settings of Claude Code, and turned on for nobody', async () => {
    const mcpServers = Object.fromEntries(['a', 'b', 'c', 'd', 'e'].map((name) => [name, { command: name, args: ['x'] }]));
    const found = await read({
      '.mcp.json': { mcpServers: { ...mcpServers, f: { url: 'https://bad.example/mcp' } } },
      '.claude/settings.json': { enableAllProjectMcpServers: true, enabledMcpjsonServers: ['a'], disabledMcpjsonServers: ['b'] },
      '.claude/settings.local.json': {
        mcpServers: { g: { command: 'g' } },
        deniedMcpServers: [{ serverName: 'c' }, { serverCommand: ['d', 'x'] }, { serverUrl: 'https://*.example/*' }, 'odd'],
      },
    });
    const off = found.servers.map((one) => [one.name, one.kind === 'refused' ? one.reason : 'on']);
    const local = '.claude/settings.local.json turns it off';
    expect(off).toEqual([
      ['a', 'on'],
      ['b', '.claude/settings.json turns it off'],
      ['c', local],
      ['d', local],
      ['e', 'on'],
      ['f', local],
      ['g', 'on'],
    ]);
  });
});

describe('opencode', () => {
  it('has its words in one list, and its variables in its own signs', async () => {
    const mcp = {
      local: { type: 'local', command: ['npx', '-y', '{env:PORT}', '${PORT}'], environment: { K: '{env:TOKEN}' }, cwd: 'sub' },
      remote: { type: 'remote', url: 'https://a.example/mcp', headers: { A: '{env:API_KEY}' }, oauth: false },
      off: { type: 'local', command: ['x'], enabled: false },
      file: { type: 'local', command: ['x'], environment: { K: '{file:~/.ssh/id_rsa}' } },
    };
    const found = await read({ 'opencode.json': { mcp } });
    expect(started(found, 'local')).toEqual({
      command: 'npx',
      args: ['-y', '8080', '${PORT}'],
      env: { K: ENV.TOKEN },
      cwd: 'sub',
    });
    expect(started(found, 'remote')).toEqual({ url: 'https://a.example/mcp', headers: { A: ENV.API_KEY } });
    expect(refused(found, 'off')).toBe('it is turned off there');
    expect(refused(found, 'file')).toBe('{file:~/.ssh/id_rsa} is not known here');
  });

  it('may have a floor more, and lie in its folder, with comments', async () => {
    const text =
      '{ // mine\n\t"mcp": { "servers": {\n\t\t"a": { "command": ["x", "http://y"], /* off? */ "disabled": false, },\n\t} },\n}';
    const found = await read({ '.opencode/opencode.jsonc': text });
    expect(started(found, 'a')).toMatchObject({ command: 'x', args: ['http://y'] });
    expect(named(found, 'a').place).toEqual({ file: '.opencode/opencode.jsonc', line: 3, column: 3 });
  });
});

describe('VS Code', () => {
  it('has folders, variables, and what a person is asked for', async () => {
    const found = await read({
      '.vscode/mcp.json': {
        inputs: [{ id: 'my-key', type: 'promptString', password: true }],
        servers: {
          a: {
            type: 'stdio',
            command: '${workspaceFolder}/run',
            args: ['${userHome}', '${env:PORT}'],
            env: { K: '${input:my-key}' },
          },
          b: { command: 'x', args: ['${command:pick}'] },
          c: { command: 'x', envFile: '${workspaceFolder}/.env' },
          d: { type: 'http', url: 'https://a.example/', headers: { K: '${input:other}' } },
        },
      },
    });
    expect(started(found, 'a')).toEqual({ command: `${found.root}/run`, args: ['/home/me', '8080'], env: { K: 'asked' } });
    expect(named(found, 'a')).toMatchObject({ takes: ['PORT', 'INPUT_MY_KEY'] });
    expect(refused(found, 'b')).toBe('${command:pick} is not known here');
    expect(refused(found, 'c')).toBe('variables of an `envFile` are not read');
    expect(refused(found, 'd')).toBe('the environment variable INPUT_OTHER is not set');
  });
});

describe('a slip in a file of another tool', () => {
  const told = async (file: string, content: object): Promise<readonly string[]> => {
    const { diagnostics } = await read({ [file]: content });
    expect(diagnostics.every(({ severity }) => severity === 'warning')).toBe(true);
    return diagnostics.map(({ message, fix = '' }) => `${message} ${fix}`.trim());
  };
  const unknown = (key: string, meant: string): string => `unknown key "${key}" in the MCP server "a" Did you mean "${meant}"?`;

  it.each<readonly [string, object, readonly string[]]>([
    ['.mcp.json', { comand: 'x' }, [unknown('comand', 'command')]],
    ['.mcp.json', { command: 'x', arg: ['y'] }, [unknown('arg', 'args')]],
    ['.mcp.json', { cmd: 'x', Env: {} }, [unknown('cmd', 'command'), unknown('Env', 'env')]],
    ['.mcp.json', { command: 'x', environment: { A: 'b' } }, [unknown('environment', 'env')]],
    ['.mcp.json', { serverUrl: 'https://a.example/' }, [unknown('serverUrl', 'url')]],
    ['.mcp.json', { url: 'https://a.example/', header: {} }, [unknown('header', 'headers')]],
    ['.mcp.json', { foo: 1 }, ['the MCP server "a" is not started: it has neither a `command` with its words nor a `url`']],
    ['.mcp.json', ['x'], ['the MCP server "a" is not started: it is not a map of keys and values']],
    // What other tools have of their own, what is not done here, and what is turned off.
    ['.mcp.json', { command: 'x', alwaysAllow: [], timeout: 5, trust: true, description: 'y', oauth: {} }, []],
    ['.mcp.json', { type: 'sse', url: 'https://a.example/' }, []],
    ['.mcp.json', { comand: 'x', disabled: true }, []],
    ['.vscode/mcp.json', { comand: 'x' }, [unknown('comand', 'command')]],
    ['.vscode/mcp.json', { command: 'x', dev: { watch: 'src' } }, []],
    ['.claude/settings.json', { comand: 'x' }, [unknown('comand', 'command')]],
    ['opencode.json', { type: 'local', comand: ['x'] }, [unknown('comand', 'command')]],
    ['opencode.json', { type: 'local', command: ['x'], env: { A: 'b' } }, [unknown('env', 'environment')]],
  ])('%s: %j', async (file, entry, expected) => {
    const key = file.startsWith('.vscode') ? 'servers' : file === 'opencode.json' ? 'mcp' : 'mcpServers';
    expect(await told(file, { [key]: { a: entry } })).toEqual(expected);
  });

  it.each([
    ['.mcp.json', 'mcpServer', 'mcpServers'],
    ['.mcp.json', 'servers', 'mcpServers'],
    ['.vscode/mcp.json', 'mcpServers', 'servers'],
    ['.vscode/mcp.json', 'server', 'servers'],
    ['.claude/settings.json', 'mcpservers', 'mcpServers'],
    ['opencode.json', 'mcpServers', 'mcp'],
  ])('%s with its servers under %s', async (file, key, meant) => {
    const expected = [`no MCP servers are read from "${key}" Did you mean "${meant}"?`];
    expect(await told(file, { [key]: { a: { command: 'x' } } })).toEqual(expected);
  });

  it.each(['.claude/settings.json', 'opencode.json', '.vscode/mcp.json'])('%s without servers is no slip', async (file) => {
    expect(await told(file, { permissions: { allow: [] }, lsp: {}, inputs: [], model: 'x', provider: { x: {} } })).toEqual([]);
  });
});

describe('several files', () => {
  it('the settings count first, then the files in their order', async () => {
    const found = await read(
      {
        '.mcp.json': { mcpServers: { a: { command: 'one' }, b: { command: 'two' } } },
        '.vscode/mcp.json': { servers: { b: { command: 'three' }, c: { command: 'four' } } },
      },
      ['a'],
    );
    expect(found.servers.map(({ name, place, shadowedBy }) => [name, place.file, shadowedBy])).toEqual([
      ['a', '.mcp.json', 'the settings'],
      ['b', '.mcp.json', undefined],
      ['b', '.vscode/mcp.json', '.mcp.json'],
      ['c', '.vscode/mcp.json', undefined],
    ]);
  });

  it.each([
    ['{ "mcpServers": { "a": }\n', /^broken JSON: a } is missing at the end; the MCP servers in it are not known here$/],
    ['{ "mcpServers": [1, {"a": 2},}\n', /^broken JSON: a ] is missing before the } in line 1;/],
    ['{ "mcpServers": {} } }\n', /^broken JSON: a } too many in line 1;/],
    ['{ "mcpServers" {} }\n', /^broken JSON: this is no JSON;/],
    ['{ "mcpServers": {\n "a": 1, "a": 2 } }', /^this key is given twice/],
    ['[1]', /^the file is not a map/],
    ['{ /* never ends', /^broken JSON/],
    [`${'['.repeat(100_000)}`, /frontmatterDepth|broken JSON/],
    ['\0', /binary/],
    [' '.repeat(limits.agentFileBytes + 1), /agentFileBytes/],
  ])('a file that cannot be read is a warning, and hides no other (%#)', async (text, message) => {
    const found = await read({ '.mcp.json': text, 'opencode.json': { mcp: { a: { command: ['x'] } } } });
    expect(found.diagnostics[0]).toMatchObject({
      file: '.mcp.json',
      severity: 'warning',
      message: expect.stringMatching(message),
    });
    if (/broken JSON/.test(message.source))
      expect(found.diagnostics.map(({ file, fix }) => [file, fix])).toEqual([
        ['.mcp.json', expect.stringMatching(/^(?:Put|Take|Look)/)],
      ]);
    expect(started(found, 'a')).toMatchObject({ command: 'x' });
  });

  it('there are at most so many', async () => {
    const many = Object.fromEntries(
      Array.from({ length: limits.foreignServers + 1 }, (_, index) => [`s${index}`, { command: 'x' }]),
    );
    const found = await read({ '.mcp.json': { mcpServers: many } });
    expect(found.servers).toHaveLength(limits.foreignServers);
    expect(found.diagnostics[0]?.message).toContain('foreignServers');
  });

  it('nothing of a stranger reaches for what every object has', async () => {
    const text = '{"mcpServers": {"__proto__": {"command": "x"}, "constructor": {"command": "y"}, "toString": []}}';
    const found = await read({ '.mcp.json': text });
    expect(found.servers.map(({ name, kind }) => [name, kind])).toContainEqual(['constructor', 'sound']);
    expect(found.servers.every(({ shadowedBy }) => shadowedBy === undefined)).toBe(true);
  });
});
