/**
 * The ports of one loop, served to the runners that play it. A runner can have done what the model asked for and nothing
 * else: a call is looked up in the answer that asked for it, and refused when it differs.
 */

import type { z } from 'zod';
import type { Json } from '../../base/json.ts';
import { present } from '../../base/present.ts';
import { ok, type Result } from '../../base/result.ts';
import { type Message, type ToolCallPart, type ToolResultPart, textOf, toolCallsOf } from '../../events/messages.ts';
import type { Checkpoint, Ending, LoopInput, LoopPorts, TurnOutcome, TurnRequest } from '../../loop/port.ts';
import { lastWordsOf } from '../../loop/without-report.ts';
import type { ToolSpec } from '../../models/port.ts';
import type { CondensedReply, LlmReply, LlmRequest, ServiceContextReply, Start, ToolReply } from '../wire/frames.ts';
import { condensed, llmRequest, serviceContext, toolCall, turnOnly } from '../wire/frames.ts';
import { INVALID_PARAMS, type Method, type RpcResult, rpcRefusal } from '../wire/rpc.ts';
import { createGivenItems, createMirror, type GivenItems, type Mirror } from './numbered-messages.ts';
import type { PortCalls } from './port-calls.ts';

type Answer = Extract<TurnOutcome, { kind: 'answer' }>['answer'];
type Outgoing = LlmReply | ToolReply | ServiceContextReply | CondensedReply | boolean;

export interface ServedPorts {
  /** The methods for one runner. */
  methods(onProgress: (turn: number) => void): Readonly<Record<string, Method>>;
  start(thread: string): Start;
  /** How far the loop has come: turns that were asked for, and the last thing that the agent said. */
  progress(): { readonly turns: number; readonly lastWords: string };
}

interface Served {
  readonly input: LoopInput;
  readonly ports: LoopPorts;
  readonly calls: PortCalls;
  readonly given: GivenItems;
  readonly specs: readonly ToolSpec[];
  /** The same list for the same tools: models translate each list once. */
  readonly lists: Map<string, readonly ToolSpec[]>;
  /** The answer of the turn that the runner is at. */
  latest: { readonly turn: number; readonly answer: Answer; readonly beside: number } | undefined;
  lastWords: string;
  /** Where a runner that takes the place of this one begins. */
  from: LoopInput['from'];
  turns: number;
}

interface Runner {
  readonly mirror: Mirror;
  /** What its conversation was condensed to last, until it has gone on from there. */
  left: Checkpoint | undefined;
}

export function servePorts(input: LoopInput, ports: LoopPorts, calls: PortCalls): ServedPorts {
  const served: Served = {
    ...{ input, ports, calls },
    given: createGivenItems((item) => ports.reference(item)),
    specs: [...ports.tools.specs, ...input.exits.map((exit) => exit.spec)],
    lists: new Map(),
    latest: undefined,
    lastWords: '',
    from: input.from,
    turns: 0,
  };
  return {
    methods: (onProgress) => methodsOf(served, onProgress),
    start: (thread) => startOf(served, thread),
    progress: () => ({ turns: served.turns, lastWords: served.lastWords }),
  };
}

function startOf({ input, ports, given, turns, from }: Served, thread: string): Start {
  return {
    thread_id: thread,
    agent: input.agent,
    system: input.system,
    history: from === undefined ? input.history.map((message) => given.give(message)) : [],
    request: given.give(input.request),
    ...present({ condense: input.condense }),
    ...present({ from: from && { ...from, messages: from.messages.map((message) => given.give<Message>(message)) } }),
    tools: ports.tools.specs.map((spec) => spec.name),
    exits: input.exits.map((exit) => ({ name: exit.spec.name, goes_on: exit.goesOn === true })),
    limits: input.limits,
    // What a runner before this one began has to come to its end, too.
    begun: Math.max(turns, begunTurns(ports, (from?.turn ?? 1) - 1, input.limits.maxTurns)),
    cancelled: ports.signal.aborted,
    listens: { incoming: ports.incoming !== undefined, unheard: ports.unheard !== undefined },
  };
}

function begunTurns({ model }: LoopPorts, before: number, maxTurns: number): number {
  let turn = before;
  while (turn < maxTurns && model.begun?.(turn + 1) === true) turn += 1;
  return turn;
}

function methodsOf(served: Served, onProgress: (turn: number) => void): Readonly<Record<string, Method>> {
  const { ports, calls, given } = served;
  const runner: Runner = { mirror: createMirror(given), left: undefined };
  const method = <Params>(schema: z.ZodType<Params>, run: (params: Params) => Promise<Outgoing | undefined>): Method =>
    checked(schema, async (params) => {
      try {
        return await run(params);
      } catch (error) {
        calls.fail(error);
        throw error;
      }
    });
  return {
    on_llm_request: method(llmRequest, (params) => llm(served, runner, params)),
    on_tool_call: method(toolCall, async ({ turn, index, part, tool_name, arguments: input }) => {
      const asking = served.latest?.turn === turn ? served.latest : undefined;
      const call = asking?.answer.message.content[part];
      if (asking === undefined || !isSameCall(call, tool_name, input)) return undefined;
      const run = () => ports.tools.call(turn, index, call, asking.beside);
      return given.give<ToolResultPart>(await calls.once(`tool/${turn}/${index}`, run));
    }),
    on_aggregate_service_context: method(serviceContext, async ({ turn, room_tokens }) => {
      const incoming = await calls.once(`incoming/${turn}`, async () => await ports.incoming?.(turn, room_tokens));
      const messages = (incoming?.messages ?? []).map((message) => given.give(message));
      return { messages, overflow: incoming?.overflow === true };
    }),
    condense: method(condensed, (params) => condense(served, runner, params)),
    unheard: method(turnOnly, ({ turn }) => calls.once(`unheard/${turn}`, async () => (await ports.unheard?.(turn)) === true)),
    progress: method(turnOnly, async ({ turn }) => {
      onProgress(turn);
      return true;
    }),
  };
}

/** Checks what came before anything is done with it; `undefined` means that it names what there is not. */
function checked<Params>(schema: z.ZodType<Params>, run: (params: Params) => Promise<Outgoing | undefined>): Method {
  return async (params): Promise<RpcResult> => {
    const parsed = schema.safeParse(params);
    const reply = parsed.success ? await run(parsed.data) : undefined;
    // Everything that goes out is made of JSON; what is undefined in it stays behind.
    return reply === undefined ? rpcRefusal(INVALID_PARAMS, 'These are not parameters of this method.') : ok(reply as Json);
  };
}

function isSameCall(call: Message['content'][number] | undefined, name: string, input: Json): call is ToolCallPart {
  return call?.type === 'tool-call' && call.name === name && JSON.stringify(call.input) === JSON.stringify(input);
}

async function llm(served: Served, runner: Runner, params: LlmRequest): Promise<LlmReply | undefined> {
  const { ports, calls, given } = served;
  const { turn } = params;
  if (runner.left?.turn === turn) letGo(served, runner, runner.left);
  const followed = runner.mirror.follow(params);
  const tools = offered(served, params.tools);
  if (followed === undefined || tools === undefined || turn < 1 || turn > served.input.limits.maxTurns) return undefined;
  served.turns = Math.max(served.turns, turn);
  const request: TurnRequest = {
    turn,
    messages: followed.messages,
    newFrom: params.new_from,
    tools,
    toolChoice: params.tool_choice,
    outputSchema: params['output_schema'],
  };
  const outcome = await calls.once(`model/${turn}`, () => ports.model.ask(request));
  if (outcome.kind === 'no_budget') return outcome;
  const places = followed.fresh.map((item) => ports.reference(item) ?? null);
  const known = places.some((place) => place !== null) ? { places } : {};
  if (outcome.kind === 'failed') return { ...outcome, ...known };
  const { answer } = outcome;
  served.latest = { turn, answer, beside: toolCallsOf(answer.message).length - (exitIn(served.input, answer, tools) ? 1 : 0) };
  served.lastWords = lastWordsOf([answer.message]) || served.lastWords;
  const { inputTokens } = answer.usage;
  const taken = await calls.once(`ending/${turn}`, () => ending(served.input, answer, tools));
  return {
    kind: 'answer',
    answer: given.give<Message>(answer.message),
    ...present({ input_tokens: inputTokens, taken }),
    ...known,
  };
}

async function condense(served: Served, runner: Runner, params: z.infer<typeof condensed>): Promise<CondensedReply | undefined> {
  const { ports, calls, given, input } = served;
  const { turn, text, unsent, ending } = params;
  const fresh: (Message | ToolResultPart)[] = [];
  const kept = params.kept.flatMap((sent) => runner.mirror.find(sent, fresh) ?? []);
  if (kept.length < params.kept.length || unsent > kept.length) return undefined;
  const leads = params.leads ? [input.request] : [];
  const left = { turn, unsent, ...present({ ending }) };
  const summary = await calls.once(`condense/${turn}`, () => ports.condense({ ...left, text, leads, kept }));
  runner.left = { ...left, messages: [...leads, summary, ...kept] };
  const places = fresh.map((item) => ports.reference(item) ?? null);
  return { ...given.give(summary), ...(places.some((place) => place !== null) ? { places } : {}) };
}

/**
 * What is condensed away goes once the runner has gone on from there: one that takes its place begins with what is left, and no
 * sooner, since whoever began before still asks for what was.
 */
function letGo(served: Served, runner: Runner, left: Checkpoint): void {
  served.given.keepOnly([served.input.request, ...left.messages]);
  runner.mirror.keepOnly(left.messages);
  served.calls.forgetBefore(left.turn);
  served.from = left;
  runner.left = undefined;
}

function offered({ specs, lists }: Served, positions: readonly number[]): readonly ToolSpec[] | undefined {
  const key = positions.join(' ');
  const known = lists.get(key);
  if (known !== undefined) return known;
  const list = positions.flatMap((position) => specs[position] ?? []);
  if (list.length !== positions.length) return undefined;
  lists.set(key, list);
  return list;
}

/** What the loop would ask about this answer: its first exit among the tools that were offered, or its plain text. */
async function ending(input: LoopInput, answer: Answer, tools: readonly ToolSpec[]): Promise<Result<Ending, string> | undefined> {
  const found = exitIn(input, answer, tools);
  if (found !== undefined) return await found.exit.take(found.call);
  const text = textOf(answer.message.content).trim();
  return toolCallsOf(answer.message).length > 0 || text === '' ? undefined : input.plain(text);
}

/** The call that may end the loop. It is none of the tools'. */
function exitIn(input: LoopInput, answer: Answer, tools: readonly ToolSpec[]) {
  for (const call of toolCallsOf(answer.message)) {
    const exit = input.exits.find(({ spec }) => spec.name === call.name && tools.includes(spec));
    if (exit !== undefined) return { exit, call };
  }
  return undefined;
}
