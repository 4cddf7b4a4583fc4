/** What a request allows a model to write, on the wire, is never more than what the model says beforehand. */
import { expect, it, onTestFinished } from 'vitest';
import { answerIn, modelRequest, openModel, serverCatalogue } from '../../../test/support/models/client.ts';
import { startModelServer } from '../../../test/support/models/model-server.ts';
import { isJsonObject, type Json } from '../../base/json.ts';
import type { Reasoning } from '../port.ts';

const NAMES = [
  'anthropic/claude-sonnet-4-5',
  'anthropic/claude-haiku-4-5',
  'anthropic/claude-opus-4-1',
  'anthropic/claude-3-haiku-20240307',
  'anthropic/claude-opus-4-6',
  'anthropic/claude-of-tomorrow',
  'anthropic/another-model',
  'openai/gpt-4.1',
  'openai/o3',
  'responses/gpt-5',
  'responses/gpt-4.1',
  'google/gemini-2.5-pro',
  'google/gemini-3-pro',
];
const REASONING: readonly (Reasoning | undefined)[] = [undefined, 'none', 'minimal', 'low', 'medium', 'high'];
const FIELDS = ['max_tokens', 'max_completion_tokens', 'max_output_tokens', 'maxOutputTokens'];

function allowedIn(body: Json): number {
  if (!isJsonObject(body)) throw new Error('no request');
  const { generationConfig } = body as Readonly<Record<string, Json>>;
  const all = { ...body, ...(generationConfig !== undefined && isJsonObject(generationConfig) ? generationConfig : {}) };
  const found = FIELDS.flatMap((name) => (typeof all[name] === 'number' ? [all[name]] : []));
  expect(found, JSON.stringify(body)).not.toEqual([]);
  return Math.max(...found);
}

it.each(NAMES)('%s: what is sent is what it says, with and without thinking', async (name) => {
  const server = await startModelServer(() => ({ text: 'Good day.' }));
  onTestFinished(server.close);
  const model = await openModel(serverCatalogue(server), name);
  for (const reasoning of REASONING) {
    for (const maxOutputTokens of [1_000, 4_096, 100_000]) {
      const settings = { maxOutputTokens, reasoning };
      answerIn(await model.ask(modelRequest({ settings })));
      const said = (await model.mostOutput?.(settings)) ?? maxOutputTokens;
      expect(allowedIn(server.requests.at(-1)?.body ?? null), `${reasoning} ${maxOutputTokens}`).toBeLessThanOrEqual(said);
    }
  }
  // Nothing was sent to find out.
  expect(server.requests).toHaveLength(REASONING.length * 3);
});
