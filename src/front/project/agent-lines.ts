/** Agents for programs: a line for each, and what is wrong with their files. */
import { resolve } from 'node:path';
import type { ProjectCheck } from '../../agents/check-project.ts';
import { hasOwnModels } from '../../agents/definition/executor.ts';
import type { LoadedAgent } from '../../agents/file/load.ts';
import { isError } from '../../agents/text/diagnostics.ts';
import { readText } from '../../agents/text/read-text.ts';
import type { Project } from '../../project/project.ts';
import { shapeOf } from './graph-shape.ts';
import { serversOf } from './servers.ts';

export function agentLineOf({ definition, origin, disabled }: LoadedAgent) {
  const { name, remote, executor, source, description } = definition;
  return {
    ...{ name, origin, disabled, source, models: modelsHere(definition) },
    remote: remote?.card ?? null,
    executor: executor?.name ?? null,
    description: description ?? null,
  };
}

/** Whoever lives elsewhere, or in an executor, has models of its own, and nobody here knows which. */
export const modelsHere = (definition: LoadedAgent['definition']): string[] =>
  hasOwnModels(definition) ? [] : [...definition.models];

export function checkedValue({ agents, diagnostics }: Pick<ProjectCheck, 'agents' | 'diagnostics'>) {
  const errors = diagnostics.filter(isError).length;
  return {
    ok: errors === 0,
    agents: agents.length,
    errors,
    warnings: diagnostics.length - errors,
    diagnostics: [...diagnostics],
  };
}

export type AgentProject = Pick<Project, 'root' | 'config' | 'servers' | 'agents'>;

/** One agent with all that its file says, what is wrong with it, and whom it reaches. `undefined` when there is none. */
export async function readAgent({ root, config, servers, agents: read }: AgentProject, name: string) {
  const { agents, salvaged, edges, diagnostics } = await read();
  const sound = agents.find(({ definition }) => definition.name === name);
  const agent = sound ?? salvaged.find(({ definition }) => definition.name === name);
  if (agent === undefined) return undefined;
  const { definition, origin } = agent;
  const text = await readText(resolve(root, definition.source));
  const names = agents.map((one) => one.definition.name);
  return {
    ...definition,
    models: modelsHere(definition),
    origin,
    uses: edges.filter(({ from }) => from === name),
    servers: await serversOf(config, agent, servers),
    sound: sound !== undefined,
    text: text.ok ? text.value : null,
    diagnostics: diagnostics.filter(({ file }) => file === definition.source),
    reaches: shapeOf(names, edges, name),
    namedBy: edges.filter(({ to }) => to === name),
  };
}

/** Who may call whom. */
export async function readAgentGraph({ agents: read }: Pick<AgentProject, 'agents'>, from: string | undefined) {
  const { agents, edges } = await read();
  const names = agents.map(({ definition }) => definition.name);
  if (from !== undefined && !names.includes(from)) return undefined;
  return { agents: agents.map(agentLineOf), ...shapeOf(names, edges, from) };
}
