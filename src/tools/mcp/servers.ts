/**
 * MCP servers as providers of tools. One server is started once per project, when its tools are first needed, and shared
 * by every agent. A server that died is started again by the next call, once per call; what it was doing is not repeated.
 */

import type { Tool as RemoteTool } from '@modelcontextprotocol/client';
import { messageOf } from '../../base/errors.ts';
import { isJsonObject, type Json } from '../../base/json.ts';
import { limits } from '../../base/limits.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import { sentence } from '../../base/wording.ts';
import { errorResult, type OrdinaryTool, type ToolContext, type ToolOutcome } from '../port.ts';
import { connectMcp, type McpConnection, type McpConnectOptions, type McpServerConfig } from './connection.ts';
import { toolOutcomeOf } from './content.ts';

export interface McpServers {
  readonly names: readonly string[];
  /** The tools of one server, by their names there. Starts the server if it is not running. */
  tools(server: string): Promise<Result<readonly OrdinaryTool[], string>>;
  close(): Promise<void>;
}

const DESCRIPTION_CHARACTERS = 4_000;
/** The call's own signal is what ends it. */
const NO_TIMEOUT_MS = 2_147_483_647;

export function createMcpServers(configs: Readonly<Record<string, McpServerConfig>>, options: McpConnectOptions): McpServers {
  const servers = new Map(Object.entries(configs).map(([name, config]) => [name, createServer(name, config, options)]));
  return {
    names: [...servers.keys()],
    tools: async (name) => servers.get(name)?.tools() ?? fail(`there is no MCP server named ${JSON.stringify(name)}`),
    close: async () => {
      await Promise.all([...servers.values()].map((server) => server.close()));
    },
  };
}

function createServer(name: string, config: McpServerConfig, options: McpConnectOptions) {
  let connecting: Promise<Result<McpConnection, string>> | undefined;
  const closing = new AbortController();
  const listed = new WeakMap<McpConnection, Promise<Result<readonly OrdinaryTool[], string>>>();

  const start = async (): Promise<Result<McpConnection, string>> => {
    const refusal = await options.mayStart?.(name);
    return refusal === undefined ? await connectMcp(config, options, closing.signal) : fail(refusal);
  };
  /** The running connection, or a new one. Calls that come together share it: only the first finds the old one in place. */
  const connection = async (): Promise<Result<McpConnection, string>> => {
    if (closing.signal.aborted) return fail('the MCP servers were closed');
    const used = connecting;
    const current = await used;
    if (current?.ok === true && current.value.alive()) return current;
    if (connecting === undefined || connecting === used) connecting = start();
    return connecting;
  };
  const drop = async (used: McpConnection): Promise<void> => {
    const current = await connecting;
    if (current?.ok === true && current.value === used) connecting = undefined;
    await used.close();
  };

  const call = async (tool: string, input: Json, context: ToolContext): Promise<ToolOutcome> => {
    const live = await connection();
    if (!live.ok) return errorResult(`The MCP server ${name} could not be started: ${sentence(live.error)}`);
    try {
      const result = await live.value.client.callTool(
        {
          name: tool,
          arguments: { ...(isJsonObject(input) ? input : {}) },
          _meta: { 'troupe/idempotency-key': context.idempotencyKey },
        },
        { signal: context.signal, timeout: NO_TIMEOUT_MS },
      );
      return toolOutcomeOf(result);
    } catch (error) {
      if (context.signal.aborted) return errorResult('The call was stopped before the server answered.');
      if (!(await isAnswer(error))) await drop(live.value);
      return errorResult(failureText(name, error, live.value));
    }
  };

  const list = async ({ client }: McpConnection): Promise<Result<readonly OrdinaryTool[], string>> => {
    try {
      const { tools } = await client.listTools(undefined, { timeout: options.startMs ?? limits.mcpStartMs });
      if (tools.length > limits.mcpToolsPerServer) {
        return fail(
          `the MCP server ${name} has ${tools.length} tools, more than ${limits.mcpToolsPerServer} (mcpToolsPerServer)`,
        );
      }
      return ok(tools.map((tool) => toolOf(name, tool, call)));
    } catch (error) {
      return fail(`the tools of the MCP server ${name} could not be listed: ${messageOf(error)}`);
    }
  };

  return {
    /** Asked for once per connection, however many runs start. */
    tools: async (): Promise<Result<readonly OrdinaryTool[], string>> => {
      const live = await connection();
      if (!live.ok) return fail(`the MCP server ${name} could not be started: ${live.error}`);
      const known = listed.get(live.value) ?? list(live.value);
      listed.set(live.value, known);
      const tools = await known;
      if (!tools.ok) listed.delete(live.value);
      return tools;
    },
    close: async (): Promise<void> => {
      closing.abort(new Error('the MCP servers were closed'));
      const last = await connecting;
      if (last?.ok === true) await last.value.close();
    },
  };
}

type Call = (tool: string, input: Json, context: ToolContext) => Promise<ToolOutcome>;

function toolOf(server: string, remote: RemoteTool, call: Call): OrdinaryTool {
  const { readOnlyHint, idempotentHint } = remote.annotations ?? {};
  const inputSchema: unknown = remote.inputSchema;
  return {
    name: remote.name,
    description: (remote.description ?? remote.title ?? '').slice(0, DESCRIPTION_CHARACTERS),
    inputSchema: isJsonObject(inputSchema) ? inputSchema : { type: 'object' },
    replay: readOnlyHint === true || idempotentHint === true ? 'safe' : 'never',
    ...(readOnlyHint === true ? { readOnly: true } : {}),
    origin: { server, tool: remote.name },
    run: (input, context) => call(remote.name, input, context),
  };
}

/** An error that the server itself sent: the connection is sound. */
async function isAnswer(error: unknown): Promise<boolean> {
  const { ProtocolError } = await import('@modelcontextprotocol/client');
  return error instanceof ProtocolError;
}

function failureText(name: string, error: unknown, connection: McpConnection): string {
  const lastWords = connection.alive() ? '' : connection.lastWords();
  return `The MCP server ${name} failed: ${messageOf(error)}${lastWords === '' ? '' : ` (${lastWords})`}`;
}
