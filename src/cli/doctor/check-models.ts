/**
 * Models that nobody could ask from this shell, names that nobody knows, and prices that a budget needs. Elsewhere there may be a
 * key, and a newer provider may know more names, so these are warnings; `run` refuses to start.
 */

import { modelsGiven } from '../../agents/definition/references.ts';
import type { LoadedAgent } from '../../agents/file/load.ts';
import { type Diagnostic, type SourcePlace, warningAt } from '../../agents/text/diagnostics.ts';
import type { Clock } from '../../base/clock.ts';
import { nearest } from '../../base/did-you-mean.ts';
import type { Prices } from '../../models/port.ts';
import { createPrices, type PricesOptions, pricedModels } from '../../models/prices.ts';
import { findProvider, providerNames } from '../../models/provider/providers.ts';
import { modelProblem } from '../../models/reach.ts';
import type { ProjectConfig } from '../../project/config.ts';

export interface CheckModelsOptions {
  readonly config: ProjectConfig;
  readonly clock: Clock;
  /** Providers that are named in settings with problems. */
  readonly known: readonly string[];
}

interface Sources extends PricesOptions {
  readonly prices: Prices;
}

export function checkModels(agents: readonly LoadedAgent[], options: CheckModelsOptions): readonly Diagnostic[] {
  const { config, clock, known } = options;
  const table = { env: config.keyEnv, clock, providers: config.providers, overrides: config.prices };
  const sources = { ...table, prices: createPrices(table) };
  return agents.flatMap((agent) => {
    const { definition, placeOf } = agent;
    const given = modelsGiven(definition).map(({ name, path }) => ({ models: [name], place: placeOf(path) }));
    const named = [{ models: definition.models, place: placeOf(['model']) }, ...given];
    const sure = named.filter(({ models }) => !models.some((model) => known.includes(providerOf(model))));
    return [
      ...sure.flatMap(({ models, place }) => unreachable(definition.name, models, place, sources)),
      ...sure.flatMap(({ models, place }) => models.flatMap((model) => unheardOf(model, place, sources))),
      ...unpriced(agent, config, sources),
    ];
  });
}

const providerOf = (model: string): string => model.slice(0, Math.max(0, model.indexOf('/')));

function unreachable(agent: string, models: readonly string[], place: SourcePlace, sources: Sources): readonly Diagnostic[] {
  const problems = models.map((model) => modelProblem(model, sources));
  const [first] = problems;
  if (first === undefined || problems.includes(undefined)) return [];
  const near = models.map((model) => nearProvider(model, sources)).find((found) => found !== undefined);
  const fix = near === undefined ? undefined : `Did you mean "${near}"?`;
  return [warningAt(place, `no model of ${agent} can be asked from this shell: ${first}`, fix)];
}

/** The same model at the provider that was probably meant. */
function nearProvider(model: string, sources: Sources): string | undefined {
  const provider = providerOf(model);
  const known = providerNames(sources);
  const near = provider === '' || known.includes(provider) ? undefined : nearest(provider, known);
  return near === undefined ? undefined : `${near}${model.slice(provider.length)}`;
}

/** Only of providers at their own address: whoever stands behind another one has models of other names. */
function unheardOf(model: string, place: SourcePlace, sources: Sources): readonly Diagnostic[] {
  const provider = providerOf(model);
  if (!['anthropic', 'openai', 'google'].includes(provider) || sources.providers?.[provider] !== undefined) return [];
  const found = findProvider(provider, sources);
  if (found?.ok === true && found.value.baseURL !== undefined) return [];
  if (hasPrice(model, sources)) return [];
  const near = nearest(
    model,
    pricedModels(provider, sources).map(({ name }) => name),
  );
  const fix = near === undefined ? 'See: troupe models' : `Did you mean "${near}"?`;
  return [warningAt(place, `the model ${model} is in no list of ${provider} that is known here`, fix)];
}

/** A budget in dollars that a run would refuse because it cannot be kept. */
function unpriced({ definition, placeOf }: LoadedAgent, config: ProjectConfig, sources: Sources): readonly Diagnostic[] {
  const { budget, models } = definition;
  if (budget?.allowUnknownPrices === true || config.budget.allowUnknownPrices === true) return [];
  const own = budget?.usd !== undefined;
  if (!own && config.budget.usd === undefined) return [];
  const used = models.length > 0 ? models : config.models;
  const unknown = used.filter((model) => modelProblem(model, sources) === undefined).find((model) => !hasPrice(model, sources));
  if (unknown === undefined) return [];
  const kept = own ? 'this budget' : "the project's budget";
  const message = `the price of ${unknown} is not known, so ${kept} in dollars cannot be kept`;
  const fix = 'Look at the name, give its price under `prices` in troupe.yaml, or limit budget.tokens instead.';
  return [warningAt(placeOf(own ? ['budget', 'usd'] : ['model']), message, fix)];
}

const hasPrice = (model: string, { prices }: Sources): boolean =>
  prices.cost(model, { inputTokens: 1, outputTokens: 1 }) !== undefined;
