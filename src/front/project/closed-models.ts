/**
 * Models that nobody could ask from this shell, for want of a key or of such a provider: what `check` says of every file, and
 * what is said before a run of everybody that it may come to.
 */
import type { AgentDefinition } from '../../agents/definition/definition.ts';
import { hasOwnModels } from '../../agents/definition/executor.ts';
import { type EdgeKind, modelsGiven, modelsNamed, referencesOf } from '../../agents/definition/references.ts';
import type { Path } from '../../agents/text/yaml-map.ts';
import type { ProviderSources } from '../../models/provider/providers.ts';
import { modelProblem } from '../../models/reach.ts';

/** What an agent, or whoever it gives models to, would ask: the first of the list that answers. */
export interface AskedModels {
  readonly models: readonly string[];
  /** Where the agent's file says so. */
  readonly path: Path;
}

export function modelsAsked(agent: AgentDefinition): readonly AskedModels[] {
  return [
    { models: modelsNamed(agent), path: ['model'] },
    ...modelsGiven(agent).map(({ name, path }) => ({ models: [name], path })),
  ];
}

/** Why none of them can be asked; nothing of an empty list. */
export function closedModels(models: readonly string[], sources: ProviderSources): string | undefined {
  const problems = models.map((model) => modelProblem(model, sources));
  return problems.includes(undefined) ? undefined : problems[0];
}

export interface ClosedAgent {
  readonly agent: string;
  /** Who names it, and as what; the agent itself gives others models that cannot be asked where there is nobody. */
  readonly namedBy?: { readonly agent: string; readonly as: EdgeKind };
  readonly problem: string;
}

/** Everybody that the agent may come to, in any role and however deep, and who could ask nobody; each once. */
export function closedBelow(
  first: AgentDefinition,
  agents: readonly AgentDefinition[],
  sources: ProviderSources,
): readonly ClosedAgent[] {
  const byName = new Map(agents.map((agent) => [agent.name, agent]));
  const seen = new Set([first.name]);
  const found = new Map<string, ClosedAgent>();
  const reached = [first];
  for (const here of reached) {
    const own = here.dispatch?.model === undefined ? undefined : closedModels([here.dispatch.model], sources);
    if (own !== undefined) found.set(`${here.name} dispatch`, { agent: here.name, problem: own });
    for (const { target, kind, model } of referencesOf(here)) {
      const next = byName.get(target);
      if (next === undefined) continue;
      const asked = model === undefined || hasOwnModels(next) ? modelsNamed(next) : [model.name];
      const problem = closedModels(asked, sources);
      const known = found.has(target) || target === first.name;
      if (problem !== undefined && !known) found.set(target, { agent: target, namedBy: { agent: here.name, as: kind }, problem });
      if (seen.has(target)) continue;
      seen.add(target);
      reached.push(next);
    }
  }
  return [...found.values()];
}
