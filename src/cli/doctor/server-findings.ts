/** Whether the MCP servers start and say which tools they have: of the settings, of other tools' files, of agents' own. */

import type { LoadedAgent } from '../../agents/file/load.ts';
import { formatDiagnostic } from '../../agents/text/diagnostics.ts';
import { counted } from '../../base/wording.ts';
import type { Finding } from '../../front/project/finding.ts';
import type { ProjectConfig } from '../../project/config.ts';
import { vainInAgent, vainInSettings } from '../../project/servers/named-rights.ts';
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
  const agents = options.agents.filter(({ disabled }) => !disabled);
  const definitions = agents.map(({ definition }) => definition);
  const tried = await tryServers(config, definitions, { env: context.terminal.env, clock: context.clock, offline });
  return [...tried.map(findingOf), ...vainRights(config, agents, tried)];
}

/** Rights for tools that a server does not have, as a run would refuse them. */
function vainRights(config: ProjectConfig, agents: readonly LoadedAgent[], tried: readonly TriedServer[]): readonly Finding[] {
  const listed = tried.flatMap((one) =>
    one.kind === 'tried' && one.tools.ok ? [{ name: one.server, tools: one.tools.value, agent: one.agent }] : [],
  );
  const shared = listed.filter(({ agent }) => agent === undefined);
  const said = [
    ...vainInSettings(config.named, listed).map(formatDiagnostic),
    ...agents.flatMap(({ definition: agent, serverRights }) => {
      const own = listed.filter((one) => one.agent === agent.name);
      const others = shared.filter(({ name }) => own.every((one) => one.name !== name));
      return vainInAgent(agent, [...own, ...others], serverRights);
    }),
  ];
  const fix = 'correct the name: a right that stands for nothing may have been meant as a ban, so that no run begins with it';
  return [...new Set(said)].map((text) => ({ about: 'permissions', state: 'broken', text, fix }));
}

function findingOf(tried: TriedServer): Finding {
  const by = tried.agent === undefined ? ` (${tried.file})` : ` (declared by the agent ${tried.agent})`;
  if (tried.kind === 'refused') return { about: 'mcp', state: 'note', text: `not started${by}: ${tried.reason}` };
  const about = `mcp ${tried.server}`;
  if (tried.kind === 'left') return { about, state: 'note', text: `not asked (--offline)${by}` };
  const { tools } = tried;
  if (tools.ok) return { about, state: 'good', text: `started, has ${counted(tools.value.length, 'tool')}${by}` };
  return { about, state: 'broken', text: `${tools.error}${by}`, fix: `correct its entry in ${tried.file}, or take it out` };
}
