/** Which agents can make commands run on this machine, and by what. */
import type { AgentDefinition } from '../agents/definition/definition.ts';
import { parseMcpReference } from '../agents/definition/tool-names.ts';
import { decide } from '../tools/permissions.ts';
import type { ProjectConfig } from './config.ts';

type Settings = Pick<ProjectConfig, 'permissions' | 'mcp' | 'foreign' | 'verify'>;

/** In words for an error; `undefined` when it cannot. */
export function commandsOf(agent: AgentDefinition, { permissions, mcp, foreign, verify }: Settings): string | undefined {
  const { tools = [], executor } = agent;
  // What it runs itself it need not ask for, whatever the rules say.
  if (executor !== undefined) return `the executor ${executor.name}`;
  const shell = { name: 'shell', replay: 'never' } as const;
  if (tools.includes('shell') && decide(shell, agent.permissions, permissions) !== 'deny') return 'its tool shell';
  const ofOthers = foreign.servers.flatMap((one) =>
    one.kind === 'sound' && one.shadowedBy === undefined ? [[one.name, one.declared] as const] : [],
  );
  const servers = { ...Object.fromEntries(ofOthers), ...mcp, ...agent.mcp };
  for (const name of tools) {
    const { server } = parseMcpReference(name) ?? {};
    const config = server === undefined ? undefined : servers[server];
    if (config !== undefined && 'command' in config) return `the MCP server ${server}`;
  }
  return (agent.verify ?? verify) === undefined ? undefined : 'what it is verified with';
}
