/** What is said under `permissions` about tools of MCP servers, held against the tools that these have. */

import type { NamedPlace } from '../../agents/check-project.ts';
import type { AgentDefinition } from '../../agents/definition/definition.ts';
import { parseMcpReference } from '../../agents/definition/tool-names.ts';
import { type Diagnostic, errorAt, formatDiagnostic, spellOut } from '../../agents/text/diagnostics.ts';
import { type KnownServer, vainRights } from '../../tools/mcp/rights.ts';
import type { McpServers } from '../../tools/mcp/servers.ts';

/** Files of other tools name tools that they have and Troupe has not. */
const FOREIGN = /^\.(?:claude|opencode)\//;

/** Of the settings, those that stand for nothing. */
export function vainInSettings(named: readonly NamedPlace[], servers: readonly KnownServer[]): readonly Diagnostic[] {
  const problems = vainRights([...new Set(named.map(({ name }) => name))], merged(servers));
  return problems.flatMap(({ right, message, fix }) => {
    const at = named.find(({ name }) => name === right);
    return at === undefined ? [] : [errorAt(at.place, message, fix)];
  });
}

/** Servers of several agents may have the same name. */
function merged(servers: readonly KnownServer[]): readonly KnownServer[] {
  const names = [...new Set(servers.map(({ name }) => name))];
  return names.map((name) => ({ name, tools: servers.filter((one) => one.name === name).flatMap(({ tools }) => tools) }));
}

/** Of an agent's file. */
export function vainInAgent({ source, permissions }: AgentDefinition, servers: readonly KnownServer[]): readonly string[] {
  if (FOREIGN.test(source)) return [];
  return vainRights(Object.keys(permissions ?? {}), servers).map(({ message, fix }) =>
    spellOut(`${source}: ${message}${fix === undefined ? '' : `. ${fix}`}`),
  );
}

/** All that is in vain about the servers that an agent uses; it does not run with it, since it may have been meant as a ban. */
export async function vainRightsOf(
  agent: AgentDefinition,
  named: readonly NamedPlace[],
  servers: McpServers,
): Promise<readonly string[]> {
  const used = (agent.tools ?? []).flatMap((name) => parseMcpReference(name)?.server ?? []);
  const listed = await Promise.all(
    [...new Set(used)].map(async (name): Promise<readonly KnownServer[]> => {
      const tools = await servers.tools(name);
      return tools.ok ? [{ name, tools: tools.value.map((tool) => tool.origin?.tool ?? tool.name) }] : [];
    }),
  );
  const all = listed.flat();
  return [...vainInAgent(agent, all), ...vainInSettings(named, all).map(formatDiagnostic)];
}
