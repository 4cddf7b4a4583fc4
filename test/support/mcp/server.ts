/**
 * A real MCP server for tests. `node test/support/mcp/server.ts` serves stdio; `--legacy` speaks only the older handshake
 * and ends when asked anything before it; `--silent` never answers; `startHttpMcpServer()` serves Streamable HTTP.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** What the server saw, for tests in the same process. */
export const seen = { aborted: 0, notes: 0 };

export function createTestServer(): McpServer {
  const server = new McpServer({ name: 'test', version: '1.0.0' }, { capabilities: { tools: {} } });
  const text = (value: string) => ({ content: [{ type: 'text' as const, text: value }] });

  server.registerTool(
    'add',
    {
      description: 'Adds two numbers.',
      inputSchema: z.object({ a: z.number(), b: z.number() }),
      annotations: { readOnlyHint: true },
    },
    async ({ a, b }) => text(String(a + b)),
  );
  server.registerTool('note', { description: 'Remembers a note.', inputSchema: z.object({ text: z.string() }) }, async () => {
    seen.notes += 1;
    return text(`note ${seen.notes}`);
  });
  server.registerTool(
    'put',
    { description: 'Sets a value.', inputSchema: z.object({ value: z.string() }), annotations: { idempotentHint: true } },
    async ({ value }) => text(value),
  );
  server.registerTool('fail', { description: 'Fails.', inputSchema: z.object({}) }, async () => ({
    ...text('it broke'),
    isError: true,
  }));
  server.registerTool(
    'variable',
    { description: 'Shows a variable.', inputSchema: z.object({ name: z.string() }) },
    async ({ name }) => text(process.env[name] ?? '(not set)'),
  );
  server.registerTool('process', { description: 'Its process id.', inputSchema: z.object({}) }, async () =>
    text(String(process.pid)),
  );
  server.registerTool('crash', { description: 'Ends the server.', inputSchema: z.object({}) }, async () => {
    process.stderr.write('about to crash\n');
    process.exit(7);
  });
  server.registerTool('hang', { description: 'Never answers.', inputSchema: z.object({}) }, async (_input, context) => {
    await new Promise<void>((resolve) => context.mcpReq.signal.addEventListener('abort', () => resolve(), { once: true }));
    seen.aborted += 1;
    return text('aborted');
  });
  server.registerTool('media', { description: 'Answers with media.', inputSchema: z.object({}) }, async () => ({
    content: [
      { type: 'image' as const, mimeType: 'image/png', data: PIXEL },
      { type: 'audio' as const, mimeType: 'audio/wav', data: 'AAAA' },
      { type: 'resource_link' as const, uri: 'file:///a.txt', name: 'a.txt', description: 'a file' },
      { type: 'resource' as const, resource: { uri: 'mem://b', text: 'inside' } },
    ],
  }));
  server.registerTool(
    'structured',
    { description: 'Answers with structure only.', inputSchema: z.object({}), outputSchema: z.object({ answer: z.number() }) },
    async () => ({ content: [], structuredContent: { answer: 42 } }),
  );
  return server;
}

export interface HttpMcpServer {
  readonly url: string;
  /** Headers of the last request. */
  lastHeaders(): Readonly<Record<string, string | string[] | undefined>>;
  close(): Promise<void>;
}

export async function startHttpMcpServer(port = 0): Promise<HttpMcpServer> {
  const handler = createMcpHandler(createTestServer);
  let headers = {};
  const server: Server = createServer(async (incoming, outgoing) => {
    headers = incoming.headers;
    const gone = new AbortController();
    outgoing.once('close', () => gone.abort());
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const body = chunks.length === 0 ? {} : { body: Buffer.concat(chunks) };
    const request = new Request(`http://127.0.0.1${incoming.url ?? '/'}`, {
      method: incoming.method ?? 'GET',
      headers: Object.entries(incoming.headers).map(([name, value]): [string, string] => [name, String(value)]),
      signal: gone.signal,
      ...body,
    });
    const response = await handler.fetch(request);
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    outgoing.flushHeaders();
    try {
      if (response.body !== null) for await (const chunk of response.body) outgoing.write(chunk);
    } catch {
      // The client went away.
    }
    outgoing.end();
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    lastHeaders: () => headers,
    close: async () => {
      await handler.close();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** An older server: knows `initialize`, and ends when something else comes first. */
function serveLegacy(): void {
  let greeted = false;
  createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method, params } = JSON.parse(line);
    if (!greeted && method !== 'initialize') process.exit(1);
    greeted = true;
    if (id === undefined) return;
    const results: Record<string, unknown> = {
      initialize: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'old', version: '1' } },
      'tools/list': { tools: [{ name: 'old-echo', inputSchema: { type: 'object' } }] },
      'tools/call': { content: [{ type: 'text', text: JSON.stringify(params?.arguments) }] },
    };
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result: results[method] ?? {} })}\n`);
  });
}

function main(): void {
  if (process.argv.includes('--silent')) process.stdin.resume();
  else if (process.argv.includes('--legacy')) serveLegacy();
  else serveStdio(createTestServer);
}

if (/mcp\/server\.[jt]s$/.test(process.argv[1] ?? '')) main();
