/** Settings and agents as files, without opening the ledger: what `check`, `agents` and `doctor` look at. */
import { resolve } from 'node:path';
import { checkAgentFile, checkProject, type ProjectCheck } from '../../agents/check-project.ts';
import { parseMcpReference } from '../../agents/definition/tool-names.ts';
import { gentler } from '../../agents/discover.ts';
import { arrange, type Diagnostic, errorAt, warningAt } from '../../agents/text/diagnostics.ts';
import { present } from '../../base/present.ts';
import { defaultModel } from '../../front/project/models.ts';
import {
  loadConfig,
  type ProjectConfig,
  type SalvagedConfig,
  salvageConfig,
  serverNames,
  userFolder,
} from '../../project/config.ts';
import { executorNames } from '../../project/executors/lazy-executors.ts';
import { createDeclaredServers, impossibleServers } from '../../project/servers/declared-servers.ts';
import { uselessDemands } from '../../project/useless-demands.ts';
import type { CommandContext } from '../terminal/command.ts';
import { checkCardKey } from './check-card-key.ts';
import { checkExecutors } from './check-executors.ts';
import { checkModels } from './check-models.ts';
import { checkRemoteCosts } from './check-remote-costs.ts';

type Environment = CommandContext['terminal']['env'];

export interface CheckedFiles extends ProjectCheck {
  readonly root: string;
  /** What is wrong with presets: of the project's squad, and of the user's file. It is among the diagnostics too. */
  readonly presets: readonly Diagnostic[];
}

/**
 * Everything in one pass: problems of the settings do not hide those of the agents. `also` are files that may lie outside the
 * folders where agents are looked for: what is wrong with them is found in the same way.
 */
export async function checkEverything(context: CommandContext, also: readonly string[] = []): Promise<CheckedFiles> {
  const { cwd, terminal } = context;
  const places = { cwd, env: terminal.env };
  const loaded = await loadConfig(places);
  if (loaded.ok) return await checkWith(loaded.value, { context, also });
  const { config, names, unreadable } = await salvageConfig(places);
  const checked = await checkWith(config, { context, also, names });
  // What the settings may have named cannot be held against an agent.
  const sure = unreadable ? checked.diagnostics.filter(({ message }) => !NAMED_IN_SETTINGS.test(message)) : checked.diagnostics;
  return { ...checked, diagnostics: [...loaded.error, ...sure] };
}

const NAMED_IN_SETTINGS = /^unknown (MCP server|variable) |There is no model |^the price of /;

interface CheckNeeds {
  readonly context: CommandContext;
  readonly also: readonly string[];
  /** Of settings with problems. */
  readonly names?: SalvagedConfig['names'];
}

const NO_NAMES: SalvagedConfig['names'] = { mcp: [], vars: [], providers: [], prices: [] };

async function checkWith(config: ProjectConfig, { context, also, names = NO_NAMES }: CheckNeeds): Promise<CheckedFiles> {
  const { env } = context.terminal;
  const { root, permissions, named, namedAgents } = config;
  const variables = [...Object.keys(config.vars), ...names.vars];
  const mcpServers = [...serverNames(config), ...names.mcp];
  const rights = { mcpServers, permissions, named, namedAgents, inSettings: config.agents };
  const executors = await executorNames(config, env);
  const options = { projectRoot: root, userConfigDir: userFolder(env), variables, ...rights, ...present({ executors }) };
  const inFolders = await checkProject(options);
  const read = filesRead(root, inFolders);
  const outside = await Promise.all(
    also.filter((path) => !read.has(path)).map((path) => checkAgentFile(path, inFolders, options)),
  );
  const agents = [...inFolders.agents, ...outside.flatMap((one) => one.agents)];
  const salvaged = [...inFolders.salvaged, ...outside.flatMap((one) => one.salvaged)];
  // What is wrong in one place of a file hides nothing that is wrong in another.
  const readable = [...agents, ...salvaged];
  const chosen = await defaultModel(context.clock, config, true);
  const defaults = chosen.ok ? chosen.value.models : [];
  const models = checkModels(readable, { config, clock: context.clock, defaults, known: names });
  const costs = [...models, ...checkRemoteCosts(readable, config)];
  const foreign = [...config.foreign.diagnostics, ...(await checkForeign(readable, config, env, names.mcp))];
  const useless = uselessDemands(readable, config);
  const working = await checkExecutors(readable, config, env);
  const own = [...checkServers(readable, permissions, env), ...useless, ...(await checkCardKey(config)), ...foreign, ...working];
  const presets = await checkPresets(root, userFolder(env), mcpServers);
  const found = [...own, ...presets, ...inFolders.diagnostics, ...outside.flatMap((one) => one.diagnostics)];
  const edges = [...inFolders.edges, ...outside.flatMap((one) => one.edges)];
  return { ...inFolders, agents, salvaged, edges, diagnostics: [...arrange(found), ...costs], root, presets };
}

/** Groups that somebody could make from what lies here: what is wrong with them stops nothing else. */
async function checkPresets(root: string, userConfigDir: string, servers: readonly string[]): Promise<readonly Diagnostic[]> {
  const { readPresetFile, userPresetsFile } = await import('../../agents/presets/file.ts');
  const { readSquad } = await import('../../agents/squad/read.ts');
  const file = userPresetsFile(userConfigDir);
  const { warnings } = await readPresetFile(file, servers);
  const told = warnings.map((one) => warningAt({ file, line: 1, column: 1 }, one.replace(file, '').replace(/^: | /, '')));
  return [...(await readSquad(root)).warnings, ...told];
}

/** Whole paths of the files that were looked at, sound or not. */
function filesRead(root: string, { agents, shadowed, diagnostics }: ProjectCheck): ReadonlySet<string> {
  const sources = [...agents, ...shadowed.map(({ agent }) => agent)].map(({ definition }) => definition.source);
  return new Set([...sources, ...diagnostics.map(({ file }) => file)].map((file) => resolve(root, file)));
}

/** A server that every run would refuse is a mistake of the file that declares it. */
function checkServers(
  agents: ProjectCheck['agents'],
  permissions: ProjectConfig['permissions'],
  env: Environment,
): readonly Diagnostic[] {
  return agents.flatMap(({ definition, origin, placeOf }) =>
    impossibleServers(definition, permissions, env).map(({ server, problem }) =>
      gentler(origin, errorAt(placeOf(['mcp', server], 'key'), problem)),
    ),
  );
}

/** Servers of other tools' files that an agent names and that no run would start as things are. */
async function checkForeign(
  agents: ProjectCheck['agents'],
  config: ProjectConfig,
  env: Environment,
  known: readonly string[],
): Promise<readonly Diagnostic[]> {
  if (config.foreign.servers.length === 0) return [];
  const declared = createDeclaredServers(config, env);
  const found: Diagnostic[] = [];
  for (const { definition, origin, placeOf } of agents)
    for (const { name } of declared.foreignOf(definition)) {
      const refusal = known.includes(name) ? undefined : await declared.foreignRefusal(name);
      if (refusal === undefined) continue;
      const at = definition.tools?.findIndex((tool) => parseMcpReference(tool)?.server === name) ?? 0;
      // What is only not allowed yet is right as it is written.
      const isOpen = (await declared.open(definition)).some((one) => one.server === name);
      found.push(gentler(origin, (isOpen ? warningAt : errorAt)(placeOf(['tools', at]), refusal)));
    }
  return found;
}
