/**
 * The official MCP client with the real server as a process of its own: `troupe mcp` on its pipes, or `troupe serve` behind
 * its address. Tools are called as a host calls them, whose names for them begin with the name it gave to the server.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Stream } from 'node:stream';
import {
  type CallToolResult,
  type Client,
  SdkError,
  SdkErrorCode,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { IDEMPOTENCY_META_KEY } from '../../../src/protocols/mcp/call.ts';
import { MAIN, type TestProject } from '../../e2e/support-project.ts';
import { connectClient, type Era } from '../mcp/fixture-http.ts';
import { PATIENCE_MS } from '../patience.ts';

const SERVER = 'builtin_assistant__';

/** The server died before it answered. */
export class ConnectionLost extends Error {}

export interface AssistantsClient extends AsyncDisposable {
  /** The process of the server. */
  readonly pid: number;
  /** The structured output of a tool; throws what a tool says is wrong. */
  callTool(name: string, input: object, key?: string): Promise<unknown>;
  /** The whole result, failures included. */
  result(name: string, input: object, key?: string): Promise<CallToolResult>;
}

export interface HttpServer extends AsyncDisposable {
  readonly pid: number;
  connect(era: Era, token?: string): Promise<AssistantsClient>;
}

/** A server of its own for this client, which ends with it. */
export async function connectStdio(project: TestProject, era: Era, args: readonly string[] = []): Promise<AssistantsClient> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [MAIN, '-C', project.folder, 'mcp', ...args],
    env: project.env,
    stderr: 'pipe',
  });
  const words = lastWords(transport.stderr);
  const client = await connectClient(era, transport).catch((error: unknown) => {
    throw new Error(`no connection: ${words()}`, { cause: error });
  });
  return asClient(client, transport.pid ?? 0, () => client.close());
}

export async function startHttp(project: TestProject, more: Readonly<Record<string, string>> = {}): Promise<HttpServer> {
  const child = spawn(process.execPath, [MAIN, '-C', project.folder, 'serve', '--port', '0'], {
    env: { ...project.env, ...more },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const url = await firstLine(child);
  const clients: AssistantsClient[] = [];
  return {
    pid: child.pid ?? 0,
    async connect(era, token) {
      const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
      const client = await connectClient(era, new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
      const made = asClient(client, child.pid ?? 0, () => client.close());
      clients.push(made);
      return made;
    },
    async [Symbol.asyncDispose]() {
      for (const client of clients) await client[Symbol.asyncDispose]();
      const ended = once(child, 'exit');
      if (child.kill('SIGTERM')) await ended;
    },
  };
}

async function firstLine({ stdout, stderr }: ChildProcess): Promise<string> {
  const words = lastWords(stderr);
  if (stdout !== null) for await (const line of createInterface({ input: stdout })) return line;
  throw new Error(`the server ended at once: ${words()}`);
}

/** What a server printed, to explain why it did not start. */
function lastWords(stderr: Stream | null): () => string {
  let text = '';
  stderr?.on('data', (chunk: Buffer) => {
    text = `${text}${chunk}`.slice(-2_000);
  });
  return () => text;
}

function asClient(client: Client, pid: number, close: () => Promise<void>): AssistantsClient {
  const result: AssistantsClient['result'] = async (name, input, key) => {
    const call = {
      name: name.startsWith(SERVER) ? name.slice(SERVER.length) : name,
      arguments: { ...input },
      ...(key === undefined ? {} : { _meta: { [IDEMPOTENCY_META_KEY]: key } }),
    };
    return await client.callTool(call, { timeout: PATIENCE_MS }).catch((error: unknown) => {
      throw isLost(error) ? new ConnectionLost(`the server was gone during ${name}`, { cause: error }) : error;
    });
  };
  return {
    pid,
    result,
    async callTool(name, input, key) {
      const answer = await result(name, input, key);
      if (answer.isError === true) throw new Error(textsOf(answer).join('\n'));
      return withoutWrapping(answer.structuredContent);
    },
    [Symbol.asyncDispose]: close,
  };
}

function isLost(error: unknown): boolean {
  if (error instanceof SdkError) return error.code === SdkErrorCode.ConnectionClosed || error.code === SdkErrorCode.NotConnected;
  return error instanceof Error && error.message === 'Not connected';
}

/** Where a revision has room for nothing but an object, an array travels in one. */
function withoutWrapping(output: unknown): unknown {
  const keys = typeof output === 'object' && output !== null ? Object.keys(output) : [];
  return keys.length === 1 && keys[0] === 'result' ? (output as { readonly result: unknown }).result : output;
}

export const textsOf = (result: CallToolResult): readonly string[] =>
  result.content.map((block) => (block.type === 'text' ? block.text : block.type));
