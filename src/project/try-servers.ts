/** Starts the MCP servers that runs here would start, asks each for its tools, and ends them again. */

import type { AgentDefinition } from '../agents/definition/definition.ts';
import type { Clock } from '../base/clock.ts';
import type { Environment } from '../base/environment.ts';
import type { Result } from '../base/result.ts';
import type { McpConnectOptions, McpServerConfig } from '../tools/mcp/connection.ts';
import { minimalEnvironment } from '../tools/shell/environment.ts';
import type { ProjectConfig } from './config.ts';
import { createDeclaredServers } from './declared-servers.ts';

export interface TryServersOptions {
  readonly env: Environment;
  readonly clock: Clock;
  /** Servers at an address are left alone. */
  readonly offline: boolean;
}

/** `agent`: whose file declares it; without one the settings do. */
export type TriedServer = { readonly agent?: string } & (
  | { readonly kind: 'tried'; readonly server: string; readonly tools: Result<number, string> }
  | { readonly kind: 'left'; readonly server: string }
  | { readonly kind: 'refused'; readonly reason: string }
);

export async function tryServers(
  config: ProjectConfig,
  agents: readonly AgentDefinition[],
  { env, clock, offline }: TryServersOptions,
): Promise<readonly TriedServer[]> {
  const options = { clock, folder: config.root };
  const tried = [...(await started(config.mcp, { ...options, environment: config.keyEnv }, offline))];
  const declared = createDeclaredServers(config, env);
  for (const agent of agents) {
    if (agent.mcp === undefined || Object.keys(agent.mcp).length === 0) continue;
    const reason = await declared.refusal(agent);
    const own: readonly TriedServer[] =
      reason === undefined
        ? await started(agent.mcp, { ...options, environment: minimalEnvironment(env) }, offline)
        : [{ kind: 'refused', reason }];
    tried.push(...own.map((one) => ({ ...one, agent: agent.name })));
  }
  return tried;
}

async function started(
  servers: Readonly<Record<string, McpServerConfig>>,
  options: McpConnectOptions,
  offline: boolean,
): Promise<readonly TriedServer[]> {
  const entries = Object.entries(servers);
  if (entries.length === 0) return [];
  const { createMcpServers } = await import('../tools/mcp/servers.ts');
  const live = createMcpServers(servers, options);
  try {
    return await Promise.all(
      entries.map(async ([server, config]): Promise<TriedServer> => {
        if (offline && 'url' in config) return { kind: 'left', server };
        const tools = await live.tools(server);
        return { kind: 'tried', server, tools: tools.ok ? { ok: true, value: tools.value.length } : tools };
      }),
    );
  } finally {
    await live.close();
  }
}
