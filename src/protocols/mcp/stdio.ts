/** The MCP server over two streams: one client, which is whoever started us. It ends when the client closes its side. */
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import type { McpServer } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { limits } from '../../base/limits.ts';
import { boundedLines, requestIdOf } from './bounded-lines.ts';
import type { McpCaller, McpNeeds } from './needs.ts';
import { createMcpServer } from './server.ts';

const INVALID_REQUEST = -32_600;

export interface StdioOptions {
  readonly needs: Omit<McpNeeds, 'stopping'>;
  readonly caller: McpCaller;
  readonly input: Readable;
  readonly output: Writable;
  /** Aborts when we are to stop. */
  readonly signal: AbortSignal;
  onError(error: Error): void;
}

/** Resolves when the client has gone or `signal` has aborted, and everything is closed. */
export async function serveMcpStdio({ needs, caller, input, output, signal, onError }: StdioOptions): Promise<void> {
  const stopping = new AbortController();
  const servers = new Set<McpServer>();
  const over = new AbortController();
  const ended = once(over.signal, 'abort');
  // Before the transport listens: what it aborts was not called off by the client.
  const end = (): void => {
    stopping.abort();
    over.abort();
  };
  for (const event of ['end', 'close', 'error']) input.once(event, end);
  for (const event of ['close', 'error']) output.once(event, end);
  signal.addEventListener('abort', end, { once: true });
  if (signal.aborted) end();

  const lines = boundedLines(limits.mcpMessageBytes, (line) => {
    const message = `A message is longer than ${limits.mcpMessageBytes} bytes (limit mcpMessageBytes) and was not read`;
    onError(new Error(message));
    // A client that waits for an answer learns that none will come, if it can be told which request it was.
    const id = requestIdOf(line);
    if (id !== undefined) output.write(`${JSON.stringify({ jsonrpc: '2.0', id, error: { code: INVALID_REQUEST, message } })}\n`);
  });
  // Twice the room: several whole lines may come at once.
  const transport = new StdioServerTransport(input.pipe(lines), output, { maxBufferSize: 2 * limits.mcpMessageBytes });
  const handle = serveStdio(
    () => {
      const server = createMcpServer({ ...needs, stopping: stopping.signal }, { caller, abortMeansCancel: true });
      servers.add(server);
      return server;
    },
    { transport, onerror: onError },
  );
  const endWatch = needs.agents.onChange(() => {
    for (const server of servers) {
      if (!server.isConnected()) continue;
      server.sendPromptListChanged();
      server.sendResourceListChanged();
    }
  });
  if (!over.signal.aborted) await ended;
  endWatch();
  await handle.close();
  // An input that is still read keeps the process alive.
  input.unpipe(lines);
  input.pause();
}
