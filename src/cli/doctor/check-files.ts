/** Settings and agents as files, without opening the ledger: what `check`, `agents` and `doctor` look at. */
import { checkProject, type ProjectCheck } from '../../agents/check-project.ts';
import { gentler } from '../../agents/discover.ts';
import { arrange, type Diagnostic, errorAt } from '../../agents/text/diagnostics.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import { loadConfig, type ProjectConfig, userFolder } from '../../project/config.ts';
import { impossibleServers } from '../../project/declared-servers.ts';
import { uselessDemands } from '../../project/useless-demands.ts';
import type { CommandContext } from '../terminal/command.ts';
import { checkModels } from './check-models.ts';

type Environment = CommandContext['terminal']['env'];

export interface CheckedFiles extends ProjectCheck {
  readonly root: string;
  readonly variables: readonly string[];
}

/** Fails when the settings cannot be read: without them nobody knows which agents there are. */
export async function checkFiles({
  cwd,
  terminal: { env },
}: CommandContext): Promise<Result<CheckedFiles, readonly Diagnostic[]>> {
  const config = await loadConfig({ cwd, env });
  if (!config.ok) return fail(config.error);
  const { root, vars, mcp, permissions, named } = config.value;
  const variables = Object.keys(vars);
  const mcpServers = Object.keys(mcp);
  const options = { projectRoot: root, userConfigDir: userFolder(env), variables, mcpServers, permissions, named };
  const check = await checkProject(options);
  const models = checkModels(check.agents, { env, providers: config.value.providers });
  const own = [...checkServers(check.agents, permissions, env), ...uselessDemands(check.agents, config.value)];
  return ok({ ...check, diagnostics: [...arrange([...own, ...check.diagnostics]), ...models], root, variables });
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
