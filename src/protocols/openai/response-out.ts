/**
 * A response as it grows: its items, and the events of a stream that tell of each. Calls that an agent made are items that are
 * done (`mcp_call`: run by the server, with what came of it); a client has nothing to execute.
 */
import { present } from '../../base/present.ts';
import type { RestedTurn } from '../../front/chat/follow.ts';
import type { ChatTurn } from '../../front/chat/turn.ts';
import type { CallNews, ShownCall } from '../edges/calls.ts';
import { aboutTurn, type TurnOut, tokensUsed } from './turn-out.ts';

export interface ResponseAbout {
  readonly turn: ChatTurn;
  /** In seconds. */
  readonly created: number;
  readonly previous: string | null;
  readonly instructions: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
}

export type ResponseEvent = { readonly type: string } & Readonly<Record<string, unknown>>;

export interface ResponseOut {
  begin(): readonly ResponseEvent[];
  call(news: CallNews): readonly ResponseEvent[];
  /** A piece of text; `apart` begins another message. */
  text(delta: string, apart?: boolean): readonly ResponseEvent[];
  end(out: TurnOut, rested: RestedTurn): readonly ResponseEvent[];
  /** As it stands. */
  value(): object;
}

export const responseId = (run: string): string => `resp_${run.slice(4)}`;

type Phase = 'commentary' | 'final_answer';

export function createResponseOut(about: ResponseAbout): ResponseOut {
  const items: object[] = [];
  const calls = new Map<string, number>();
  let message: { readonly index: number; readonly id: string; text: string } | undefined;
  let ending: object = { status: 'in_progress' };
  const id = responseId(about.turn.run);
  const value = (): object => ({ ...emptyResponse(id, about), ...ending, output: [...items] });

  const closed = (phase: Phase): readonly ResponseEvent[] => {
    if (message === undefined) return [];
    const { index, id: item_id, text } = message;
    message = undefined;
    const part = textPart(text);
    const item = messageItem(item_id, 'completed', [part], phase);
    items[index] = item;
    const at = { item_id, output_index: index, content_index: 0 };
    return [
      { type: 'response.output_text.done', ...at, text, logprobs: [] },
      { type: 'response.content_part.done', ...at, part },
      { type: 'response.output_item.done', output_index: index, item },
    ];
  };
  const opened = (): readonly ResponseEvent[] => {
    const index = items.length;
    message = { index, id: `msg_${id.slice(5)}_${index}`, text: '' };
    const item = messageItem(message.id, 'in_progress', []);
    items.push(item);
    const at = { item_id: message.id, output_index: index, content_index: 0 };
    return [
      { type: 'response.output_item.added', output_index: index, item },
      { type: 'response.content_part.added', ...at, part: textPart('') },
    ];
  };
  const text = (delta: string, apart = false): readonly ResponseEvent[] => {
    if (delta === '') return [];
    const before = apart ? closed('commentary') : [];
    const open = message === undefined ? opened() : [];
    if (message === undefined) return before;
    message.text += delta;
    const at = { item_id: message.id, output_index: message.index, content_index: 0 };
    return [...before, ...open, { type: 'response.output_text.delta', ...at, delta, logprobs: [] }];
  };
  const call = (news: CallNews): readonly ResponseEvent[] => {
    const before = closed('commentary');
    const output_index = calls.get(news.call.id) ?? items.length;
    const item = callItem(news);
    items[output_index] = item;
    if (news.kind === 'began') {
      calls.set(news.call.id, output_index);
      const at = { item_id: item.id, output_index };
      return [
        ...before,
        { type: 'response.output_item.added', output_index, item },
        { type: 'response.mcp_call.in_progress', ...at },
      ];
    }
    const at = { item_id: item.id, output_index };
    return [
      ...before,
      { type: 'response.mcp_call_arguments.done', ...at, arguments: item.arguments },
      { type: news.failed ? 'response.mcp_call.failed' : 'response.mcp_call.completed', ...at },
      { type: 'response.output_item.done', output_index, item },
    ];
  };
  return {
    ...{ value, text, call },
    begin: () => [
      { type: 'response.created', response: value() },
      { type: 'response.in_progress', response: value() },
    ],
    end(out, rested) {
      const before = closed('final_answer');
      ending = endingOf(about.turn, out, rested);
      const type =
        out.kind === 'failed'
          ? 'response.failed'
          : out.kind === 'answer' && out.cut
            ? 'response.incomplete'
            : 'response.completed';
      return [...before, { type, response: value() }];
    },
  };
}

function endingOf(turn: ChatTurn, out: TurnOut, rested: RestedTurn): object {
  const { inputTokens, outputTokens, cacheReadTokens, total } = tokensUsed(turn, rested);
  const usage = {
    ...{ input_tokens: inputTokens, input_tokens_details: { cached_tokens: cacheReadTokens } },
    ...{ output_tokens: outputTokens, output_tokens_details: { reasoning_tokens: 0 }, total_tokens: total },
  };
  const known = { usage, troupe: aboutTurn(turn, rested) };
  if (out.kind === 'failed') {
    const status = out.failure.code === 'cancelled' ? 'cancelled' : 'failed';
    return { ...known, status, error: { code: out.failure.code, message: out.failure.message } };
  }
  if (out.kind === 'answer' && out.cut)
    return { ...known, status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } };
  return { ...known, status: 'completed' };
}

const textPart = (text: string) => ({ type: 'output_text', text, annotations: [], logprobs: [] });

const messageItem = (id: string, status: string, content: readonly object[], phase?: Phase) => ({
  ...{ id, type: 'message', role: 'assistant', status, content },
  ...present({ phase }),
});

function callItem(news: CallNews) {
  const { id, agent, tool, input }: ShownCall = news.call;
  const ended = news.kind === 'ended' ? news : undefined;
  const isFailed = ended?.failed === true;
  return {
    ...{ id, type: 'mcp_call', server_label: agent, name: tool, arguments: JSON.stringify(input), approval_request_id: null },
    status: ended === undefined ? 'in_progress' : isFailed ? 'failed' : 'completed',
    output: ended === undefined || isFailed ? null : ended.output,
    error: isFailed ? { type: 'mcp_tool_execution_error', content: [{ type: 'text', text: ended?.output ?? '' }] } : null,
  };
}

/** What clients expect to find, whether it means anything here or not. */
function emptyResponse(id: string, { turn, created, previous, instructions, metadata }: ResponseAbout): object {
  return {
    ...{ id, object: 'response', created_at: created, model: turn.agent, previous_response_id: previous, instructions, metadata },
    ...{
      error: null,
      incomplete_details: null,
      output: [],
      usage: null,
      tools: [],
      tool_choice: 'auto',
      parallel_tool_calls: true,
    },
    ...{ temperature: null, top_p: null, max_output_tokens: null, truncation: 'disabled', store: true, background: false },
    ...{ text: { format: { type: 'text' } }, reasoning: { effort: null, summary: null }, service_tier: 'default', user: null },
  };
}
