/** Which models there are, what they cost and read, and which one would be used by an agent that names none. */

import type { Clock } from '../../base/clock.ts';
import { suggest } from '../../base/did-you-mean.ts';
import { present } from '../../base/present.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import type { Failure } from '../../events/catalogue.ts';
import { detectDefaultModel } from '../../models/detect.ts';
import { listModels } from '../../models/listing.ts';
import { type PricedModel, type PricesOptions, pricedModel, pricedModels } from '../../models/prices.ts';
import { providerNames } from '../../models/provider/providers.ts';
import type { ProjectConfig } from '../../project/config.ts';

export interface UsedModels {
  /** The first is used; the others when it does not answer. */
  readonly models: readonly string[];
  readonly why: string;
}

/** `from`: who named it. A model of the table may be one that this account cannot use. */
export interface ModelRow extends PricedModel {
  readonly from: 'provider' | 'table' | 'settings';
  readonly used: boolean;
}

export interface AskedProvider {
  readonly provider: string;
  readonly answered: boolean;
  /** Why it was not the provider itself that listed them. */
  readonly problem?: string;
}

export interface ListedModels {
  readonly models: ModelRow[];
  readonly used: UsedModels | undefined;
  readonly providers: AskedProvider[];
}

interface ModelsAsked {
  readonly provider: string | undefined;
  /** Nobody is asked: what is known here counts. */
  readonly offline: boolean;
}

export async function readModels(
  config: ProjectConfig,
  clock: Clock,
  { provider, offline }: ModelsAsked,
): Promise<Result<ListedModels, Failure>> {
  const { providers, prices: overrides, keyEnv: env } = config;
  const sources = { env, clock, providers, overrides };
  const known = providerNames(sources);
  if (provider !== undefined && !known.includes(provider))
    return fail({ code: 'usage', message: `There is no provider ${provider}`, fix: suggest(provider, known, 'providers') });
  const [used, ...listed] = await Promise.all([
    defaultModel(clock, config, offline),
    ...(provider === undefined ? known : [provider]).map((name) => modelsOf(name, sources, offline)),
  ]);
  const chosen = used.ok ? used.value : undefined;
  const rows = [...listed.flatMap(({ models }) => models), ...unlisted(chosen, listed, sources)];
  return ok({
    models: rows.map((row) => ({ ...row, used: chosen?.models[0] === row.name })),
    used: chosen,
    providers: listed.map((one) => ({
      ...{ provider: one.provider, answered: one.problem === undefined },
      ...present({ problem: one.problem }),
    })),
  });
}

/** What an agent gets that names no model. */
export async function defaultModel(
  clock: Clock,
  { models, modelsFrom, keyEnv: env }: ProjectConfig,
  offline: boolean,
): Promise<Result<UsedModels, string>> {
  if (models.length > 0) return ok({ models, why: `named by ${modelsFrom ?? 'the settings'}` });
  const detected = await detectDefaultModel({ env, clock, offline });
  return detected.ok ? ok({ models: [detected.value.name], why: `because ${detected.value.because}` }) : detected;
}

type Row = Omit<ModelRow, 'used'>;

interface ProviderRows {
  readonly provider: string;
  readonly models: readonly Row[];
  readonly problem?: string;
}

async function modelsOf(provider: string, sources: PricesOptions, offline: boolean): Promise<ProviderRows> {
  const found = offline ? undefined : await listModels(provider, sources);
  if (found?.ok === true)
    return { provider, models: found.value.map((one) => ({ ...pricedModel(one.name, sources), ...one, from: 'provider' })) };
  const problem = found?.error ?? 'not asked (--offline)';
  return { provider, models: pricedModels(provider, sources).map((one) => ({ ...one, from: 'table' })), problem };
}

/** What is used is shown, also when nobody lists it. */
function unlisted(used: UsedModels | undefined, listed: readonly ProviderRows[], sources: PricesOptions): readonly Row[] {
  const shown = new Set(listed.flatMap(({ models }) => models.map(({ name }) => name)));
  const asked = new Set(listed.map(({ provider }) => provider));
  return (used?.models ?? [])
    .filter((name) => !shown.has(name) && asked.has(name.slice(0, name.indexOf('/'))))
    .map((name) => ({ ...pricedModel(name, sources), from: 'settings' }));
}
