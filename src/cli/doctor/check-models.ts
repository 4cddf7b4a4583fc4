/**
 * Models that nobody could ask from this shell, names that nobody knows, and prices that a budget needs. Elsewhere there may be a
 * key, and a newer provider may know more names, so these are warnings; `run` refuses to start where one of them is sure to be
 * asked, and names the others.
 */

import type { AgentDefinition } from '../../agents/definition/definition.ts';
import { hasOwnModels } from '../../agents/definition/executor.ts';
import { modelsUsed, referencesOf } from '../../agents/definition/references.ts';
import type { LoadedAgent } from '../../agents/file/load.ts';
import { type Diagnostic, type SourcePlace, warningAt } from '../../agents/text/diagnostics.ts';
import type { Clock } from '../../base/clock.ts';
import { nearest } from '../../base/did-you-mean.ts';
import { closedModels, modelsAsked } from '../../front/project/closed-models.ts';
import type { Prices } from '../../models/port.ts';
import { createPrices, type PricesOptions } from '../../models/prices.ts';
import { findProvider, providerNames } from '../../models/provider/providers.ts';
import type { ProjectConfig } from '../../project/config.ts';

export interface CheckModelsOptions {
  readonly config: ProjectConfig;
  readonly clock: Clock;
  /** What agents use that name none. */
  readonly defaults: readonly string[];
  /** Providers, and models with a price, that are named in settings with problems. */
  readonly known: Readonly<Record<'providers' | 'prices', readonly string[]>>;
}

interface Sources extends PricesOptions {
  readonly prices: Prices;
}

interface Named {
  /** Whose they are, in words. */
  readonly whose: string;
  readonly models: readonly string[];
  readonly place: SourcePlace;
}

export function checkModels(agents: readonly LoadedAgent[], options: CheckModelsOptions): readonly Diagnostic[] {
  const { config, clock, known } = options;
  const table = { env: config.keyEnv, clock, providers: config.providers, overrides: config.prices };
  const sources = { ...table, prices: createPrices(table) };
  const askable = ({ models, ...rest }: Named): readonly Diagnostic[] =>
    models.some((model) => known.providers.includes(providerOf(model)))
      ? []
      : [...unreachable({ models, ...rest }, sources), ...models.flatMap((model) => unheardOf(model, rest.place, sources))];
  const settings = config.modelPlaces.flatMap((one) => askable({ ...one, whose: `in ${one.place.file}` }));
  // Whoever has models of its own is tried by `doctor`.
  const ours = agents.filter(({ definition }) => !hasOwnModels(definition));
  const own = ours.flatMap((agent) => {
    const { definition, placeOf } = agent;
    const whose = `of ${definition.name}`;
    const named = modelsAsked(definition).map(({ models, path }) => ({ whose, models, place: placeOf(path) }));
    return [...named.flatMap(askable), ...unpriced(agent, agents, { ...options, sources })];
  });
  return [...settings, ...own];
}

const providerOf = (model: string): string => model.slice(0, Math.max(0, model.indexOf('/')));

function unreachable({ whose, models, place }: Named, sources: Sources): readonly Diagnostic[] {
  const problem = closedModels(models, sources);
  if (problem === undefined) return [];
  const near = models.map((model) => nearProvider(model, sources)).find((found) => found !== undefined);
  const fix = near === undefined ? undefined : `Did you mean "${near}"?`;
  return [warningAt(place, `no model ${whose} can be asked from this shell: ${problem}`, fix)];
}

/** The same model at the provider that was probably meant. */
function nearProvider(model: string, sources: Sources): string | undefined {
  const provider = providerOf(model);
  const known = providerNames(sources);
  const near = provider === '' || known.includes(provider) ? undefined : nearest(provider, known);
  return near === undefined ? undefined : `${near}${model.slice(provider.length)}`;
}

function unheardOf(model: string, place: SourcePlace, { prices }: Sources): readonly Diagnostic[] {
  const found = prices.unlisted?.(model);
  if (found === undefined) return [];
  const fix = found.near === undefined ? 'See: troupe models' : `Did you mean "${found.near}"?`;
  return [warningAt(place, `the model ${model} is in no list of ${found.provider} that is known here`, fix)];
}

interface PricingOptions extends CheckModelsOptions {
  readonly sources: Sources;
}

/** A budget in dollars that a run would refuse because it cannot be kept: what runs below it is paid from it too. */
function unpriced(
  { definition, placeOf }: LoadedAgent,
  agents: readonly LoadedAgent[],
  options: PricingOptions,
): readonly Diagnostic[] {
  const { config, known, sources } = options;
  const { budget } = definition;
  if (budget?.allowUnknownPrices === true || config.budget.allowUnknownPrices === true) return [];
  const own = budget?.usd !== undefined;
  if (!own && config.budget.usd === undefined) return [];
  const paid = [...paidBy(definition, options), ...(own ? paidBelow(definition, agents, options) : [])];
  const unknown = paid.find(({ model }) => {
    const isUnsaid = known.prices.includes(model) || known.providers.includes(providerOf(model));
    return !isUnsaid && hasProvider(model, sources) && !hasPrice(model, sources);
  });
  if (unknown === undefined) return [];
  const kept = own ? 'this budget' : "the project's budget";
  const whose = unknown.by === definition.name ? '' : `, which ${unknown.by} uses,`;
  const message = `the price of ${unknown.model}${whose} is not known, so ${kept} in dollars cannot be kept`;
  const fix = 'Look at the name, give its price under `prices` in troupe.yaml, or limit budget.tokens instead.';
  return [warningAt(placeOf(own ? ['budget', 'usd'] : ['model']), message, fix)];
}

interface Paid {
  readonly model: string;
  readonly by: string;
}

/** What the agent uses itself. */
function paidBy(definition: AgentDefinition, { defaults }: PricingOptions): readonly Paid[] {
  return modelsUsed(definition, defaults).map((model) => ({ model, by: definition.name }));
}

/** And what those use that it leads to, unless their own file says that they may. */
function paidBelow(first: AgentDefinition, agents: readonly LoadedAgent[], options: PricingOptions): readonly Paid[] {
  const byName = new Map(agents.map(({ definition }) => [definition.name, definition]));
  const seen = new Set([first.name]);
  const left = [first];
  const found: Paid[] = [];
  for (let here = left.pop(); here !== undefined; here = left.pop())
    for (const { target, model } of referencesOf(here)) {
      const next = byName.get(target);
      if (next === undefined || next.budget?.allowUnknownPrices === true) continue;
      if (model !== undefined) found.push({ model: model.name, by: target });
      if (seen.has(target)) continue;
      seen.add(target);
      found.push(...(model === undefined ? paidBy(next, options) : []));
      left.push(next);
    }
  return found;
}

/** Of a provider that nobody knows it is said that there is none. */
const hasProvider = (model: string, sources: Sources): boolean =>
  /^(scripted|recorded):/.test(model) || findProvider(providerOf(model), sources) !== undefined;

const hasPrice = (model: string, { prices }: Sources): boolean =>
  prices.cost(model, { inputTokens: 1, outputTokens: 1 }) !== undefined;
