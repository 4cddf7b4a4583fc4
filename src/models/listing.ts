/** Which models a provider has, asked of it. The key goes to its own address only: redirects are not followed. */

import type { Clock } from '../base/clock.ts';
import { messageOf } from '../base/errors.ts';
import { isJsonObject, type Json, type JsonObject, parseJson } from '../base/json.ts';
import { limits } from '../base/limits.ts';
import { present } from '../base/present.ts';
import { fail, ok, type Result } from '../base/result.ts';
import { findProvider, type Provider, type ProviderSources } from './provider/providers.ts';
import { createTransport, type Transport } from './provider/transport.ts';

export interface ListedModel {
  /** `provider/model`, as an agent names it. */
  readonly name: string;
  /** How many tokens it reads at most, where the provider says so. */
  readonly window?: number;
}

export interface ListingOptions extends ProviderSources {
  readonly clock: Clock;
  readonly transport?: Transport | undefined;
}

/** Fails with the reason: no key, nobody there, no such provider, not a list. */
export async function listModels(provider: string, options: ListingOptions): Promise<Result<readonly ListedModel[], string>> {
  const found = findProvider(provider, options);
  if (found === undefined) return fail(`There is no provider ${provider}.`);
  if (!found.ok) return fail(found.error.message);
  const { url, headers, read } = questionFor(found.value);
  const answer = await getJson(url, { ...headers, ...found.value.headers }, options);
  if (!answer.ok) return fail(`${provider} gives no list: ${shown(answer.error, found.value)}`);
  const models = read(answer.value).slice(0, limits.modelsListed);
  return ok(models.map(({ id, window }) => ({ name: `${provider}/${id}`, ...present({ window }) })));
}

interface Question {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  read(answer: Json): readonly { readonly id: string; readonly window: number | undefined }[];
}

function questionFor(provider: Provider): Question {
  const { apiKey, local } = provider;
  const base = provider.baseURL?.replace(/\/+$/, '');
  if (local)
    return {
      url: `${base?.replace(/\/v1$/, '')}/api/tags`,
      headers: {},
      read: (answer) => entries(answer, 'models', 'name', []),
    };
  switch (provider.kind) {
    case 'anthropic':
      return {
        url: `${base ?? 'https://api.anthropic.com/v1'}/models?limit=1000`,
        headers: { 'anthropic-version': '2023-06-01', ...present({ 'x-api-key': apiKey }) },
        read: (answer) => entries(answer, 'data', 'id', ['max_input_tokens']),
      };
    case 'google':
      return {
        url: `${base ?? 'https://generativelanguage.googleapis.com/v1beta'}/models?pageSize=1000`,
        headers: present({ 'x-goog-api-key': apiKey }),
        read: (answer) =>
          entries(answer, 'models', 'name', ['inputTokenLimit'], answersText).map(({ id, window }) => {
            return { id: id.replace(/^models\//, ''), window };
          }),
      };
    case 'openai':
    case 'openai-compatible':
      return {
        url: `${base ?? 'https://api.openai.com/v1'}/models`,
        headers: apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` },
        read: (answer) => entries(answer, 'data', 'id', ['context_length', 'context_window', 'max_model_len']),
      };
  }
}

/** Google lists models for speech and embeddings too. */
function answersText(entry: JsonObject): boolean {
  const methods = entry['supportedGenerationMethods'];
  return !Array.isArray(methods) || methods.includes('generateContent');
}

function entries(
  answer: Json,
  list: string,
  name: string,
  windows: readonly string[],
  wanted: (entry: JsonObject) => boolean = () => true,
): readonly { readonly id: string; readonly window: number | undefined }[] {
  const found = isJsonObject(answer) ? answer[list] : undefined;
  return (Array.isArray(found) ? found : []).flatMap((entry) => {
    const id = isJsonObject(entry) ? entry[name] : undefined;
    if (!isJsonObject(entry) || typeof id !== 'string' || id === '' || !wanted(entry)) return [];
    const window = windows.map((key) => entry[key]).find((value): value is number => Number.isSafeInteger(value));
    return [{ id, window }];
  });
}

async function getJson(
  url: string,
  headers: Readonly<Record<string, string>>,
  { env, clock, transport = createTransport({ env }) }: ListingOptions,
): Promise<Result<Json, string>> {
  const controller = new AbortController();
  const late = `no answer within ${limits.modelListMs / 1_000} s (modelListMs)`;
  const cancel = clock.after(limits.modelListMs, () => controller.abort(new Error(late)), 'hold');
  try {
    const response = await transport(url, { method: 'GET', headers, signal: controller.signal });
    if (!response.ok) return fail(`HTTP ${response.status}`);
    const parsed = parseJson(await response.text());
    return parsed.ok ? ok(parsed.value) : fail('its answer is not JSON');
  } catch (error) {
    return fail(messageOf(error));
  } finally {
    cancel();
  }
}

function shown(text: string, { apiKey }: Provider): string {
  return (apiKey === undefined ? text : text.replaceAll(apiKey, '***')).slice(0, limits.modelErrorCharacters);
}
