/**
 * From the names in an agent's `tools:` list to the tools themselves. All that is wrong is reported at once. Names that
 * models see are unique and fit what providers accept.
 */

import { nearest } from '../base/did-you-mean.ts';
import { fail, ok, type Result } from '../base/result.ts';
import { sentence } from '../base/wording.ts';
import type { BuiltIns } from './built-ins.ts';
import { modelName } from './mcp/model-name.ts';
import type { McpServers } from './mcp/servers.ts';
import type { OrdinaryTool, Tool } from './port.ts';

export interface ToolsetRequest {
  /** Built-in names, `mcp:server` for all tools of a server, `mcp:server/tool` for one. */
  readonly names: readonly string[];
  readonly builtIns: BuiltIns;
  readonly mcp?: McpServers | undefined;
  /** Names already taken, such as sub-agents. */
  readonly reserved?: readonly string[] | undefined;
}

export interface ToolDiagnostic {
  /** The entry of the list that is wrong. */
  readonly name: string;
  readonly message: string;
  readonly fix?: string;
}

export async function createToolset(request: ToolsetRequest): Promise<Result<readonly Tool[], readonly ToolDiagnostic[]>> {
  const found = await Promise.all([...new Set(request.names)].map((name) => resolve(name, request)));
  const diagnostics = found.filter((one) => !one.ok).map(({ error }) => error);
  if (diagnostics.length > 0) return fail(diagnostics);
  const tools = new Map<string, Tool>();
  const taken = new Set(request.reserved ?? []);
  // Built-ins keep their names; MCP tools give way.
  const all = found.filter((one) => one.ok).flatMap(({ value }) => value);
  for (const tool of all.toSorted((left, right) => Number(isForeign(left)) - Number(isForeign(right)))) {
    const key = isForeign(tool) ? `${tool.origin.server}/${tool.origin.tool}` : tool.name;
    if (tools.has(key)) continue;
    const name = isForeign(tool) ? modelName(tool.origin.server, tool.origin.tool, taken) : tool.name;
    taken.add(name);
    tools.set(key, { ...tool, name });
  }
  return ok([...tools.values()]);
}

type ForeignTool = OrdinaryTool & { readonly origin: NonNullable<OrdinaryTool['origin']> };

function isForeign(tool: Tool): tool is ForeignTool {
  return tool.kind === undefined && tool.origin !== undefined;
}

type Resolved = Result<readonly Tool[], ToolDiagnostic>;

async function resolve(name: string, { builtIns, mcp }: ToolsetRequest): Promise<Resolved> {
  if (name.startsWith('mcp:')) return resolveMcp(name, mcp);
  const builtIn = builtIns.get(name);
  if (builtIn !== undefined) return ok([builtIn()]);
  return fail({ name, message: `There is no tool named ${JSON.stringify(name)}.`, fix: suggestion(name, [...builtIns.keys()]) });
}

async function resolveMcp(name: string, mcp: McpServers | undefined): Promise<Resolved> {
  const [server = '', ...rest] = name.slice('mcp:'.length).split('/');
  const wanted = rest.join('/');
  const servers = mcp?.names ?? [];
  if (mcp === undefined || !servers.includes(server)) {
    const message = `There is no MCP server named ${JSON.stringify(server)}.`;
    return fail({ name, message, fix: servers.length === 0 ? 'Declare it under `mcp:`.' : suggestion(server, servers) });
  }
  const tools = await mcp.tools(server);
  if (!tools.ok)
    return fail({ name, message: capitalised(sentence(tools.error)), fix: 'Check its command or address under `mcp:`.' });
  if (wanted === '' || wanted === '*') return ok(tools.value);
  const chosen = tools.value.filter((tool) => tool.origin?.tool === wanted);
  if (chosen.length > 0) return ok(chosen);
  const message = `The MCP server ${server} has no tool named ${JSON.stringify(wanted)}.`;
  return fail({
    name,
    message,
    fix: suggestion(
      wanted,
      tools.value.map((tool) => tool.name),
    ),
  });
}

function suggestion(name: string, known: readonly string[]): string {
  const near = nearest(name, known);
  if (near !== undefined) return `Did you mean ${JSON.stringify(near)}?`;
  return `Known are: ${known.slice(0, 20).join(', ')}${known.length > 20 ? ', …' : ''}.`;
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
