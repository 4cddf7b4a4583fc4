/** `troupe mcp` and `troupe serve` as processes: what they print, what they refuse, and how they end. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { describe, expect, it } from 'vitest';
import { isJsonObject, parseJson } from '../../src/base/json.ts';
import { createTestProject, MAIN, type TestProject } from './support-project.ts';

const HELPER = '---\nname: helper\ndescription: Helps\n---\nYou help.\n';

interface Server {
  readonly child: ChildProcessWithoutNullStreams;
  readonly lines: string[];
  /** Resolves when stdout has so many lines. */
  until(count: number): Promise<void>;
  errors(): string;
  ended(): Promise<number | null>;
}

function start(project: TestProject, args: readonly string[], env: Readonly<Record<string, string>> = {}): Server {
  const child = spawn(process.execPath, [MAIN, '-C', project.folder, ...args], { env: { ...project.env, ...env } });
  const lines: string[] = [];
  let errors = '';
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  const closed = once(child, 'close');
  return {
    child,
    lines,
    errors: () => errors,
    until: (count) => expect.poll(() => lines.length, { interval: 10 }).toBeGreaterThanOrEqual(count),
    ended: async () => {
      const [code] = (await closed) as [number | null];
      return code;
    },
  };
}

const request = (id: number, method: string, params: object = {}): string =>
  `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`;
const hello = request(1, 'initialize', {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'test', version: '1' },
});

describe('troupe mcp', () => {
  it.each(['stdin ends', 'SIGTERM'])('says nothing but the protocol on stdout, and ends with 0 when %s', async (how) => {
    await using project = await createTestProject('', HELPER);
    await project.script({ text: 'It is done.' });
    const server = start(project, ['mcp', '--as', 'tester']);
    server.child.stdin.write(hello);
    server.child.stdin.write(`not JSON\n${request(2, 'tools/call', { name: 'list_assistant', arguments: {} })}`);
    await server.until(2);
    if (how === 'SIGTERM') server.child.kill('SIGTERM');
    else server.child.stdin.end();
    expect(await server.ended()).toBe(0);
    const answers = server.lines.map((line) => parseJson(line));
    expect(answers.every((answer) => answer.ok && isJsonObject(answer.value) && answer.value['jsonrpc'] === '2.0')).toBe(true);
    expect(server.lines[1]).toContain('helper');
  });

  it('refuses a name that is none', async () => {
    await using project = await createTestProject('', HELPER);
    const ended = await project.troupe('mcp', '--as', 'two words');
    expect([ended.code, ended.out]).toEqual([2, '']);
    expect(ended.err).toContain('--as alice');
  });
});

describe('troupe serve', () => {
  it('prints the address on stdout and how to use it on stderr, and stops on Ctrl-C', async () => {
    await using project = await createTestProject('', HELPER);
    const server = start(project, ['serve', '--port', '0', '--token', 'auto']);
    await server.until(1);
    const [url = ''] = server.lines;
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/);
    // The two streams are read apart: what was printed on one may be seen after what was printed later on the other.
    await expect.poll(() => server.errors()).toContain('"mcpServers"');
    const token = /token: (\S+)/.exec(server.errors())?.[1] ?? '';
    expect(token).toHaveLength(32);
    expect(server.errors()).toContain(`claude mcp add --transport http troupe ${url}`);
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    expect((await fetch(url, { method: 'POST', headers, body: hello })).status).toBe(401);
    const known = await fetch(url, { method: 'POST', headers: { ...headers, authorization: `Bearer ${token}` }, body: hello });
    expect(await known.text()).toContain('"name":"troupe"');
    server.child.kill('SIGINT');
    expect(await server.ended()).toBe(0);
    expect(server.lines).toHaveLength(1);
  });

  it.each([
    { args: ['--host', '0.0.0.0'], env: {}, says: '--token auto' },
    { args: ['--token', 'short'], env: {}, says: 'fewer than 16' },
    { args: [], env: { TROUPE_TOKENS: 'alice' }, says: 'alice=<token>' },
    { args: [], env: { TROUPE_TOKEN: '' }, says: 'TROUPE_TOKEN is empty' },
    { args: [], env: { TROUPE_TOKENS: ' ' }, says: 'TROUPE_TOKENS is empty' },
    { args: ['--token', ''], env: {}, says: '--token is empty' },
    {
      args: ['--as', 'alice'],
      env: { TROUPE_TOKEN: 'a'.repeat(20), TROUPE_TOKENS: `alice=${'b'.repeat(20)}` },
      says: 'a second time',
    },
    { args: [], env: { TROUPE_TOKENS: `user=${'b'.repeat(20)}` }, says: '"user" is reserved' },
    { args: ['--as', 'alice'], env: { TROUPE_TOKENS: `alice=${'b'.repeat(20)}` }, says: 'TROUPE_TOKENS names alice' },
    { args: ['--as', 'System'], env: {}, says: '"System" is reserved' },
    { args: ['--port', '70000'], env: {}, says: '0 to 65535' },
  ])('does not start with $args $env', async ({ args, env, says }) => {
    await using project = await createTestProject('', HELPER);
    Object.assign(project.env, env);
    const ended = await project.troupe('serve', ...args);
    expect([ended.code, ended.out]).toEqual([2, '']);
    expect(ended.err).toContain(says);
  });

  it('says which port is in use and what to do', async () => {
    await using project = await createTestProject('', HELPER);
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const address = taken.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const ended = await project.troupe('serve', '--port', String(port));
    taken.close();
    expect(ended.code).toBe(2);
    expect(ended.err).toContain(`Port ${port} of 127.0.0.1 is in use`);
    expect(ended.err).toContain('--port 0');
  });
});
