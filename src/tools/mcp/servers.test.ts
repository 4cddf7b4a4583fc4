import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { seen, startHttpMcpServer } from '../../../test/support/mcp/server.ts';
import { PATIENCE_MS } from '../../../test/support/patience.ts';
import { programOf } from '../../../test/support/programs/programs.ts';
import { unseen } from '../../../test/support/tool-workspace.ts';
import { systemClock } from '../../base/clock.ts';
import type { RunId } from '../../base/ids.ts';
import type { Json } from '../../base/json.ts';
import type { OrdinaryTool, ToolOutcome } from '../port.ts';
import type { McpServerConfig } from './connection.ts';
import { createMcpServers, type McpServers } from './servers.ts';

const script = await programOf(join(import.meta.dirname, '../../../test/support/mcp/server.ts'));
const stdio = (...args: string[]): McpServerConfig => ({ command: process.execPath, args: [script, ...args] });
/** How a configuration names a variable. */
const variable = (name: string): string => `$\{${name}}`;
/** On a busy machine a server may take long to start: only who never answers is given little time. */
const options = {
  ...{ clock: systemClock, environment: { ...process.env, TOKEN: 'secret-token' }, folder: import.meta.dirname },
  startMs: PATIENCE_MS,
};
const context = (signal: AbortSignal = new AbortController().signal) => ({
  workspace: '/',
  signal,
  run: 'run_test' as RunId,
  idempotencyKey: 'run/turn/1',
  seen: unseen,
  redact: (text: string) => text,
});

async function toolsOf(servers: McpServers, server = 'test'): Promise<ReadonlyMap<string, OrdinaryTool>> {
  const tools = await servers.tools(server);
  if (!tools.ok) throw new Error(tools.error);
  return new Map(tools.value.map((tool) => [tool.name, tool]));
}
async function call(
  tools: ReadonlyMap<string, OrdinaryTool>,
  name: string,
  input: Json = {},
  signal?: AbortSignal,
): Promise<ToolOutcome> {
  const tool = tools.get(name);
  if (tool === undefined) throw new Error(`no tool ${name}`);
  return tool.run(input, context(signal));
}
const text = (outcome: ToolOutcome): string =>
  outcome.kind === 'error'
    ? `error: ${outcome.message}`
    : outcome.content.map((part) => (part.type === 'text' ? part.text : `<${part.mediaType}>`)).join('\n');
const isGone = (pid: number): boolean =>
  !existsSync(`/proc/${pid}/stat`) || / Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));

const http = await startHttpMcpServer();
const transports: readonly [string, McpServerConfig][] = [
  ['stdio', stdio()],
  ['http', { url: http.url, headers: { 'x-token': `Bearer ${variable('TOKEN')}` } }],
];
afterAll(() => http.close());

describe.each(transports)('an MCP server over %s', (kind, config) => {
  const servers = createMcpServers({ test: config }, options);
  afterAll(() => servers.close());

  it('brings its tools, with what is known about repeating them', async () => {
    const tools = await toolsOf(servers);
    expect([...tools.keys()]).toEqual(expect.arrayContaining(['add', 'note', 'put', 'fail', 'hang', 'media', 'structured']));
    expect(tools.get('add')).toMatchObject({
      replay: 'safe',
      description: 'Adds two numbers.',
      readOnly: true,
      origin: { server: 'test', tool: 'add' },
    });
    expect(tools.get('put')).toMatchObject({ replay: 'safe' });
    expect(tools.get('put')?.readOnly).toBeUndefined();
    expect(tools.get('note')).toMatchObject({ replay: 'never' });
    expect(tools.get('add')?.inputSchema).toMatchObject({ type: 'object', required: ['a', 'b'] });
  });

  it('answers calls with text, errors, media and structure', async () => {
    const tools = await toolsOf(servers);
    expect(text(await call(tools, 'add', { a: 2, b: 3 }))).toBe('5');
    expect(text(await call(tools, 'fail'))).toBe('error: it broke');
    expect(text(await call(tools, 'add', { a: 'x' }))).toMatch(/^error: /);
    expect(text(await call(tools, 'structured'))).toBe('{\n  "answer": 42\n}');
    expect(text(await call(tools, 'media'))).toBe(
      '<image/png>\n(audio: audio/wav, 3 bytes, not shown)\n[a.txt](file:///a.txt): a file\nmem://b\ninside',
    );
  });

  it('runs calls side by side and cancels one', async () => {
    const tools = await toolsOf(servers);
    const cancel = new AbortController();
    const hanging = call(tools, 'hang', {}, cancel.signal);
    const sums = await Promise.all(Array.from({ length: 10 }, (_, index) => call(tools, 'add', { a: index, b: 1 })));
    expect(sums.map(text)).toEqual(Array.from({ length: 10 }, (_, index) => String(index + 1)));
    const before = seen.aborted;
    cancel.abort();
    expect(text(await hanging)).toBe('error: The call was stopped before the server answered.');
    if (kind === 'http') await expect.poll(() => seen.aborted).toBe(before + 1);
    expect(text(await call(tools, 'add', { a: 1, b: 1 }))).toBe('2');
  });
});

describe('an MCP server as our child', () => {
  it('gets a small environment and what its configuration declares', async () => {
    const servers = createMcpServers(
      { test: { ...stdio(), env: { GIVEN: `<${variable('TOKEN')}>` } } as McpServerConfig },
      options,
    );
    const tools = await toolsOf(servers);
    expect(text(await call(tools, 'variable', { name: 'GIVEN' }))).toBe('<secret-token>');
    expect(text(await call(tools, 'variable', { name: 'TOKEN' }))).toBe('(not set)');
    await servers.close();
  });

  it('is started again by the call after a crash', async () => {
    const servers = createMcpServers({ test: stdio() }, options);
    const tools = await toolsOf(servers);
    const first = text(await call(tools, 'process'));
    expect(text(await call(tools, 'crash'))).toMatch(/The MCP server test failed: .*exit code 7.*about to crash/s);
    const [second, third] = await Promise.all([call(tools, 'process'), call(tools, 'process')]);
    expect(text(second)).toMatch(/^\d+$/);
    expect(text(second)).not.toBe(first);
    expect(text(third)).toBe(text(second));
    await servers.close();
    await expect.poll(() => isGone(Number(text(second)))).toBe(true);
    expect(text(await call(tools, 'process'))).toContain('were closed');
  });

  it('may be of the old kind that ends when asked the new question', async () => {
    const servers = createMcpServers({ test: stdio('--legacy') }, options);
    const tools = await toolsOf(servers);
    expect(text(await call(tools, 'old-echo', { a: 1 }))).toBe('{"a":1}');
    await servers.close();
  });

  it('takes its own children along when it is closed', async () => {
    const wrapped = {
      command: '/bin/sh',
      args: ['-c', `sleep 300 & echo "child $!" >&2; exec "${process.execPath}" "${script}"`],
    };
    const servers = createMcpServers({ test: wrapped }, options);
    const tools = await toolsOf(servers);
    const pid = Number(text(await call(tools, 'process')));
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number);
    expect(children.length).toBeGreaterThan(0);
    await servers.close();
    await expect.poll(() => children.every(isGone)).toBe(true);
  });

  it('says clearly why it could not be started', async () => {
    const servers = createMcpServers(
      {
        missing: { command: '/no/such/program' },
        dying: { command: '/bin/sh', args: ['-c', 'echo "no config found" >&2; exit 3'] },
        tracing: { command: process.execPath, args: ['/not/there.mjs'] },
        unset: { command: 'true', env: { A: variable('NOT_SET_ANYWHERE') } },
        refused: { url: 'http://127.0.0.1:1/mcp' },
      },
      options,
    );
    const hasty = createMcpServers({ silent: stdio('--silent') }, { ...options, startMs: 1_500 });
    const error = async (name: string, from = servers): Promise<string> => {
      const outcome = await from.tools(name);
      return outcome.ok ? '' : outcome.error;
    };
    expect(await error('missing')).toContain('ENOENT');
    expect(await error('dying')).toMatch(/exit code 3; stderr: no config found/);
    // Of a stack trace the line that says what it is about.
    const said = await error('tracing');
    expect(said).toMatch(
      /exit code 1; stderr: Error: Cannot find module '\/not\/there\.mjs' \(and \d+ more lines, which its command/,
    );
    expect([said.includes('\n'), said.length < 300]).toEqual([false, true]);
    expect(await error('unset')).toContain('NOT_SET_ANYWHERE is not set');
    expect(await error('silent', hasty)).toMatch(/no answer within|timed out/i);
    expect(await error('refused')).toContain('the MCP server refused could not be started');
    expect(await error('other')).toBe('there is no MCP server named "other"');
    await servers.close();
    await hasty.close();
  });

  it('is found again over HTTP after it was restarted', async () => {
    const first = await startHttpMcpServer();
    const servers = createMcpServers({ test: { url: first.url } }, options);
    const tools = await toolsOf(servers);
    await first.close();
    expect(text(await call(tools, 'add', { a: 1, b: 1 }))).toMatch(/^error: The MCP server test failed: /);
    expect(text(await call(tools, 'add', { a: 1, b: 1 }))).toMatch(/^error: The MCP server test could not be started: /);
    const second = await startHttpMcpServer(Number(new URL(first.url).port));
    expect(text(await call(tools, 'add', { a: 1, b: 1 }))).toBe('2');
    await servers.close();
    await second.close();
  });

  it('sends declared headers over HTTP', () => {
    expect(http.lastHeaders()['x-token']).toBe('Bearer secret-token');
  });
});
