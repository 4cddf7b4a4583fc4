/** Settings and agents as files, without opening the ledger: what `check`, `agents` and `doctor` look at. */
import { checkProject, type ProjectCheck } from '../../agents/check-project.ts';
import { gentler } from '../../agents/discover.ts';
import { arrange, type Diagnostic, errorAt } from '../../agents/text/diagnostics.ts';
import { loadConfig, type ProjectConfig, type SalvagedConfig, salvageConfig, userFolder } from '../../project/config.ts';
import { impossibleServers } from '../../project/declared-servers.ts';
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
  const mcpServers = [...Object.keys(config.mcp), ...(names?.mcp ?? [])];
  const options = { projectRoot: root, userConfigDir: userFolder(env), variables, mcpServers, permissions, named };
  const check = await checkProject(options);
  const models = checkModels(check.agents, { config, clock, known: names?.providers ?? [] });
  const own = [...checkServers(check.agents, permissions, env), ...uselessDemands(check.agents, config)];
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
