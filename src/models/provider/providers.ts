/**
 * Which provider a model's name means, and how it is reached: `anthropic/…`, `openai/…`, `google/…`, `ollama/…`, and the
 * names given in the config. Keys come from the environment only. A provider's package is loaded when first used.
 */

import type { LanguageModelV4, SharedV4ProviderOptions } from '@ai-sdk/provider';
import { z } from 'zod';
import type { Environment } from '../../base/environment.ts';
import { present } from '../../base/present.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import type { ModelFailure } from '../../events/catalogue.ts';
import type { Dialect } from './prompt.ts';
import type { Transport } from './transport.ts';
import { writeOnce } from './written-once.ts';

export const providerConfig = z.strictObject({
  kind: z.enum(['openai-compatible', 'anthropic', 'openai', 'google']).default('openai-compatible'),
  baseURL: z.url(),
  /** Name of the environment variable that holds the key. */
  apiKeyEnv: z.string().min(1).optional(),
  headers: z.record(z.string(), z.string()).optional(),
});
export type ProviderConfig = z.infer<typeof providerConfig>;

export interface ProviderSources {
  readonly env: Environment;
  /** By name, as in the project's config. */
  readonly providers?: Readonly<Record<string, ProviderConfig>> | undefined;
}

type Kind = ProviderConfig['kind'];

export interface Provider {
  readonly name: string;
  readonly kind: Kind;
  /** Absent when the provider's own address is used. */
  readonly baseURL: string | undefined;
  readonly apiKey: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** Runs on this machine, so a call costs nothing. */
  readonly local: boolean;
}

const OLLAMA_ADDRESS = 'http://127.0.0.1:11434';

/** The variables that hold a key, in the order in which they are looked at. */
export const keyVariables = {
  anthropic: ['ANTHROPIC_API_KEY'],
  openai: ['OPENAI_API_KEY'],
  google: ['GOOGLE_GENERATIVE_AI_API_KEY', 'GEMINI_API_KEY'],
} as const;

/** The variables that lead to another server than the provider's own, and the host of that one. */
export const addressVariables = {
  anthropic: { variables: ['ANTHROPIC_BASE_URL'], own: 'api.anthropic.com' },
  openai: { variables: ['OPENAI_BASE_URL'], own: 'api.openai.com' },
  google: { variables: ['GOOGLE_GENERATIVE_AI_BASE_URL', 'GEMINI_BASE_URL'], own: 'generativelanguage.googleapis.com' },
} as const satisfies Record<keyof typeof keyVariables, unknown>;

/** `undefined` when no provider has that name; a failure when its key is missing. */
export function findProvider(name: string, sources: ProviderSources): Result<Provider, ModelFailure> | undefined {
  const { env } = sources;
  const configured = sources.providers?.[name];
  if (configured !== undefined) return fromConfig(name, configured, env);
  const plain = { name, headers: {}, local: false };
  switch (name) {
    case 'anthropic':
      return withKey({ ...plain, kind: 'anthropic', baseURL: anthropicAddress(env) }, keyVariables.anthropic, env);
    case 'openai': {
      const baseURL = setting(env, 'OPENAI_BASE_URL');
      if (baseURL === undefined) return withKey({ ...plain, kind: 'openai', baseURL }, keyVariables.openai, env);
      // Whoever stands behind another address speaks chat-completions, and often wants no key.
      const provider = { ...plain, kind: 'openai-compatible', baseURL } as const;
      const apiKey = setting(env, 'OPENAI_API_KEY');
      return apiKey === undefined ? ok({ ...provider, apiKey }) : withKey(provider, keyVariables.openai, env);
    }
    case 'google': {
      const baseURL = setting(env, 'GOOGLE_GENERATIVE_AI_BASE_URL') ?? setting(env, 'GEMINI_BASE_URL');
      return withKey({ ...plain, kind: 'google', baseURL }, keyVariables.google, env);
    }
    case 'ollama':
      return ok({ ...plain, kind: 'openai-compatible', baseURL: `${ollamaAddress(env)}/v1`, apiKey: undefined, local: true });
    default:
      return undefined;
  }
}

export function providerNames(sources: ProviderSources): readonly string[] {
  return [...new Set(['anthropic', 'openai', 'google', 'ollama', ...Object.keys(sources.providers ?? {})])];
}

/** Ollama's own variable may hold a host, a host and a port, or a whole address. */
export function ollamaAddress(env: Environment): string {
  const host = setting(env, 'OLLAMA_HOST');
  if (host === undefined) return OLLAMA_ADDRESS;
  const whole = /^https?:\/\//.test(host) ? host : `http://${host}`;
  if (!URL.canParse(whole)) return OLLAMA_ADDRESS;
  const url = new URL(whole);
  if (url.port === '' && url.protocol === 'http:' && !/:80\/?$/.test(whole)) url.port = '11434';
  // Ollama itself listens on every address when told 0.0.0.0, but nobody can connect to that one.
  if (url.hostname === '0.0.0.0') url.hostname = '127.0.0.1';
  return url.origin;
}

export function setting(env: Environment, name: string): string | undefined {
  const value = env[name]?.trim();
  return value === undefined || value === '' ? undefined : value;
}

/** Anthropic's own tools take the address without the version, the AI SDK takes it with. */
function anthropicAddress(env: Environment): string | undefined {
  const address = setting(env, 'ANTHROPIC_BASE_URL')?.replace(/\/+$/, '');
  return address === undefined || /\/v\d+$/.test(address) ? address : `${address}/v1`;
}

function fromConfig(name: string, config: ProviderConfig, env: Environment): Result<Provider, ModelFailure> {
  const provider = { name, kind: config.kind, baseURL: config.baseURL, headers: config.headers ?? {}, local: false };
  return config.apiKeyEnv === undefined ? ok({ ...provider, apiKey: undefined }) : withKey(provider, [config.apiKeyEnv], env);
}

function withKey(
  provider: Omit<Provider, 'apiKey'>,
  variables: readonly string[],
  env: Environment,
): Result<Provider, ModelFailure> {
  for (const variable of variables) {
    const apiKey = setting(env, variable);
    if (apiKey === undefined) continue;
    const flaw = keyFlaw(apiKey);
    if (flaw === undefined) return ok({ ...provider, apiKey });
    return fail({ kind: 'auth', message: `The key in ${variable} has ${flaw}; a key is one line of plain characters.` });
  }
  const names = variables.join(' or ');
  return fail({ kind: 'auth', message: `There is no key for ${provider.name}: set the environment variable ${names}.` });
}

/** Why no header can hold it. Said before a request: the error of one would quote the key. */
export function keyFlaw(key: string): string | undefined {
  if (/[\r\n]/.test(key)) return 'a line break';
  if (/\p{Cc}/u.test(key)) return 'a control character';
  return /[^ -~]/.test(key) ? 'a character that is not plain ASCII' : undefined;
}

export function dialectOf(provider: Provider): Dialect {
  const chat = provider.kind === 'openai-compatible';
  return {
    provider: provider.name,
    toolImages: chat ? 'after' : 'inline',
    toolInput: chat ? 'text' : 'value',
    reasoningFirst: chat,
    cacheMarks: provider.kind === 'anthropic',
  };
}

/** Nothing is kept at OpenAI: the conversation is sent whole each time, encrypted reasoning included. */
export function optionsOf(provider: Provider): SharedV4ProviderOptions | undefined {
  return provider.kind === 'openai' ? { openai: { store: false } } : undefined;
}

export async function loadModel(provider: Provider, model: string, transport: Transport): Promise<LanguageModelV4> {
  const fetch = asFetch(transport);
  const { headers } = provider;
  const address = present({ baseURL: provider.baseURL });
  // Without a key of ours the packages would look for one in the environment, and send it to whoever is configured.
  const apiKey = provider.apiKey ?? 'none';
  switch (provider.kind) {
    case 'anthropic': {
      const { createAnthropic } = await import('@ai-sdk/anthropic');
      return createAnthropic({ ...address, apiKey, headers, fetch })(model);
    }
    case 'openai': {
      const { createOpenAI } = await import('@ai-sdk/openai');
      return createOpenAI({ ...address, apiKey, headers, fetch }).responses(model);
    }
    case 'google': {
      const { createGoogleGenerativeAI } = await import('@ai-sdk/google');
      return createGoogleGenerativeAI({ ...address, apiKey, headers, fetch })(model);
    }
    case 'openai-compatible': {
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
      const { transformRequestBody, transport: swapping } = writeOnce(transport);
      return createOpenAICompatible({
        name: provider.name,
        baseURL: provider.baseURL ?? '',
        ...present({ apiKey: provider.apiKey }),
        headers,
        fetch: asFetch(swapping),
        transformRequestBody,
        includeUsage: true,
        supportsStructuredOutputs: true,
      }).chatModel(model);
    }
  }
}

/** The providers type their fetch as the whole of the browser's; they use the part that the transport has. */
function asFetch(transport: Transport): typeof globalThis.fetch {
  return transport as unknown as typeof globalThis.fetch;
}
