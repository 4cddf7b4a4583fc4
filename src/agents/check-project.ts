/** Everything that can be known to be wrong before anything runs: the whole of `troupe check`. */

import { join } from 'node:path';
import { suggest } from '../base/did-you-mean.ts';
import { present } from '../base/present.ts';
import { checkContextFiles, contextFilesOf } from './context-files.ts';
import { checkVerify } from './definition/check-verify.ts';
import type { AgentDefinition } from './definition/definition.ts';
import { checkToolNames, type KnownTools, type NamedRight, permissionProblem } from './definition/tool-names.ts';
import { type DiscoverOptions, discoverAgents, gentler, type ShadowedAgent } from './discover.ts';
import { type LoadedAgent, loadAgent, type SalvagedAgent, salvageAgent } from './file/load.ts';
import { checkGraph, type Edge, edges } from './graph.ts';
import { arrange, type Diagnostic, errorAt, quote, type SourcePlace } from './text/diagnostics.ts';

export interface ProjectCheckOptions extends DiscoverOptions {
  /** Names of the MCP servers in the project's configuration. */
  readonly mcpServers?: readonly string[] | undefined;
  /** Of the settings, the project's and the user's. */
  readonly permissions?: readonly NonNullable<AgentDefinition['permissions']>[] | undefined;
  /** Where in the settings they stand. */
  readonly named?: readonly NamedPlace[] | undefined;
  /** Agents that the project's settings name. */
  readonly namedAgents?: readonly NamedAgent[] | undefined;
  /** Names of executors, where they are known. */
  readonly executors?: readonly string[] | undefined;
  /** Tools that a program has brought along. */
  readonly brought?: readonly string[] | undefined;
}

export interface NamedPlace extends NamedRight {
  readonly place: SourcePlace;
}

/** An agent that the settings name, and where. */
export interface NamedAgent {
  readonly name: string;
  /** Such as `serve.commands`. */
  readonly key: string;
  readonly place: SourcePlace;
}

export interface ProjectCheck {
  readonly agents: readonly LoadedAgent[];
  /** What could be read of files with problems: to find what else is wrong, never to run. */
  readonly salvaged: readonly LoadedAgent[];
  readonly shadowed: readonly ShadowedAgent[];
  readonly edges: readonly Edge[];
  readonly diagnostics: readonly Diagnostic[];
  /** Files that agents take in or name, sound or not, found or not. */
  readonly included: readonly string[];
  /** What of that is wrong in the settings: with it no agent runs, because a right that has no effect may have been a ban. */
  readonly settings: readonly Diagnostic[];
}

export async function checkProject(options: ProjectCheckOptions): Promise<ProjectCheck> {
  const { agents, shadowed, broken, salvaged, diagnostics } = await discoverAgents(options);
  const known = { servers: options.mcpServers ?? [], brought: options.brought };
  const tools = [
    ...agents.flatMap((agent) => checkRights(agent, known, options.permissions)),
    ...salvaged.flatMap((agent) => checkSalvaged(agent, known, options.permissions)),
  ];
  const servers = [
    ...known.servers,
    ...agents.flatMap(({ definition }) => Object.keys(definition.mcp ?? {})),
    ...salvaged.flatMap((agent) => agent.servers),
  ];
  const settings = settingsProblems(options.named ?? [], { ...known, servers });
  const context = await checkContextFiles(options.projectRoot, [...agents, ...salvaged]);
  const graph = checkGraph(agents, broken, salvaged, options.executors);
  const named = missingInSettings(options.namedAgents ?? [], agents, broken);
  return {
    agents,
    salvaged,
    shadowed,
    edges: edges(agents.map((agent) => agent.definition)),
    diagnostics: arrange([...settings, ...named, ...diagnostics, ...tools, ...context, ...graph]),
    included: [...agents, ...salvaged].flatMap((agent) => filesOfAgent(options.projectRoot, agent)),
    settings,
  };
}

function missingInSettings(
  named: readonly NamedAgent[],
  agents: readonly LoadedAgent[],
  broken: ReadonlySet<string>,
): readonly Diagnostic[] {
  const names = agents.map(({ definition }) => definition.name);
  return named
    .filter(({ name }) => !names.includes(name) && !broken.has(name))
    .map(({ name, key, place }) => {
      const fix = suggest(name, names, 'agents') ?? 'Write a file for it in the agents folder.';
      return errorAt(place, `there is no agent ${quote(name)} (named in ${quote(key)})`, fix);
    });
}

/** What it takes in, and what its group is given. */
export function filesOfAgent(root: string, { included = [], definition }: LoadedAgent): readonly string[] {
  return [...included, ...contextFilesOf(definition).map(({ file }) => join(root, file))];
}

/** A file outside the folders where agents are looked for, as `run` would take it, beside all that are in them. */
export async function checkAgentFile(
  path: string,
  { agents: others }: Pick<ProjectCheck, 'agents'>,
  options: ProjectCheckOptions,
): Promise<Pick<ProjectCheck, 'agents' | 'salvaged' | 'edges' | 'diagnostics'>> {
  const file = { path, root: options.projectRoot, ...present({ variables: options.variables }) };
  const known = { servers: options.mcpServers ?? [], brought: options.brought };
  const loaded = await loadAgent(file);
  if (!loaded.ok) {
    const rest = await salvageAgent(file);
    if (rest === undefined) return { agents: [], salvaged: [], edges: [], diagnostics: loaded.error };
    const { name, source } = rest.definition;
    const beside = others.filter(({ definition }) => definition.name !== name);
    const references = checkGraph(beside, new Set([name]), [rest], options.executors).filter(({ file: at }) => at === source);
    const context = await checkContextFiles(options.projectRoot, [rest]);
    const own = [...loaded.error, ...checkSalvaged(rest, known, options.permissions), ...context, ...references];
    return { agents: [], salvaged: [rest], edges: [], diagnostics: arrange(own) };
  }
  const agent = loaded.value;
  const { source, name } = agent.definition;
  // It takes the place of one that has the same name.
  const beside = others.filter(({ definition }) => definition.name !== name);
  const references = checkGraph([...beside, agent], new Set(), [], options.executors).filter(({ file: at }) => at === source);
  const context = await checkContextFiles(options.projectRoot, [agent]);
  const own = [...agent.diagnostics, ...checkRights(agent, known, options.permissions), ...context, ...references];
  return { agents: [agent], salvaged: [], edges: edges([agent.definition]), diagnostics: arrange(own) };
}

/** What is wrong about the tools that an agent names, and what it may do with them. */
export function checkRights(
  { definition, origin, placeOf }: LoadedAgent,
  known: KnownTools,
  permissions: readonly NonNullable<AgentDefinition['permissions']>[] = [],
): readonly Diagnostic[] {
  const problems = [...checkToolNames(definition, placeOf, known), ...checkVerify(definition, placeOf, permissions)];
  return problems.map((one) => gentler(origin, one));
}

/** A server whose declaration is refused is declared all the same. */
function checkSalvaged(
  agent: SalvagedAgent,
  known: KnownTools,
  permissions: ProjectCheckOptions['permissions'],
): readonly Diagnostic[] {
  return checkRights(agent, { ...known, servers: [...known.servers, ...agent.servers] }, permissions);
}

/** Names and patterns in the settings that stand for nothing. */
export function settingsProblems(named: readonly NamedPlace[], known: KnownTools): readonly Diagnostic[] {
  return named.flatMap(({ place, ...right }) => {
    const problem = permissionProblem(right, known);
    return problem === undefined ? [] : [errorAt(place, `${problem.message} in "permissions"`, problem.fix)];
  });
}
