/**
 * A model that plays replies. Which one comes next follows from the conversation alone (how often the model has spoken, and
 * to what), so a resumed run gets the reply it would have got. Usage is estimated from the texts and always the same.
 *
 * A reply with `when.contains` is an answer to a cue: it is played whenever the newest message contains the text. All
 * others are played in order.
 */
import { isObject, listOf, requireGiven } from '../../base/check-given.ts';
import { type Clock, sleep } from '../../base/clock.ts';
import { messageOf, TroupeError } from '../../base/errors.ts';
import { isJsonObject, type Json } from '../../base/json.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import type { ModelFailure } from '../../events/catalogue.ts';
import { type AssistantMessage, type Message, type ToolCallPart, textOf } from '../../events/messages.ts';
import { cancelledFailure, timeoutFailure } from '../failures.ts';
import type { Model, ModelAnswer, ModelDelta, ModelOutcome, ModelRequest } from '../port.ts';
import { readArguments } from '../provider/answer.ts';
import { estimateTokens } from '../tokens.ts';
import { type Reply, type ReplyInput, reply, type Script } from './script-file.ts';

export interface ScriptOptions {
  readonly id?: string;
  readonly clock: Clock;
}

export function playScript(script: Script, options: ScriptOptions): Model {
  const id = options.id ?? 'scripted:memory';
  const play = createPlayer(id, options.clock);
  return { id, account: id, ask: (request) => play(nextReply(script, request), request) };
}

/** A scripted model for tests in the same process: keeps what it was asked, in order. */
export interface TestModel extends Model {
  readonly calls: readonly ModelRequest[];
  /** The calls that the script had no reply for. */
  readonly unexpected: readonly ModelRequest[];
}

/**
 * Replies in order, replies in order for each agent, or a function that chooses one for each call; `undefined` means that no call
 * was expected.
 */
export type Replies =
  | readonly ReplyInput[]
  | {
      readonly agents: Readonly<Record<string, readonly ReplyInput[]>>;
      /** For everybody else. */
      readonly replies?: readonly ReplyInput[] | undefined;
    }
  | ((request: ModelRequest, call: number) => ReplyInput | undefined);

/** A model that plays replies from memory, instead of from a file. */
export function scriptedModel(replies: Replies, options: ScriptOptions): TestModel {
  const id = options.id ?? 'scripted:memory';
  const play = createPlayer(id, options.clock);
  const calls: ModelRequest[] = [];
  const unexpected: ModelRequest[] = [];
  const choose = chooser(replies);
  const ask = async (request: ModelRequest): Promise<ModelOutcome> => {
    // As it was asked: the conversation goes on in the same array.
    calls.push({ ...request, messages: [...request.messages] });
    const chosen = choose(request, calls.length - 1);
    if (!chosen.ok) return { kind: 'failed', error: { kind: 'invalid_request', message: chosen.error } };
    const next = chosen.value;
    if (next === undefined) unexpected.push({ ...request, messages: [...request.messages] });
    return await play(next, request);
  };
  return { id, account: id, calls, unexpected, ask };
}

const isList = (replies: Exclude<Replies, (...all: never) => unknown>): replies is readonly ReplyInput[] =>
  Array.isArray(replies);

type Choose = (request: ModelRequest, call: number) => Result<Reply | undefined, string>;

function chooser(replies: Replies): Choose {
  if (typeof replies === 'function') {
    // The test's own code: what it throws is about the test, such as an assertion, and nothing that broke inside Troupe.
    return (request, call) => {
      try {
        const chosen = replies(request, call);
        return chosen === undefined ? ok(undefined) : readReply(chosen, `for call ${call + 1}`);
      } catch (error) {
        return fail(`The function of the replies threw at call ${call + 1}: ${messageOf(error)}`);
      }
    };
  }
  if (!isList(replies)) requireGiven('replies', replies, { agents: isObject, replies: listOf(isObject) });
  const { replies: shared = [], agents = {} } = isList(replies) ? { replies } : replies;
  const parsed = (list: readonly ReplyInput[], of: string): Reply[] =>
    list.map((one, index) => {
      const read = readReply(one, `number ${index + 1}${of}`);
      if (read.ok) return read.value;
      throw new TroupeError('usage', read.error, { fix: 'docs/models.md has the forms of a reply.' });
    });
  const byAgent = Object.entries(agents).map(([agent, list]): [string, Reply[]] => [agent, parsed(list, ` of ${agent}`)]);
  const script: Script = { replies: parsed(shared, ''), agents: Object.fromEntries(byAgent) };
  return (request) => ok(nextReply(script, request));
}

function readReply(given: ReplyInput, which: string): Result<Reply, string> {
  const read = reply.safeParse(given);
  if (read.success) return ok(read.data);
  const problems = read.error.issues.map(({ path, message }) => [path.join('.'), message].filter(Boolean).join(': '));
  return fail(`The reply ${which} cannot be played: ${problems.join('; ')}.`);
}

type Player = (next: Reply | undefined, request: ModelRequest) => Promise<ModelOutcome>;

function createPlayer(id: string, clock: Clock): Player {
  const tries = new Map<string, number>();
  return async (next, request) => {
    if (request.signal.aborted) return { kind: 'failed', error: cancelledFailure };
    if (next === undefined) return { kind: 'failed', error: scriptEnded(id, request) };
    const stopped = await pause(next.delayMs ?? 0, request, clock);
    const failure = stopped ?? scriptedFailure(next, request, tries);
    if (failure !== undefined) return { kind: 'failed', error: failure };
    const answer = answerOf(next, request, id);
    if (request.onDelta !== undefined) streamOut(answer.message, request.onDelta);
    return { kind: 'answer', answer };
  };
}

function nextReply(script: Script, request: ModelRequest): Reply | undefined {
  const own = request.agent === undefined ? undefined : script.agents[request.agent];
  const fitting = (own ?? script.replies).filter((one) => one.when?.agent === undefined || one.when.agent === request.agent);
  const cues = fitting.filter((one) => one.when?.contains !== undefined);
  const inOrder = fitting.filter((one) => one.when?.contains === undefined);
  const cueFor = (message: Message | undefined): Reply | undefined => {
    if (cues.length === 0 || message === undefined) return undefined;
    const text = wordsOf(message);
    return cues.find((one) => text.includes(one.when?.contains ?? ''));
  };
  let played = 0;
  request.messages.forEach((message, index) => {
    if (message.role === 'assistant' && cueFor(request.messages[index - 1]) === undefined) played += 1;
  });
  return cueFor(request.messages.at(-1)) ?? inOrder[played];
}

function wordsOf(message: Message): string {
  if (message.role === 'tool') return message.content.map((part) => textOf(part.content)).join('\n');
  return textOf(message.content);
}

function scriptEnded(id: string, request: ModelRequest): ModelFailure {
  const spoken = request.messages.filter((message) => message.role === 'assistant').length;
  const agent = request.agent === undefined ? '' : ` of ${request.agent}`;
  return { kind: 'script_ended', message: `${id} has no reply for turn ${spoken + 1}${agent}.` };
}

async function pause(delayMs: number, request: ModelRequest, clock: Clock): Promise<ModelFailure | undefined> {
  if (delayMs === 0) return undefined;
  const waited = await sleep(clock, Math.min(delayMs, request.timeoutMs), request.signal);
  if (waited === 'aborted') return cancelledFailure;
  return delayMs > request.timeoutMs ? timeoutFailure('total', request.timeoutMs) : undefined;
}

/** Tries of a turn are told apart by its idempotency key. Only failures that end are counted, so the map stays small. */
function scriptedFailure(next: Reply, request: ModelRequest, tries: Map<string, number>): ModelFailure | undefined {
  if (next.error === undefined) return undefined;
  const { kind, message, status, retryAfterMs, times } = next.error;
  if (times !== undefined) {
    const tried = tries.get(request.idempotencyKey) ?? 0;
    if (tried >= times) {
      tries.delete(request.idempotencyKey);
      return undefined;
    }
    tries.set(request.idempotencyKey, tried + 1);
  }
  const failure: ModelFailure = { kind, message: message ?? `The script fails here: ${kind}.` };
  if (status !== undefined) failure.status = status;
  if (retryAfterMs !== undefined) failure.retryAfterMs = retryAfterMs;
  return failure;
}

function answerOf(next: Reply, request: ModelRequest, id: string): ModelAnswer {
  const values = templateValues(request);
  const content: AssistantMessage['content'] = [];
  if (next.reasoning !== undefined)
    content.push({ type: 'reasoning', text: fillText(next.reasoning, values), provider: 'scripted' });
  if (next.text !== undefined) content.push({ type: 'text', text: fillText(next.text, values) });
  const calls: Omit<ToolCallPart, 'type' | 'id'>[] = (next.toolCalls ?? []).map((call) =>
    'rawInput' in call
      ? { name: call.name, ...readArguments(fillText(call.rawInput, values)) }
      : { name: call.name, input: fill(call.input, values) },
  );
  if (next.finalReport !== undefined) calls.push({ name: 'final_report', input: fill(next.finalReport as Json, values) });
  calls.forEach((call, index) => {
    content.push({ type: 'tool-call', id: `call_${request.messages.length}_${index}`, ...call });
  });
  const message: AssistantMessage = { role: 'assistant', content };
  return {
    message,
    finish: calls.length > 0 ? 'tool-calls' : 'stop',
    usage: {
      inputTokens: estimateTokens(request.messages, request.system, request.tools),
      outputTokens: estimateTokens([message]),
    },
    served: id,
  };
}

interface Values {
  readonly prompt: string;
  readonly lastToolResult: string;
  /** The first place in the conversation that fits, or its first group. */
  match(pattern: string): string | undefined;
}

function templateValues(request: ModelRequest): Values {
  const first = request.messages.find((message) => message.role === 'user');
  const lastTool = request.messages.findLast((message) => message.role === 'tool');
  return {
    prompt: first === undefined ? '' : wordsOf(first),
    lastToolResult: lastTool === undefined ? '' : wordsOf(lastTool),
    match: (pattern) => firstMatch(request.messages, pattern),
  };
}

/** Ids that exist only since the run began: a script finds them where a model would, in what it was told. */
function firstMatch(messages: readonly Message[], pattern: string): string | undefined {
  for (const message of messages) {
    const found = wordsOf(message).match(pattern);
    if (found !== null) return found[1] ?? found[0];
  }
  return undefined;
}

const TEMPLATE = /\{\{\s*(?:(prompt|lastToolResult)|match\s+(.+?))\s*\}\}/g;

/** In one pass: what is filled in is text, and no template. */
function fillText(text: string, values: Values): string {
  return text.replace(TEMPLATE, (whole, name: 'prompt' | 'lastToolResult' | undefined, pattern = '') =>
    name === undefined ? (values.match(pattern) ?? whole) : values[name],
  );
}

function fill(value: Json, values: Values): Json {
  if (typeof value === 'string') return fillText(value, values);
  if (Array.isArray(value)) return value.map((item: Json) => fill(item, values));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, item === undefined ? item : fill(item, values)]));
}

const CHUNK_CHARACTERS = 16;

function streamOut(message: AssistantMessage, onDelta: (delta: ModelDelta) => void): void {
  for (const part of message.content) {
    if (part.type === 'tool-call') onDelta({ type: 'tool', name: part.name });
    else
      for (let at = 0; at < part.text.length; at += CHUNK_CHARACTERS) {
        onDelta({ type: part.type, text: part.text.slice(at, at + CHUNK_CHARACTERS) });
      }
  }
}
