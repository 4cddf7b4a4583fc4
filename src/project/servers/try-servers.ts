/** Starts the MCP servers that runs here would start, asks each for its tools, and ends them again. */

import type { AgentDefinition } from '../../agents/definition/definition.ts';
import type { Clock } from '../../base/clock.ts';
import type { Environment } from '../../base/environment.ts';
import { ok, type Result } from '../../base/result.ts';
import type { McpConnectOptions, McpServerConfig } from '../../tools/mcp/connection.ts';
import { minimalEnvironment } from '../../tools/shell/environment.ts';
import type { ProjectConfig } from '../config.ts';
import { createDeclaredServers, neededServers } from './declared-servers.ts';

export interface TryServersOptions {
  readonly env: Environment;
  readonly clock: Clock;
  /** Servers at an address are left alone. */
  readonly offline: boolean;
}

/** `file` declares it; with an `agent` it is that one's own. */
export type TriedServer = { readonly file: string; readonly agent?: string } & (
  | Outcome
  | { readonly kind: 'refused'; readonly reason: string }
);

export async function tryServers(
  config: ProjectConfig,
  agents: readonly AgentDefinition[],
  { env, clock, offline }: TryServersOptions,
): Promise<readonly TriedServer[]> {
  const options = { clock, folder: config.root };
  const declared = createDeclaredServers(config, env);
  const tried: TriedServer[] = [];
  const mine: Record<string, McpServerConfig> = {};
  for (const [name, server] of Object.entries(config.mcp)) {
    const reason = await declared.ownRefusal(name);
    if (reason === undefined) mine[name] = server;
    else tried.push({ file: config.mcpFiles[name] ?? '', kind: 'refused', reason });
  }
  const own = await started(mine, { ...options, environment: config.keyEnv }, offline);
  tried.push(...own.map((one) => ({ ...one, file: config.mcpFiles[one.server] ?? '' })));
  for (const server of config.foreign.servers) {
    if (server.shadowedBy !== undefined) continue;
    const { file } = server.place;
    const reason = await declared.foreignRefusal(server.name);
    if (reason !== undefined || server.kind === 'refused') tried.push({ file, kind: 'refused', reason: reason ?? '' });
    else {
      const config = { [server.name]: server.started() };
      const outcome = await started(config, { ...options, environment: env, verbatim: true }, offline);
      tried.push(...outcome.map((one) => ({ ...one, file })));
    }
  }
  for (const agent of agents) {
    const said = { file: agent.source, agent: agent.name };
    // What its tools do not name is never started, so nobody is asked about it.
    const servers = Object.fromEntries(neededServers(agent));
    if (Object.keys(servers).length === 0) continue;
    const reason = await declared.refusal(agent);
    if (reason !== undefined) tried.push({ ...said, kind: 'refused', reason });
    else {
      const outcome = await started(servers, { ...options, environment: minimalEnvironment(env) }, offline);
      tried.push(...outcome.map((one) => ({ ...one, ...said })));
    }
  }
  return tried;
}

type Outcome =
  | { readonly kind: 'tried'; readonly server: string; readonly tools: Result<readonly string[], string> }
  | { readonly kind: 'left'; readonly server: string };

async function started(
  servers: Readonly<Record<string, McpServerConfig>>,
  options: McpConnectOptions,
  offline: boolean,
): Promise<readonly Outcome[]> {
  const entries = Object.entries(servers);
  if (entries.length === 0) return [];
  const { createMcpServers } = await import('../../tools/mcp/servers.ts');
  const live = createMcpServers(servers, options);
  try {
    return await Promise.all(
      entries.map(async ([server, config]): Promise<Outcome> => {
        if (offline && 'url' in config) return { kind: 'left', server };
        const tools = await live.tools(server);
        return { kind: 'tried', server, tools: tools.ok ? ok(tools.value.map((tool) => tool.name)) : tools };
      }),
    );
  } finally {
    await live.close();
  }
}
