/** Agents for programs: a line for each, and what is wrong with their files. */
import type { ProjectCheck } from '../agents/check-project.ts';
import { hasOwnModels } from '../agents/definition/executor.ts';
import type { LoadedAgent } from '../agents/file/load.ts';
import { isError } from '../agents/text/diagnostics.ts';

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
