/**
 * Responses: a response is a run, and `previous_response_id` the session that it is in. One that asked something goes on, when it
 * is answered, as the same response.
 */
import { z } from 'zod';
import type { RunId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import { textOf } from '../../events/messages.ts';
import { type ChatRest, giveUp, standingTurn } from '../../front/chat/follow.ts';
import type { FoundConversation, SaidBefore } from '../../front/chat/said-before.ts';
import { findVisibleRun } from '../../front/sight.ts';
import type { RunRow } from '../../ledger/port.ts';
import { createShownCalls } from '../edges/calls.ts';
import { type EdgeReply, type EdgeRequest, SSE } from '../edges/edge.ts';
import { unhurried } from '../edges/unhurried.ts';
import { drained, firstIssue } from './chat.ts';
import { errorReply, invalidValue, type OpenAiFailure } from './errors.ts';
import { createGrowingText } from './growing-text.ts';
import { conversationIn, type GivenMessage, givenMessage, refusedParameter } from './messages-in.ts';
import type { OpenAiNeeds } from './needs.ts';
import { createResponseOut, type ResponseAbout, type ResponseEvent, responseId } from './response-out.ts';
import { bySaid, type TakenTurn, taken } from './taken.ts';
import { type TurnOut, turnOut } from './turn-out.ts';

const item = z.looseObject({ type: z.string().optional(), role: z.string().optional() });
const responsesBody = z.looseObject({
  model: z.string().min(1).max(200),
  input: z.union([z.string(), z.array(item).min(1).max(limits.chatMessages)]),
  instructions: z.string().nullish(),
  previous_response_id: z.string().max(100).nullish(),
  stream: z.boolean().nullish(),
  background: z.boolean().nullish(),
  metadata: z.record(z.string(), z.unknown()).nullish(),
});
type ResponsesBody = z.infer<typeof responsesBody>;

export async function answerResponses(needs: OpenAiNeeds, request: EdgeRequest): Promise<EdgeReply | undefined> {
  const { method, path } = request;
  const [, id, act, ...more] = path;
  if (method === 'POST' && id === undefined) return await create(needs, request);
  if (id === undefined || more.length > 0) return undefined;
  const isCancel = method === 'POST' && act === 'cancel';
  if (!isCancel && !(method === 'GET' && act === undefined)) return undefined;
  const row = await rowOf(needs, request, id);
  if (row === undefined) return errorReply(noResponse(id));
  if (isCancel && row.endedAt === null) await giveUp(needs.chat, { ...row, after: 0, before: false }, request.caller.name);
  return await asItStands(needs, row);
}

async function create(needs: OpenAiNeeds, request: EdgeRequest): Promise<EdgeReply> {
  const parsed = responsesBody.safeParse(request.body);
  if (!parsed.success) return errorReply(firstIssue(parsed.error));
  const { data } = parsed;
  const refused = refusedParameter(data);
  if (refused !== undefined) return errorReply(refused);
  const messages = messagesIn(data.input);
  if (!messages.ok) return errorReply(messages.error);
  const previous = data.previous_response_id ?? undefined;
  const wanted = data.instructions ? [data.instructions] : [];
  const said = conversationIn(data.model, messages.value, 'input', wanted);
  if (!said.ok) return errorReply(said.error);
  const find = previous === undefined ? bySaid(needs, request, said.value) : byResponse(needs, request, said.value, previous);
  const turn = await taken(needs, request, data.stream === true, find);
  if (!turn.ok) return errorReply(turn.error);
  return await told(needs, request, turn.value, data);
}

/** What an agent called before, and thought, is known here: it comes back as the client was given it. */
function messagesIn(input: ResponsesBody['input']): Result<readonly GivenMessage[], OpenAiFailure> {
  if (typeof input === 'string') return ok([{ role: 'user', content: input }]);
  const messages: GivenMessage[] = [];
  for (const [index, one] of input.entries()) {
    if (['mcp_call', 'reasoning'].includes(one.type ?? '')) continue;
    const read = (one.type ?? 'message') === 'message' ? givenMessage.safeParse(one) : undefined;
    if (read?.success !== true)
      return fail(invalidValue(`An item of the type ${JSON.stringify(one.type)} cannot be read here.`, `input[${index}]`));
    messages.push(read.data);
  }
  return ok(messages);
}

const noResponse = (id: string): OpenAiFailure => ({
  ...invalidValue(`There is no response ${JSON.stringify(id.slice(0, 100))}.`, 'previous_response_id'),
  ...{ status: 404, code: 'response_not_found' },
});

/** One that this caller has asked for; nobody else's is there. */
async function rowOf({ chat }: OpenAiNeeds, { caller }: EdgeRequest, id: string): Promise<RunRow | undefined> {
  if (!/^resp_[0-9a-z]{1,40}$/.test(id)) return undefined;
  const row = await findVisibleRun(chat.ledger, { name: caller.name, sees: 'own' }, id.replace(/^resp_/, 'run_'));
  return row?.parent === null ? row : undefined;
}

const byResponse =
  (needs: OpenAiNeeds, request: EdgeRequest, { agent, turns, instructions }: SaidBefore, previous: string) =>
  async (): Promise<Result<FoundConversation, OpenAiFailure>> => {
    const row = await rowOf(needs, request, previous);
    if (row === undefined) return fail(noResponse(previous));
    const [latest] = await needs.chat.ledger.runs({ session: row.session, roots: true, limit: 1 });
    if (latest !== undefined && latest.run !== row.run)
      return fail(invalidValue(`The conversation has gone on; go on from ${responseId(latest.run)}.`, 'previous_response_id'));
    const content = [
      ...(instructions === '' ? [] : [{ type: 'text', text: `${instructions}\n\n` } as const]),
      ...turns.flatMap((turn) => turn.content),
    ];
    const text = textOf(turns.flatMap((turn) => turn.content));
    return ok({ prompt: { agent, text, session: row.session, input: { role: 'user', content } } });
  };

async function told(needs: OpenAiNeeds, request: EdgeRequest, taking: TakenTurn, data: ResponsesBody): Promise<EdgeReply> {
  const about: ResponseAbout = {
    ...{ turn: taking.turn, created: Math.floor(needs.chat.clock.now() / 1_000), previous: data.previous_response_id ?? null },
    ...{ instructions: data.instructions ?? null, metadata: data.metadata ?? {} },
  };
  if (data.background === true) return await asItStands(needs, taking.turn, about);
  if (data.stream === true)
    return { kind: 'stream', type: SSE, close: taking.close, pieces: (signal) => frames(needs, taking, about, signal) };
  const leaving = new AbortController();
  request.signal.addEventListener('abort', () => leaving.abort(), { once: true });
  const done = (async () => {
    const out = createResponseOut(about);
    const calls = createShownCalls();
    const rested = await drained(taking.follow(leaving.signal), (news) => {
      if (news.kind === 'event') for (const one of calls.of(news.event)) out.call(one);
    }).finally(taking.close);
    finished(out, taking, turnOut(needs.chat, rested.rest), (answer) => answer);
    out.end(turnOut(needs.chat, rested.rest), rested);
    // A response that failed is told like one that did not.
    return { reply: { kind: 'value', status: 200, value: out.value() } as const, late: out.value() };
  })();
  return await unhurried({ clock: needs.chat.clock, done, left: () => leaving.abort() });
}

type Out = ReturnType<typeof createResponseOut>;

/** What is left to say: of an answer, what was not said on the way. */
function finished(out: Out, { unseen }: TakenTurn, rest: TurnOut, left: (answer: string) => string): readonly ResponseEvent[] {
  if (rest.kind === 'failed') return [];
  const before = unseen === undefined ? [] : out.text(unseen);
  return [...before, ...(rest.kind === 'answer' ? out.text(left(rest.text)) : out.text(rest.text, true))];
}

async function* frames(
  needs: OpenAiNeeds,
  taking: TakenTurn,
  about: ResponseAbout,
  signal: AbortSignal,
): AsyncGenerator<string, void> {
  const out = createResponseOut(about);
  const speech = createGrowingText();
  const calls = createShownCalls();
  let sequence = 0;
  const written = (events: readonly ResponseEvent[]): string =>
    events
      .map((event) => `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number: sequence++ })}\n\n`)
      .join('');
  yield written(out.begin());
  const news = taking.follow(signal);
  for (let next = await news.next(); ; next = await news.next()) {
    if (next.done === true) {
      if (signal.aborted) return;
      const rest = turnOut(needs.chat, next.value.rest);
      return yield written([...finished(out, taking, rest, speech.end), ...out.end(rest, next.value)]);
    }
    const one = next.value;
    if (one.kind === 'quiet') yield ': still at work\n\n';
    else if (one.kind === 'words') {
      const text = speech.hear(one.piece);
      if (text !== '') yield written(out.text(text));
    } else for (const told of calls.of(one.event)) yield written(out.call(told));
  }
}

async function asItStands(
  needs: OpenAiNeeds,
  row: Pick<RunRow, 'run' | 'session' | 'agent'>,
  known?: ResponseAbout,
): Promise<EdgeReply> {
  const calls = createShownCalls();
  const turn = { ...row, run: row.run as RunId, after: 0, before: false };
  const { rest, tree, events, startedAt } = await standingTurn(needs.chat, turn);
  const out = createResponseOut(
    known ?? { turn, created: Math.floor(startedAt / 1_000), previous: null, instructions: null, metadata: {} },
  );
  for (const event of events) for (const one of calls.of(event)) out.call(one);
  if (rest !== undefined) {
    const said = turnOut(needs.chat, rest as ChatRest);
    if (said.kind !== 'failed') out.text(said.text);
    out.end(said, { rest, tree });
  }
  return { kind: 'value', status: 200, value: out.value() };
}
