/** Everything that can be known to be wrong before anything runs: the whole of `troupe check`. */

import { checkContextFiles } from './context-files.ts';
import { checkVerify } from './definition/check-verify.ts';
import type { AgentDefinition } from './definition/definition.ts';
import { checkToolNames } from './definition/tool-names.ts';
import { type DiscoverOptions, discoverAgents, gentler, type ShadowedAgent } from './discover.ts';
import type { LoadedAgent } from './file/load.ts';
import { checkGraph, type Edge, edges } from './graph.ts';
import { arrange, type Diagnostic } from './text/diagnostics.ts';

export interface ProjectCheckOptions extends DiscoverOptions {
  /** Names of the MCP servers in the project's configuration. */
  readonly mcpServers?: readonly string[] | undefined;
  /** The project's own permissions. */
  readonly permissions?: AgentDefinition['permissions'] | undefined;
}

export interface ProjectCheck {
  readonly agents: readonly LoadedAgent[];
  readonly shadowed: readonly ShadowedAgent[];
  readonly edges: readonly Edge[];
  readonly diagnostics: readonly Diagnostic[];
}

export async function checkProject(options: ProjectCheckOptions): Promise<ProjectCheck> {
  const { agents, shadowed, broken, diagnostics } = await discoverAgents(options);
  const servers = options.mcpServers ?? [];
  const tools = agents.flatMap(({ definition, origin, placeOf }) =>
    [...checkToolNames(definition, placeOf, servers), ...checkVerify(definition, placeOf, options.permissions)].map((one) =>
      gentler(origin, one),
    ),
  );
  const context = await checkContextFiles(options.projectRoot, agents);
  return {
    agents,
    shadowed,
    edges: edges(agents.map((agent) => agent.definition)),
    diagnostics: arrange([...diagnostics, ...tools, ...context, ...checkGraph(agents, broken)]),
  };
}
