/**
 * Whether everybody who is sure to be asked has a model that can be: looked at before a run starts or goes on, because a key
 * that is missing at the end of a chain would otherwise be found when everything before it is paid for. Agents that are only
 * asked if a model chooses them are looked at then: whoever chose one of those is told, and goes on without it.
 */
import type { AgentDefinition } from '../agents/definition/definition.ts';
import { hasOwnModels } from '../agents/definition/executor.ts';
import { edgeOf, referencesOf } from '../agents/definition/references.ts';
import { present } from '../base/present.ts';
import { fail, ok, type Result } from '../base/result.ts';
import type { Failure } from '../events/catalogue.ts';
import type { AgentAccess, ModelAccess } from './options.ts';

type FindsModels = Pick<ModelAccess, 'models' | 'defaultModels'> & Pick<AgentAccess, 'agent'>;

/** What is wrong with the first of them, when none of its models can be asked at all. `only`: the one that all of them ask. */
export async function nobodyToAsk(
  options: FindsModels,
  root: AgentDefinition,
  models: readonly string[],
  only?: string,
): Promise<Failure | undefined> {
  const closed = hasOwnModels(root) ? undefined : await noneOpens(options, models);
  if (closed !== undefined || only !== undefined) return closed;
  const seen = new Set([root.name]);
  const left = [root];
  for (let agent = left.pop(); agent !== undefined; agent = left.pop()) {
    for (const { target, models: given } of surelyAsked(agent)) {
      const definition = await options.agent(target);
      if (definition === undefined || hasOwnModels(definition)) continue;
      const named = await modelsOf(options, given ?? definition.models);
      const failure = named.ok ? await noneOpens(options, named.value) : named.error;
      if (failure !== undefined) return { ...failure, message: `${target}, which ${agent.name} needs: ${failure.message}` };
      if (seen.has(target)) continue;
      seen.add(target);
      left.push(definition);
    }
  }
  return undefined;
}

/** The same for an agent with the models that it has of itself. */
export async function asksNobody(options: FindsModels, agent: AgentDefinition): Promise<Failure | undefined> {
  const models = hasOwnModels(agent) ? ok(agent.models) : await modelsOf(options, agent.models);
  return models.ok ? await nobodyToAsk(options, agent, models.value) : models.error;
}

/** With the model that the agent gives to it, if it gives one. */
function surelyAsked(agent: AgentDefinition): readonly { readonly target: string; readonly models?: readonly string[] }[] {
  return referencesOf(agent)
    .filter(({ kind, target }) => edgeOf(kind).byChoice !== true && !(target === agent.name && edgeOf(kind).maySelf === true))
    .map(({ target, model }) => ({ target, ...present({ models: model && [model.name] }) }));
}

/** Whoever names none has those of the project. */
async function modelsOf(options: FindsModels, named: readonly string[]): Promise<Result<readonly string[], Failure>> {
  if (named.length > 0) return ok(named);
  const found = await options.defaultModels();
  return found.ok ? found : fail({ code: 'no_model', message: found.error });
}

async function noneOpens(options: FindsModels, models: readonly string[]): Promise<Failure | undefined> {
  let first: Failure | undefined;
  for (const name of models) {
    const opened = await options.models.open(name);
    if (opened.ok) return undefined;
    first ??= { code: `model_${opened.error.kind}`, message: opened.error.message };
  }
  return first;
}
