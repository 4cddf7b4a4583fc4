/** Anthropic's messages, and Gemini's generateContent. */
import type { Json } from '../../../src/base/json.ts';
import { type Answer, callsOf, pieces, type SeenRequest, sse, usageOf } from './script.ts';

export const SIGNATURE = 'c2lnbmF0dXJl';

export function anthropicJson(answer: Answer, request: SeenRequest): Json {
  return {
    id: `msg_${request.index}`,
    type: 'message',
    role: 'assistant',
    model: answer.model ?? request.model,
    content: blocks(answer, request),
    stop_reason: stopReason(answer),
    stop_sequence: null,
    usage: anthropicUsage(answer),
  };
}

export function anthropicStream(answer: Answer, request: SeenRequest): string {
  const message = { ...(anthropicJson(answer, request) as Record<string, Json>), content: [], stop_reason: null };
  const parts = [sse({ type: 'message_start', message: { ...message, usage: anthropicUsage(answer) } }, 'message_start')];
  parts.push(...blocks(answer, request).flatMap(streamBlock));
  const usage = { output_tokens: usageOf(answer).output };
  parts.push(
    sse({ type: 'message_delta', delta: { stop_reason: stopReason(answer), stop_sequence: null }, usage }, 'message_delta'),
  );
  parts.push(sse({ type: 'message_stop' }, 'message_stop'));
  return parts.join('');
}

function streamBlock(block: Record<string, Json>, index: number): string[] {
  const delta = (value: Json): string => sse({ type: 'content_block_delta', index, delta: value }, 'content_block_delta');
  const start = (value: Json): string => sse({ type: 'content_block_start', index, content_block: value }, 'content_block_start');
  const stop = sse({ type: 'content_block_stop', index }, 'content_block_stop');
  switch (block['type']) {
    case 'text':
      return [
        start({ type: 'text', text: '' }),
        ...pieces(String(block['text'])).map((text) => delta({ type: 'text_delta', text })),
        stop,
      ];
    case 'thinking':
      return [
        start({ type: 'thinking', thinking: '', signature: '' }),
        ...pieces(String(block['thinking'])).map((thinking) => delta({ type: 'thinking_delta', thinking })),
        delta({ type: 'signature_delta', signature: block['signature'] ?? '' }),
        stop,
      ];
    default: {
      const text = JSON.stringify(block['input']);
      const empty = { ...block, input: {} };
      return [start(empty), ...pieces(text).map((partial_json) => delta({ type: 'input_json_delta', partial_json })), stop];
    }
  }
}

function blocks(answer: Answer, request: SeenRequest): Record<string, Json>[] {
  const content: Record<string, Json>[] = [];
  if (answer.reasoning !== undefined) content.push({ type: 'thinking', thinking: answer.reasoning, signature: SIGNATURE });
  if (answer.text !== undefined) content.push({ type: 'text', text: answer.text });
  for (const call of callsOf(answer, request.index))
    content.push({ type: 'tool_use', id: call.id, name: call.name, input: call.input });
  return content;
}

const stopReason = (answer: Answer): string => answer.finish ?? (answer.calls === undefined ? 'end_turn' : 'tool_use');

function anthropicUsage(answer: Answer): Json {
  const { input, output, cached } = usageOf(answer);
  return { input_tokens: input - cached, cache_read_input_tokens: cached, cache_creation_input_tokens: 0, output_tokens: output };
}

export function geminiJson(answer: Answer, request: SeenRequest): Json {
  const { input, output, cached } = usageOf(answer);
  const parts: Json[] = [];
  if (answer.text !== undefined) parts.push({ text: answer.text });
  for (const call of callsOf(answer, request.index)) parts.push({ functionCall: { name: call.name, args: call.input } });
  return {
    candidates: [{ content: { role: 'model', parts }, finishReason: answer.finish ?? 'STOP', index: 0 }],
    usageMetadata: {
      promptTokenCount: input,
      candidatesTokenCount: output,
      totalTokenCount: input + output,
      cachedContentTokenCount: cached,
    },
    modelVersion: answer.model ?? request.model,
  };
}

export const geminiStream = (answer: Answer, request: SeenRequest): string => sse(geminiJson(answer, request));
