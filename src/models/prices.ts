/**
 * What calls cost, in billionths of a US dollar, from the table in `@pydantic/genai-prices` and from the config's own
 * prices, which win. The table is large, so it is read when first needed; a model's price is looked up once.
 */
import { createRequire } from 'node:module';
import type { ModelPrice, TieredPrices } from '@pydantic/genai-prices';
import { z } from 'zod';
import type { Clock } from '../base/clock.ts';
import { nearest } from '../base/did-you-mean.ts';
import { present } from '../base/present.ts';
import type { Usage } from '../events/messages.ts';
import type { Prices, Unlisted } from './port.ts';
import { findProvider, type ProviderSources } from './provider/providers.ts';

/** In US dollars per million tokens. */
export const priceOverride = z.strictObject({
  input: z.number().nonnegative(),
  output: z.number().nonnegative(),
  cacheRead: z.number().nonnegative().optional(),
  cacheWrite: z.number().nonnegative().optional(),
});
export type PriceOverride = z.infer<typeof priceOverride>;

export interface PricesOptions extends ProviderSources {
  readonly clock: Clock;
  /** By model, such as `openai/gpt-5.5`. */
  readonly overrides?: Readonly<Record<string, PriceOverride>> | undefined;
}

/** The version of the table is that of its package; a test compares the two. */
export const TABLE_VERSION = 'genai-prices 0.1.8';

type Table = typeof import('@pydantic/genai-prices');
type Rate = number | TieredPrices | undefined;

/** US dollars per million tokens are thousands of billionths per token. */
const NANO_PER_TOKEN = 1_000;

interface Rates {
  readonly input: Rate;
  readonly output: Rate;
  readonly cacheRead: Rate;
  readonly cacheWrite: Rate;
}

/** Those whose models the table has, at their own address. */
const LISTED: readonly string[] = ['anthropic', 'openai', 'google'];
const FREE: Rates = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
/** How long a price that depends on the time of day is kept. */
const RECHECK_MS = 60_000;

export function createPrices(options: PricesOptions): Prices {
  const overridden = Object.keys(options.overrides ?? {}).length > 0;
  const known = new Map<string, { readonly rates: Rates | undefined; readonly until: number }>();
  const ratesOf = (model: string): Rates | undefined => {
    const found = known.get(model);
    if (found !== undefined && options.clock.elapsed() < found.until) return found.rates;
    const fixed = fixedRates(model, options);
    const looked = fixed === undefined ? lookUp(readTable(), model, options) : { rates: fixed, timed: false };
    const until = looked.timed ? options.clock.elapsed() + RECHECK_MS : Number.POSITIVE_INFINITY;
    known.set(model, { rates: looked.rates, until });
    return looked.rates;
  };
  return {
    version: overridden ? `config over ${TABLE_VERSION}` : TABLE_VERSION,
    cost: (model, usage) => {
      const rates = ratesOf(model);
      return rates === undefined ? undefined : costOf(rates, usage);
    },
    worstCase: (model, inputTokens, maxOutputTokens) => {
      const rates = ratesOf(model);
      if (rates === undefined) return undefined;
      const plain = costOf(rates, { inputTokens, outputTokens: maxOutputTokens });
      const written = costOf(rates, { inputTokens, cacheWriteTokens: inputTokens, outputTokens: maxOutputTokens });
      return plain === undefined || written === undefined ? undefined : Math.max(plain, written);
    },
    unlisted: (model) => (ratesOf(model) === undefined ? unlisted(model, options) : undefined),
  };
}

/** Only of providers at their own address: whoever stands behind another one has models of other names. */
function unlisted(model: string, options: PricesOptions): Unlisted | undefined {
  const provider = model.slice(0, Math.max(0, model.indexOf('/')));
  if (!LISTED.includes(provider) || options.providers?.[provider] !== undefined) return undefined;
  const found = findProvider(provider, options);
  if (found?.ok === true && found.value.baseURL !== undefined) return undefined;
  const names = pricedModels(provider, options).map(({ name }) => name);
  return { provider, ...present({ near: nearest(model, names) }) };
}

/** What is known of a model without asking anybody. */
export interface PricedModel {
  /** `provider/model`. */
  readonly name: string;
  /** US dollars per million tokens, for short prompts. */
  readonly input?: number;
  readonly output?: number;
  /** How many tokens it reads at most. */
  readonly window?: number;
}

export function pricedModel(name: string, options: PricesOptions): PricedModel {
  const { rates, window } = { ...lookUp(readTable(), name, options), ...present({ rates: fixedRates(name, options) }) };
  return { name, ...present({ input: rates && at(rates.input, 0), output: rates && at(rates.output, 0), window }) };
}

/** The models of a provider that the table knows and that answer with text. */
export function pricedModels(provider: string, options: PricesOptions): readonly PricedModel[] {
  const known = providerIn(readTable(), provider, options)?.models ?? [];
  return known
    .filter(({ deprecated }) => deprecated !== true)
    .map(({ id }) => pricedModel(`${provider}/${id}`, options))
    .filter(({ output }) => output !== undefined && output > 0);
}

const load = createRequire(import.meta.url);

/** Node keeps what was loaded, so only the first call takes time. */
function readTable(): Table {
  return load('@pydantic/genai-prices') as Table;
}

function fixedRates(model: string, options: PricesOptions): Rates | undefined {
  const override = options.overrides?.[model];
  if (override !== undefined) {
    const { input, output, cacheRead, cacheWrite } = override;
    return { input, output, cacheRead: cacheRead ?? input, cacheWrite: cacheWrite ?? input };
  }
  // Nobody is paid for a script, a recording or one's own machine.
  return /^(scripted:|recorded:|ollama\/)/.test(model) && options.providers?.['ollama'] === undefined ? FREE : undefined;
}

function lookUp(
  table: Table,
  model: string,
  options: PricesOptions,
): { readonly rates: Rates | undefined; readonly timed: boolean; readonly window?: number | undefined } {
  const slash = model.indexOf('/');
  const provider = providerIn(table, model.slice(0, slash), options);
  const usage = { input_tokens: 1, output_tokens: 1 };
  const timestamp = new Date(options.clock.now());
  const found = provider === undefined ? null : table.calcPrice(usage, model.slice(slash + 1), { provider, timestamp });
  if (found === null) return { rates: undefined, timed: false };
  const { prices, context_window: window } = found.model;
  return { rates: ratesFrom(found.model_price), timed: Array.isArray(prices), window };
}

/** A provider behind another address has that address's prices, if the table knows it. */
function providerIn(table: Table, name: string, options: PricesOptions): ReturnType<Table['findProvider']> {
  const found = findProvider(name, options);
  // Without a key nobody can be asked there, and the price is the same.
  const baseURL = found?.ok === true ? found.value.baseURL : options.providers?.[name]?.baseURL;
  if (baseURL !== undefined) return table.findProvider({ providerApiUrl: baseURL });
  return LISTED.includes(name) ? table.findProvider({ providerId: name }) : undefined;
}

function ratesFrom(price: ModelPrice): Rates | undefined {
  const input = price['input_mtok'];
  const output = price['output_mtok'];
  if (input === undefined && output === undefined) return undefined;
  return { input, output, cacheRead: price['cache_read_mtok'] ?? input, cacheWrite: price['cache_write_mtok'] ?? input };
}

/** `undefined` when the provider did not count what has to be paid, or the sum is beyond what can be counted. */
function costOf(rates: Rates, usage: Usage): number | undefined {
  if (rates === FREE) return 0;
  const { inputTokens, outputTokens } = usage;
  if (inputTokens === undefined || outputTokens === undefined) return undefined;
  const read = Math.min(usage.cacheReadTokens ?? 0, inputTokens);
  const write = Math.min(usage.cacheWriteTokens ?? 0, inputTokens - read);
  const plain = inputTokens - read - write;
  const perMillion =
    plain * at(rates.input, inputTokens) +
    read * at(rates.cacheRead, inputTokens) +
    write * at(rates.cacheWrite, inputTokens) +
    outputTokens * at(rates.output, inputTokens);
  const nanoUsd = Math.ceil(perMillion * NANO_PER_TOKEN - 1e-6);
  return Number.isSafeInteger(nanoUsd) ? nanoUsd : undefined;
}

/** Long prompts cost more per token: the highest step that the whole input passes holds for every token. */
function at(rate: Rate, inputTokens: number): number {
  if (rate === undefined || typeof rate === 'number') return rate ?? 0;
  let price = rate.base;
  for (const tier of rate.tiers) if (inputTokens > tier.start) price = tier.price;
  return price;
}
