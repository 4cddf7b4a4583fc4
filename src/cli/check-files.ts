/** Settings and agents as files, without opening the ledger: what `check`, `agents` and `doctor` look at. */
import { checkProject, type ProjectCheck } from '../agents/check-project.ts';
import type { Diagnostic } from '../agents/diagnostics.ts';
import { fail, ok, type Result } from '../base/result.ts';
import { loadConfig, userFolder } from '../project/config.ts';
import { checkModels } from './check-models.ts';
import type { CommandContext } from './command.ts';

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
  const { root, vars, mcp, permissions } = config.value;
  const variables = Object.keys(vars);
  const mcpServers = Object.keys(mcp);
  const check = await checkProject({ projectRoot: root, userConfigDir: userFolder(env), variables, mcpServers, permissions });
  const models = checkModels(check.agents, { env, providers: config.value.providers });
  return ok({ ...check, diagnostics: [...check.diagnostics, ...models], root, variables });
}
