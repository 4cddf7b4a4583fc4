/** Which models the agents here would use, and why: what agents name themselves, and what those get that name none. */

import { modelsGiven, modelsNamed } from '../../agents/definition/references.ts';
import type { LoadedAgent } from '../../agents/file/load.ts';
import { ok, type Result } from '../../base/result.ts';
import { counted } from '../../base/wording.ts';
import { defaultModel, type UsedModels } from '../../front/project/models.ts';
import type { ProjectConfig } from '../../project/config.ts';
import type { CommandContext } from '../terminal/command.ts';

interface UsedOptions {
  readonly config: ProjectConfig;
  readonly agents: readonly LoadedAgent[];
  readonly offline: boolean;
}

/** Fails when there is an agent without a model, or no agent, and nothing that could be used by default. */
export async function usedModels(context: CommandContext, options: UsedOptions): Promise<Result<readonly UsedModels[], string>> {
  const agents = options.agents.filter(({ disabled }) => !disabled).map(({ definition }) => definition);
  const named = new Map<string, { readonly models: readonly string[]; readonly by: string[] }>();
  const add = (models: readonly string[], by: string): void => {
    const key = models.join('\n');
    const known = named.get(key) ?? { models, by: [] };
    known.by.push(by);
    named.set(key, known);
  };
  for (const definition of agents) {
    const { name } = definition;
    const models = modelsNamed(definition);
    if (models.length > 0) add(models, name);
    for (const { name: model, path } of modelsGiven(definition)) add([model], `${name} under ${String(path[0])}`);
  }
  const own = [...named.values()].map(({ models, by: [first = '', ...others] }) => ({
    models,
    why: `named by the agent ${first}${others.length === 0 ? '' : ` and in ${counted(others.length, 'more place')}`}`,
  }));
  if (agents.length > 0 && agents.every(({ models }) => models.length > 0)) return ok(own);
  const chosen = await defaultModel(context.clock, options.config, options.offline);
  return chosen.ok ? ok([chosen.value, ...own]) : chosen;
}
