/** The project's own files that something declared names as what it runs: MCP servers, of whatever file, and executors. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { AgentDefinition } from '../../agents/definition/definition.ts';
import type { Environment } from '../../base/environment.ts';
import type { McpServerConfig } from '../../tools/mcp/connection.ts';
import type { ProjectConfig } from '../config.ts';
import { type CommandLine, namedPaths } from './named-files.ts';

export interface ServerFiles {
  /** Their files name servers, too. */
  learn(agents: readonly AgentDefinition[]): void;
  /** Whether they are there or not: whoever makes one makes what is run. */
  paths(): Promise<readonly string[]>;
}

type Line = CommandLine & { readonly cwd?: string | undefined };

export function createServerFiles(
  { root, mcp, foreign }: Pick<ProjectConfig, 'root' | 'mcp' | 'foreign'>,
  env: Environment,
): ServerFiles {
  const ofAgents = new Map<string, McpServerConfig>();
  const ofFiles = foreign.servers.flatMap((one) => (one.kind === 'sound' ? [one.declared] : []));
  return {
    learn(agents) {
      for (const server of agents.flatMap((agent) => Object.values(agent.mcp ?? {})))
        ofAgents.set(JSON.stringify(server), server);
    },
    async paths() {
      const servers = [...Object.values(mcp), ...ofFiles, ...ofAgents.values()];
      const lines: Line[] = [...servers.flatMap((one) => ('command' in one ? [one] : [])), ...(await executorLines(root, env))];
      const found = new Set<string>();
      for (const line of lines) for (const path of await namedPaths(root, resolve(root, line.cwd ?? '.'), line)) found.add(path);
      return [...found];
    },
  };
}

/** Read anew: most projects have none. */
async function executorLines(root: string, env: Environment): Promise<readonly Line[]> {
  const { executorFilesOf, readExecutorFiles } = await import('../executors/executors-file.ts');
  if (!executorFilesOf(root, env).some((file) => existsSync(file))) return [];
  const files = await readExecutorFiles(root, env);
  return files.flatMap(({ layer }) =>
    Object.values(layer.fields).flatMap(({ command: [command, ...args] = [] }) =>
      command === undefined ? [] : [{ command, args }],
    ),
  );
}
