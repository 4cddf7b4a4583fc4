/** OpenAI's two protocols: chat-completions, and responses. */
import type { Json } from '../../../src/base/json.ts';
import { present } from '../../../src/base/present.ts';
import { type Answer, callsOf, pieces, type SeenRequest, sse, usageOf } from './script.ts';

const CREATED = 1_760_000_000;

export function chatJson(answer: Answer, request: SeenRequest): Json {
  const calls = callsOf(answer, request.index);
  return {
    id: `chatcmpl-${request.index}`,
    object: 'chat.completion',
    created: CREATED,
    model: answer.model ?? request.model,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: answer.text ?? null,
          ...present({ reasoning_content: answer.reasoning }),
          ...(calls.length === 0 ? {} : { tool_calls: calls.map(chatCall) }),
        },
        finish_reason: chatFinish(answer),
      },
    ],
    usage: chatUsage(answer),
  };
}

export function chatStream(answer: Answer, request: SeenRequest): string {
  const head = {
    id: `chatcmpl-${request.index}`,
    object: 'chat.completion.chunk',
    created: CREATED,
    model: answer.model ?? request.model,
  };
  const chunk = (delta: Json, finish: string | null = null): string =>
    sse({ ...head, choices: [{ index: 0, delta, finish_reason: finish }] });
  const parts = [chunk({ role: 'assistant', content: '' })];
  for (const piece of pieces(answer.reasoning ?? '')) parts.push(chunk({ reasoning_content: piece }));
  for (const piece of pieces(answer.text ?? '')) parts.push(chunk({ content: piece }));
  callsOf(answer, request.index).forEach((call, index) => {
    parts.push(chunk({ tool_calls: [{ index, id: call.id, type: 'function', function: { name: call.name, arguments: '' } }] }));
    for (const piece of pieces(call.text)) parts.push(chunk({ tool_calls: [{ index, function: { arguments: piece } }] }));
  });
  parts.push(chunk({}, chatFinish(answer)), sse({ ...head, choices: [], usage: chatUsage(answer) }), 'data: [DONE]\n\n');
  return parts.join('');
}

const chatCall = (call: { id: string; name: string; text: string }): Json => ({
  id: call.id,
  type: 'function',
  function: { name: call.name, arguments: call.text },
});

const chatFinish = (answer: Answer): string => answer.finish ?? (answer.calls === undefined ? 'stop' : 'tool_calls');

function chatUsage(answer: Answer): Json {
  const { input, output, cached } = usageOf(answer);
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cached },
    completion_tokens_details: { reasoning_tokens: 0 },
  };
}

export function responsesJson(answer: Answer, request: SeenRequest): Json {
  return {
    ...responsesHead(answer, request),
    status: 'completed',
    output: outputItems(answer, request),
    usage: responsesUsage(answer),
  };
}

export function responsesStream(answer: Answer, request: SeenRequest): string {
  const head = responsesHead(answer, request);
  const parts = [sse({ type: 'response.created', response: { ...head, status: 'in_progress', output: [] } })];
  outputItems(answer, request).forEach((item, index) => {
    const started =
      item['type'] === 'function_call' ? { ...item, arguments: '' } : { ...item, ...(item['content'] && { content: [] }) };
    parts.push(sse({ type: 'response.output_item.added', output_index: index, item: started }));
    if (item['type'] === 'message') {
      for (const delta of pieces(answer.text ?? '')) {
        parts.push(
          sse({ type: 'response.output_text.delta', item_id: item['id'], output_index: index, content_index: 0, delta }),
        );
      }
    }
    if (item['type'] === 'function_call') {
      for (const delta of pieces(String(item['arguments']))) {
        parts.push(sse({ type: 'response.function_call_arguments.delta', item_id: item['id'], output_index: index, delta }));
      }
    }
    parts.push(sse({ type: 'response.output_item.done', output_index: index, item }));
  });
  parts.push(sse({ type: 'response.completed', response: responsesJson(answer, request) }));
  return parts.join('');
}

function responsesHead(answer: Answer, request: SeenRequest): Record<string, Json> {
  return { id: `resp_${request.index}`, object: 'response', created_at: CREATED, model: answer.model ?? request.model };
}

function outputItems(answer: Answer, request: SeenRequest): Record<string, Json>[] {
  const items: Record<string, Json>[] = [];
  if (answer.text !== undefined) {
    const content = [{ type: 'output_text', text: answer.text, annotations: [] }];
    items.push({ type: 'message', id: `msg_${request.index}`, status: 'completed', role: 'assistant', content });
  }
  for (const call of callsOf(answer, request.index)) {
    items.push({
      type: 'function_call',
      id: `fc_${call.id}`,
      call_id: call.id,
      name: call.name,
      arguments: call.text,
      status: 'completed',
    });
  }
  return items;
}

function responsesUsage(answer: Answer): Json {
  const { input, output, cached } = usageOf(answer);
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input + output,
  };
}
