/**
 * How many output tokens a request really allows. The package for Anthropic adds room for thinking to the maximum it is
 * given, by rules of its own for each model. They are not repeated here: the package is asked to write a request that goes
 * nowhere, and what it would send is what has to be reserved.
 */
import type { LanguageModelV4 } from '@ai-sdk/provider';
import { isJsonObject, parseJson } from '../../base/json.ts';
import type { ModelSettings } from '../port.ts';
import type { Transport } from './transport.ts';

export type SentOutput = (settings: ModelSettings) => Promise<number | undefined>;

/** `load` gives the model over a transport. */
export function createSentOutput(load: (transport: Transport) => Promise<LanguageModelV4>): SentOutput {
  const known = new Map<string, Promise<number | undefined>>();
  return async ({ maxOutputTokens, reasoning }) => {
    if (maxOutputTokens === undefined || reasoning === undefined) return maxOutputTokens;
    const key = `${maxOutputTokens} ${reasoning}`;
    const asked = known.get(key) ?? written(load, maxOutputTokens, reasoning);
    known.set(key, asked);
    return await asked;
  };
}

async function written(
  load: (transport: Transport) => Promise<LanguageModelV4>,
  maxOutputTokens: number,
  reasoning: NonNullable<ModelSettings['reasoning']>,
): Promise<number> {
  let sent = maxOutputTokens;
  const model = await load((_url, { body }) => {
    const request = parseJson(body ?? '');
    const most = request.ok && isJsonObject(request.value) ? request.value['max_tokens'] : undefined;
    if (typeof most === 'number') sent = Math.max(sent, most);
    return Promise.reject(new Error('This request is only written, never sent.'));
  });
  const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'Hello' }] }];
  await Promise.resolve(model.doGenerate({ prompt, maxOutputTokens, reasoning })).catch(() => undefined);
  return sent;
}
