/** Whether the MCP servers start and say which tools they have: of the settings, of other tools' files, of agents' own. */

import type { LoadedAgent } from '../../agents/file/load.ts';
import { counted } from '../../base/wording.ts';
import type { Finding } from '../../front/project/finding.ts';
import type { ProjectConfig } from '../../project/config.ts';
import { type TriedServer, tryServers } from '../../project/servers/try-servers.ts';
import type { CommandContext } from '../terminal/command.ts';

export interface ServerFindingOptions {
  readonly config: ProjectConfig;
  readonly agents: readonly LoadedAgent[];
  /** Servers at an address are left alone. */
  readonly offline: boolean;
}

export async function serverFindings(context: CommandContext, options: ServerFindingOptions): Promise<readonly Finding[]> {
  const { config, offline } = options;
  const agents = options.agents.filter(({ disabled }) => !disabled).map(({ definition }) => definition);
  const tried = await tryServers(config, agents, { env: context.terminal.env, clock: context.clock, offline });
  return tried.map(findingOf);
}

function findingOf(tried: TriedServer): Finding {
  const by = tried.agent === undefined ? ` (${tried.file})` : ` (declared by the agent ${tried.agent})`;
  if (tried.kind === 'refused') return { about: 'mcp', state: 'note', text: `not started${by}: ${tried.reason}` };
  const about = `mcp ${tried.server}`;
  if (tried.kind === 'left') return { about, state: 'note', text: `not asked (--offline)${by}` };
  const { tools } = tried;
  if (tools.ok) return { about, state: 'good', text: `started, has ${counted(tools.value, 'tool')}${by}` };
  return { about, state: 'broken', text: `${tools.error}${by}`, fix: `correct its entry in ${tried.file}, or take it out` };
}
