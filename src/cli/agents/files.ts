/** What the commands about agents work with: the settings, and the agent files as they are. */
import { checkProject, type ProjectCheck } from '../../agents/check-project.ts';
import { formatDiagnostic } from '../../agents/text/diagnostics.ts';
import { TroupeError } from '../../base/errors.ts';
import { loadConfig, type ProjectConfig, serverNames, userFolder } from '../../project/config.ts';
import type { CommandContext } from '../terminal/command.ts';

export interface AgentFilesHere extends ProjectCheck {
  readonly root: string;
  /** Where state lives. */
  readonly home: string;
  /** Where the user's own agents are, in a folder of the same name. */
  readonly userFolder: string;
  readonly variables: readonly string[];
  readonly mcpServers: readonly string[];
}

export async function settingsOf({ cwd, terminal: { env } }: CommandContext): Promise<ProjectConfig> {
  const config = await loadConfig({ cwd, env });
  if (config.ok) return config.value;
  throw new TroupeError('config', config.error.map(formatDiagnostic).join('\n'), { fix: 'correct the settings and try again' });
}

export async function readAgentFiles(context: CommandContext): Promise<AgentFilesHere> {
  const settings = await settingsOf(context);
  const { root, home, vars, permissions } = settings;
  const user = userFolder(context.terminal.env);
  const variables = Object.keys(vars);
  const mcpServers = serverNames(settings);
  const inSettings = settings.agents;
  const check = await checkProject({ projectRoot: root, userConfigDir: user, variables, mcpServers, permissions, inSettings });
  return { ...check, root, home, userFolder: user, variables, mcpServers };
}
