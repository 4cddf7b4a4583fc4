/** What tests need to ask a model of the local server: a catalogue that reaches it, and requests with everything filled in. */
import { systemClock } from '../../../src/base/clock.ts';
import { userText } from '../../../src/events/messages.ts';
import { type CatalogueOptions, createModelCatalogue } from '../../../src/models/catalogue.ts';
import type { Model, ModelAnswer, ModelCatalogue, ModelOutcome, ModelRequest } from '../../../src/models/port.ts';
import type { Vetoed } from '../../../src/models/retry.ts';
import { PATIENCE_MS } from '../patience.ts';
import type { ModelServer } from './model-server.ts';

export const TEST_KEY = 'sk-test-0123456789abcdef';

export function serverEnv(server: ModelServer): Record<string, string> {
  return {
    ANTHROPIC_API_KEY: TEST_KEY,
    ANTHROPIC_BASE_URL: server.origin,
    OPENAI_API_KEY: TEST_KEY,
    OPENAI_BASE_URL: `${server.origin}/v1`,
    GEMINI_API_KEY: TEST_KEY,
    GOOGLE_GENERATIVE_AI_BASE_URL: `${server.origin}/v1beta`,
  };
}

export function serverCatalogue(server: ModelServer, options: Partial<CatalogueOptions> = {}): ModelCatalogue {
  const config = { providers: { responses: { kind: 'openai' as const, baseURL: `${server.origin}/v1` } } };
  return createModelCatalogue({ env: serverEnv(server), clock: systemClock, folder: '.', config, ...options });
}

export async function openModel(catalogue: ModelCatalogue, name: string): Promise<Model> {
  const opened = await catalogue.open(name);
  if (!opened.ok) throw new Error(opened.error.message);
  return opened.value;
}

export function modelRequest(change: Partial<ModelRequest> = {}): ModelRequest {
  return {
    system: 'You are a test.',
    messages: [userText('Hello?')],
    tools: [],
    settings: { maxOutputTokens: 1_000 },
    idempotencyKey: 'run_test/turn/1/model',
    timeoutMs: PATIENCE_MS,
    signal: new AbortController().signal,
    ...change,
  };
}

type Outcome = ModelOutcome | Vetoed<unknown>;

export function answerIn(outcome: Outcome): ModelAnswer {
  if (outcome.kind === 'vetoed') throw new Error('not asked');
  if (outcome.kind === 'failed') throw new Error(`${outcome.error.kind}: ${outcome.error.message}`);
  return outcome.answer;
}

export function failureIn(outcome: Outcome): Extract<ModelOutcome, { kind: 'failed' }>['error'] {
  if (outcome.kind === 'vetoed') throw new Error('not asked');
  if (outcome.kind === 'answer') throw new Error(`an answer where a failure was expected: ${JSON.stringify(outcome.answer)}`);
  return outcome.error;
}
