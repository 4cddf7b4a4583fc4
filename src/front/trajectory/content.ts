/** Messages, tool calls and counts of ours in the words of ATIF. */
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import { present } from '../../base/present.ts';
import type { Payloads } from '../../events/catalogue.ts';
import type { CallCost, ImagePart, Message, TextPart, ToolCallPart, Usage } from '../../events/messages.ts';
import { textOf } from '../../events/messages.ts';
import type { AtifContent, AtifMetrics, AtifPart, AtifToolCall } from './shapes.ts';

const NANO_PER_USD = 1_000_000_000;
export const inUsd = (nanoUsd: number): number => nanoUsd / NANO_PER_USD;

/** Kinds of pictures that the format knows. */
const MEDIA_TYPES: ReadonlySet<string> = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp']);
const ADDRESS = /^https?:\/\//i;

export function atifContent(parts: readonly (TextPart | ImagePart)[]): AtifContent {
  if (parts.every((part) => part.type === 'text')) return textOf(parts);
  return parts.map((part): AtifPart => {
    if (part.type === 'text') return { type: 'text', text: part.text };
    const { mediaType, data } = part;
    if (!MEDIA_TYPES.has(mediaType)) return { type: 'text', text: `[image: ${mediaType}]` };
    const path = ADDRESS.test(data) ? data : `data:${mediaType};base64,${data}`;
    return { type: 'image', source: { media_type: mediaType, path } };
  });
}

/** What a message says, where it stands in another's place: of a call its name and arguments. */
export function spokenIn(message: Message): AtifContent {
  if (message.role === 'user') return atifContent(message.content);
  if (message.role === 'tool') return atifContent(message.content.flatMap(({ content }) => content));
  return message.content
    .flatMap((part) => {
      if (part.type === 'text') return [part.text];
      return part.type === 'tool-call' ? [`${part.name}(${JSON.stringify(part.input)})`] : [];
    })
    .join('\n');
}

/** What an answer calls. Some models use the same id twice in one answer; here each call has its own. */
export function toolCallsIn(calls: readonly ToolCallPart[]): readonly AtifToolCall[] {
  const times = new Map<string, number>();
  return calls.map(({ id, name, input, malformed }) => {
    const time = (times.get(id) ?? 0) + 1;
    times.set(id, time);
    const isObject = isJsonObject(input);
    const extra = present({ malformed, input: isObject ? undefined : input });
    return {
      tool_call_id: time === 1 ? id : `${id}#${time}`,
      ...{ function_name: name, arguments: isObject ? input : {} },
      ...withExtra(extra),
    };
  });
}

export const withExtra = (extra: JsonObject): { readonly extra?: JsonObject } =>
  Object.keys(extra).length === 0 ? {} : { extra };

/** Nothing where nobody counted anything. */
export function metricsOf(usage: Usage, cost: CallCost | undefined): AtifMetrics | undefined {
  const extra = present({
    reasoning_tokens: usage.reasoningTokens,
    cache_creation_input_tokens: usage.cacheWriteTokens,
  });
  const metrics = present({
    prompt_tokens: usage.inputTokens,
    completion_tokens: usage.outputTokens,
    cached_tokens: usage.cacheReadTokens,
    cost_usd: cost === undefined ? undefined : inUsd(cost.nanoUsd),
  });
  const all = { ...metrics, ...withExtra(extra) };
  return Object.keys(all).length === 0 ? undefined : all;
}

/** In the form of OpenAI's function calling, as the format asks for. */
export const toolDefinitions = ({ tools }: Payloads['session.config']): readonly Json[] =>
  tools.map(({ name, description, inputSchema }) => ({
    type: 'function',
    function: { name, description, parameters: inputSchema },
  }));
