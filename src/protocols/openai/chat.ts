/** Chat completions: the whole conversation comes, one answer goes. */
import { z } from 'zod';
import { limits } from '../../base/limits.ts';
import type { ChatNews, RestedTurn } from '../../front/chat/follow.ts';
import { createShownCalls } from '../edges/calls.ts';
import { type EdgeReply, type EdgeRequest, SSE } from '../edges/edge.ts';
import { unhurried } from '../edges/unhurried.ts';
import { errorReply, errorValue, invalidValue } from './errors.ts';
import { createGrowingText } from './growing-text.ts';
import { conversationIn, givenMessage, refusedParameter } from './messages-in.ts';
import type { OpenAiNeeds } from './needs.ts';
import { bySaid, type TakenTurn, taken } from './taken.ts';
import { aboutTurn, type TurnOut, tokensUsed, turnOut } from './turn-out.ts';

const chatBody = z.looseObject({
  model: z.string().min(1).max(200),
  messages: z.array(givenMessage).min(1).max(limits.chatMessages),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
});

export async function answerChat(needs: OpenAiNeeds, request: EdgeRequest): Promise<EdgeReply> {
  const parsed = chatBody.safeParse(request.body);
  if (!parsed.success) return errorReply(firstIssue(parsed.error));
  const { model, messages, stream, stream_options } = parsed.data;
  const refused = refusedParameter(parsed.data);
  if (refused !== undefined) return errorReply(refused);
  const said = conversationIn(model, messages, 'messages');
  if (!said.ok) return errorReply(said.error);
  const turn = await taken(needs, request, stream === true, bySaid(needs, request, said.value));
  if (!turn.ok) return errorReply(turn.error);
  const created = Math.floor(needs.chat.clock.now() / 1_000);
  if (stream !== true) return await whole(needs, request, turn.value, created);
  const withUsage = stream_options?.include_usage === true;
  return {
    ...{ kind: 'stream', type: SSE, close: turn.value.close },
    pieces: (signal) => chunks(needs, turn.value, { created, withUsage }, signal),
  };
}

/** The first thing that is wrong, and where. */
export function firstIssue({ issues }: z.ZodError) {
  const [first] = issues;
  const param = first?.path
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`))
    .join('')
    .slice(1);
  return invalidValue(first?.message ?? 'The body cannot be read.', param || undefined);
}

const idOf = ({ turn }: TakenTurn): string => `chatcmpl-${turn.run.slice(4)}`;

const usageOf = (taking: TakenTurn, rested: RestedTurn) => {
  const { inputTokens, outputTokens, cacheReadTokens, total } = tokensUsed(taking.turn, rested);
  return {
    ...{ prompt_tokens: inputTokens, completion_tokens: outputTokens, total_tokens: total },
    prompt_tokens_details: { cached_tokens: cacheReadTokens },
  };
};

async function whole(needs: OpenAiNeeds, { signal }: EdgeRequest, taking: TakenTurn, created: number): Promise<EdgeReply> {
  const leaving = new AbortController();
  signal.addEventListener('abort', () => leaving.abort(), { once: true });
  const value = (message: object, rested: RestedTurn, finish: string) => ({
    ...{ id: idOf(taking), object: 'chat.completion', created, model: taking.turn.agent },
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: null, refusal: null, ...message },
        finish_reason: finish,
        logprobs: null,
      },
    ],
    ...{ usage: usageOf(taking, rested), troupe: aboutTurn(taking.turn, rested) },
  });
  const done = (async () => {
    const rested = await drained(taking.follow(leaving.signal)).finally(taking.close);
    const out = turnOut(needs.chat, rested.rest);
    if (out.kind === 'failed')
      return {
        reply: errorReply(out.failure) as EdgeReply & { kind: 'value' },
        late: value({ refusal: out.failure.message }, rested, 'stop'),
      };
    const content = taking.unseen === undefined ? out.text : `${taking.unseen}\n\n${out.text}`;
    const said = value({ content }, rested, finishOf(out));
    return { reply: { kind: 'value', status: 200, value: said } as const, late: said };
  })();
  return await unhurried({ clock: needs.chat.clock, done, left: () => leaving.abort() });
}

export async function drained(news: AsyncGenerator<ChatNews, RestedTurn>, each?: (news: ChatNews) => void): Promise<RestedTurn> {
  for (;;) {
    const next = await news.next();
    if (next.done === true) return next.value;
    each?.(next.value);
  }
}

interface ChunkOptions {
  readonly created: number;
  readonly withUsage: boolean;
}

async function* chunks(
  needs: OpenAiNeeds,
  taking: TakenTurn,
  { created, withUsage }: ChunkOptions,
  signal: AbortSignal,
): AsyncGenerator<string, void> {
  const common = { id: idOf(taking), object: 'chat.completion.chunk', created, model: taking.turn.agent };
  const chunk = (delta: object, finish: string | null = null, more: object = {}): string =>
    frame({ ...common, choices: [{ index: 0, delta, finish_reason: finish, logprobs: null }], ...more });
  const speech = createGrowingText();
  const calls = createShownCalls();
  yield chunk({ role: 'assistant', content: '' });
  if (taking.unseen !== undefined) yield chunk({ content: speech.add(taking.unseen) });
  const news = taking.follow(signal);
  for (let next = await news.next(); ; next = await news.next()) {
    if (next.done === true) {
      if (signal.aborted) return;
      const out = turnOut(needs.chat, next.value.rest);
      if (out.kind === 'failed') return yield frame(errorValue(out.failure)) + DONE;
      const left = out.kind === 'answer' ? speech.end(out.text) : speech.add(out.text);
      if (left !== '') yield chunk({ content: left });
      yield chunk({}, finishOf(out), { troupe: aboutTurn(taking.turn, next.value) });
      if (withUsage) yield frame({ ...common, choices: [], usage: usageOf(taking, next.value) });
      return yield DONE;
    }
    const one = next.value;
    if (one.kind === 'quiet') yield ': still at work\n\n';
    else if (one.kind === 'words') {
      const text = speech.hear(one.piece);
      if (text !== '') yield chunk({ content: text });
    } else for (const told of calls.of(one.event)) yield progress(common, told);
  }
}

const finishOf = (out: TurnOut): string => (out.kind === 'answer' && out.cut ? 'length' : 'stop');

const DONE = 'data: [DONE]\n\n';
const frame = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;

/** Beside the text: a client that does not know the event finds a chunk without choices in it. */
function progress(common: object, told: ReturnType<ReturnType<typeof createShownCalls>['of']>[number]): string {
  const { id, run, agent, tool } = told.call;
  const status = told.kind === 'began' ? 'running' : told.failed ? 'failed' : 'done';
  return `event: troupe.tool\n${frame({ ...common, choices: [], troupe: { call: id, run, agent, tool, status } })}`;
}
