/** Settings and agents as files, without opening the ledger: what `check`, `agents` and `doctor` look at. */
import { checkProject, type ProjectCheck } from '../../agents/check-project.ts';
import { parseMcpReference } from '../../agents/definition/tool-names.ts';
import { gentler } from '../../agents/discover.ts';
import { arrange, type Diagnostic, errorAt, warningAt } from '../../agents/text/diagnostics.ts';
import {
  loadConfig,
  type ProjectConfig,
  type SalvagedConfig,
  salvageConfig,
  serverNames,
  userFolder,
} from '../../project/config.ts';
import { createDeclaredServers, impossibleServers } from '../../project/servers/declared-servers.ts';
import { uselessDemands } from '../../project/useless-demands.ts';
import type { CommandContext } from '../terminal/command.ts';
import { checkModels } from './check-models.ts';

type Environment = CommandContext['terminal']['env'];

export interface CheckedFiles extends ProjectCheck {
  readonly root: string;
  readonly variables: readonly string[];
  readonly mcpServers: readonly string[];
}

/** Everything in one pass: problems of the settings do not hide those of the agents. */
export async function checkEverything({ cwd, clock, terminal: { env } }: CommandContext): Promise<CheckedFiles> {
  const loaded = await loadConfig({ cwd, env });
  if (loaded.ok) return await checkWith(loaded.value, env, clock);
  const { config, names, unreadable } = await salvageConfig({ cwd, env });
  const checked = await checkWith(config, env, clock, names);
  // What the settings may have named cannot be held against an agent.
  const sure = unreadable ? checked.diagnostics.filter(({ message }) => !NAMED_IN_SETTINGS.test(message)) : checked.diagnostics;
  return { ...checked, diagnostics: [...loaded.error, ...sure] };
}

const NAMED_IN_SETTINGS = /^unknown (MCP server|variable) |There is no model /;

async function checkWith(
  config: ProjectConfig,
  env: Environment,
  clock: CommandContext['clock'],
  names?: SalvagedConfig['names'],
): Promise<CheckedFiles> {
  const { root, permissions, named } = config;
  const variables = [...Object.keys(config.vars), ...(names?.vars ?? [])];
  const mcpServers = [...serverNames(config), ...(names?.mcp ?? [])];
  const options = { projectRoot: root, userConfigDir: userFolder(env), variables, mcpServers, permissions, named };
  const check = await checkProject(options);
  const models = checkModels(check.agents, { config, clock, known: names?.providers ?? [] });
  const foreign = [...config.foreign.diagnostics, ...(await checkForeign(check.agents, config, env, names?.mcp ?? []))];
  const own = [...checkServers(check.agents, permissions, env), ...uselessDemands(check.agents, config), ...foreign];
  return { ...check, diagnostics: [...arrange([...own, ...check.diagnostics]), ...models], root, variables, mcpServers };
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
