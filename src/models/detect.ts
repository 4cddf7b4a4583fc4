/**
 * Which model to use when nobody named one: whatever the environment has a key for, else what Ollama has installed here.
 */

import type { Clock } from '../base/clock.ts';
import type { Environment } from '../base/environment.ts';
import { isJsonObject, type Json, parseJson } from '../base/json.ts';
import { limits } from '../base/limits.ts';
import { fail, ok, type Result } from '../base/result.ts';
import { isRedirect } from './failures.ts';
import { keyVariables, ollamaAddress, setting } from './provider/providers.ts';
import { createTransport, type Transport, UnexpectedResponse } from './provider/transport.ts';

export const defaultModels = {
  anthropic: 'anthropic/claude-sonnet-5',
  openai: 'openai/gpt-5.5',
  google: 'google/gemini-3.5-flash',
} as const;

export interface DetectOptions {
  readonly env: Environment;
  readonly clock: Clock;
  /** Asks nobody: a model that only a server could name is not found. */
  readonly offline?: boolean | undefined;
  readonly transport?: Transport;
}

export interface DetectedModel {
  readonly name: string;
  /** What made it the one, as the end of "it is used because". */
  readonly because: string;
}

export async function detectDefaultModel(options: DetectOptions): Promise<Result<DetectedModel, string>> {
  const { env } = options;
  const keyFor = (name: keyof typeof keyVariables): string | undefined =>
    keyVariables[name].find((variable) => setting(env, variable) !== undefined);
  const byKey = (key: string, name: string): Result<DetectedModel, string> => ok({ name, because: `${key} is set` });
  const anthropic = keyFor('anthropic');
  if (anthropic !== undefined) return byKey(anthropic, defaultModels.anthropic);
  const otherServer = setting(env, 'OPENAI_BASE_URL');
  const openai = keyFor('openai');
  if (openai !== undefined && otherServer === undefined) return byKey(openai, namedModel(env) ?? defaultModels.openai);
  const google = keyFor('google');
  if (google !== undefined) return byKey(google, defaultModels.google);
  if (otherServer !== undefined) return await fromServer(otherServer, options);
  const installed = await firstName(`${ollamaAddress(env)}/api/tags`, 'models', 'name', options);
  if (installed.ok) return ok({ name: `ollama/${installed.value}`, because: `Ollama at ${ollamaAddress(env)} has it` });
  return fail(NOTHING_FOUND);
}

const NOTHING_FOUND = [
  'No model was found. There are three ways to give one:',
  '  1. set a key: ANTHROPIC_API_KEY, OPENAI_API_KEY or GOOGLE_GENERATIVE_AI_API_KEY;',
  '  2. set OPENAI_BASE_URL (and OPENAI_MODEL) to any server that speaks chat-completions;',
  '  3. start Ollama on this machine with a model installed (ollama pull qwen3).',
  'To try without any of them, name a script: --model scripted:replies.yaml (see docs/models.md).',
].join('\n');

function namedModel(env: Environment): string | undefined {
  const model = setting(env, 'OPENAI_MODEL');
  return model === undefined ? undefined : `openai/${model}`;
}

async function fromServer(baseURL: string, options: DetectOptions): Promise<Result<DetectedModel, string>> {
  const named = namedModel(options.env);
  if (named !== undefined) return ok({ name: named, because: 'OPENAI_BASE_URL and OPENAI_MODEL are set' });
  const first = await firstName(`${baseURL.replace(/\/+$/, '')}/models`, 'data', 'id', options);
  if (first.ok)
    return ok({ name: `openai/${first.value}`, because: 'OPENAI_BASE_URL is set and the server there lists it first' });
  return fail(`OPENAI_BASE_URL is set, but ${first.error.why}.\n${first.error.fix}`);
}

/** Why nobody names a model there, and what to do. */
interface Silence {
  readonly why: string;
  readonly fix: string;
}

const NO_LIST: Silence = {
  why: 'the server there answers with something that is no list of models',
  fix: 'Look at the address, which often ends in /v1, or set OPENAI_MODEL to the name of a model there.',
};

/** The first name in a list such as `{"data": [{"id": "…"}]}`. */
async function firstName(url: string, list: string, field: string, options: DetectOptions): Promise<Result<string, Silence>> {
  const answer = await getJson(url, options);
  if (!answer.ok) return answer;
  const entries = isJsonObject(answer.value) ? answer.value[list] : undefined;
  const first: Json | undefined = Array.isArray(entries) ? entries[0] : undefined;
  const name = isJsonObject(first) ? first[field] : undefined;
  if (typeof name === 'string' && name !== '') return ok(name);
  return fail({ why: 'the server there lists no models', fix: 'Set OPENAI_MODEL to the name of one.' });
}

async function getJson(url: string, options: DetectOptions): Promise<Result<Json, Silence>> {
  if (!URL.canParse(url)) return fail({ why: 'it is no address', fix: 'Write one such as http://localhost:8000/v1.' });
  if (options.offline === true) return fail({ why: 'no server was asked for a model', fix: 'Set OPENAI_MODEL.' });
  const transport = options.transport ?? createTransport({ env: options.env });
  const key = setting(options.env, 'OPENAI_API_KEY');
  const controller = new AbortController();
  const cancel = options.clock.after(limits.modelProbeMs, () => controller.abort(), 'hold');
  try {
    const headers: Record<string, string> =
      key === undefined || !url.endsWith('/models') ? {} : { authorization: `Bearer ${key}` };
    const response = await transport(url, { method: 'GET', headers, signal: controller.signal });
    if (!response.ok) return fail(refusal(response.status));
    const parsed = parseJson(await response.text());
    return parsed.ok ? parsed : fail(NO_LIST);
  } catch (error) {
    // A page in place of a list is found out by the transport.
    if (error instanceof UnexpectedResponse) return fail(NO_LIST);
    return fail({ why: 'nobody answers there', fix: 'Start the server, or correct the address.' });
  } finally {
    cancel();
  }
}

function refusal(status: number): Silence {
  if (status === 401 || status === 403)
    return { why: `the server there refuses the key (HTTP ${status})`, fix: 'Set the right OPENAI_API_KEY.' };
  if (isRedirect(status))
    return {
      why: `the server there sends requests on to another address (HTTP ${status})`,
      fix: 'Name the address of the server itself: redirects are not followed, so that a key goes nowhere else.',
    };
  return { ...NO_LIST, why: `the server there answers with HTTP ${status} when it is asked for its models` };
}
