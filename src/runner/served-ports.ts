/**
 * The ports of one session, served to the runners that play it. A runner can have done what the model asked for and nothing
 * else: a call is looked up in the answer that asked for it, and refused when it differs.
 */
import type { z } from 'zod';
import type { Json } from '../base/json.ts';
import { ok, type Result } from '../base/result.ts';
import { type Message, type ToolCallPart, type ToolResultPart, textOf, toolCallsOf } from '../events/messages.ts';
import type { ToolSpec } from '../models/port.ts';
import type { Ending, SessionInput, SessionPorts, TurnOutcome, TurnRequest } from '../session/port.ts';
import type { Asked } from './asked.ts';
import { createGivenItems, createMirror, type GivenItems, type Mirror } from './given.ts';
import { INVALID_PARAMS, type Method, type RpcResult, refusal } from './rpc.ts';
import type { CondensedReply, LlmReply, LlmRequest, ServiceContextReply, Start, ToolReply } from './wire.ts';
import { condensed, llmRequest, serviceContext, toolCall, turnOnly } from './wire.ts';

type Answer = Extract<TurnOutcome, { kind: 'answer' }>['answer'];
type Outgoing = LlmReply | ToolReply | ServiceContextReply | CondensedReply | boolean;

export interface ServedPorts {
  /** The methods for one runner. */
  methods(onProgress: (turn: number) => void): Readonly<Record<string, Method>>;
  start(thread: string): Start;
  /** How far the session has come: turns that were asked for, and the last thing that the agent said. */
  progress(): { readonly turns: number; readonly lastWords: string };
}

interface Served {
  readonly input: SessionInput;
  readonly ports: SessionPorts;
  readonly asked: Asked;
  readonly given: GivenItems;
  readonly specs: readonly ToolSpec[];
  /** The same list for the same tools: models translate each list once. */
  readonly lists: Map<string, readonly ToolSpec[]>;
  /** By turn. */
  readonly answers: Map<number, Answer>;
  turns: number;
}

export function servePorts(input: SessionInput, ports: SessionPorts, asked: Asked): ServedPorts {
  const served: Served = {
    ...{ input, ports, asked },
    given: createGivenItems((item) => ports.reference(item)),
    specs: [...ports.tools.specs, ...input.exits.map((exit) => exit.spec)],
    lists: new Map(),
    answers: new Map(),
    turns: 0,
  };
  return {
    methods: (onProgress) => methodsOf(served, onProgress),
    start: (thread) => startOf(served, thread),
    progress: () => ({ turns: served.turns, lastWords: lastWords(served) }),
  };
}

function startOf({ input, ports, given, turns }: Served, thread: string): Start {
  return {
    thread_id: thread,
    agent: input.agent,
    system: input.system,
    history: input.history.map((message) => given.give(message)),
    request: given.give(input.request),
    tools: ports.tools.specs.map((spec) => spec.name),
    exits: input.exits.map((exit) => ({ name: exit.spec.name, goes_on: exit.goesOn === true })),
    limits: input.limits,
    // What a runner before this one began has to come to its end, too.
    begun: Math.max(turns, begunTurns(ports, input.limits.maxTurns)),
    cancelled: ports.signal.aborted,
    listens: { incoming: ports.incoming !== undefined, unheard: ports.unheard !== undefined },
  };
}

function begunTurns({ model }: SessionPorts, maxTurns: number): number {
  let turn = 0;
  while (turn < maxTurns && model.begun?.(turn + 1) === true) turn += 1;
  return turn;
}

function methodsOf(served: Served, onProgress: (turn: number) => void): Readonly<Record<string, Method>> {
  const { ports, asked, given } = served;
  const mirror = createMirror(given);
  const method = <Params>(schema: z.ZodType<Params>, run: (params: Params) => Promise<Outgoing | undefined>): Method =>
    checked(schema, async (params) => {
      try {
        return await run(params);
      } catch (error) {
        asked.fail(error);
        throw error;
      }
    });
  return {
    on_llm_request: method(llmRequest, (params) => llm(served, mirror, params)),
    on_tool_call: method(toolCall, async ({ turn, index, part, tool_name, arguments: input }) => {
      const call = served.answers.get(turn)?.message.content[part];
      if (!isSameCall(call, tool_name, input)) return undefined;
      return given.give<ToolResultPart>(await asked.once(`tool/${turn}/${index}`, () => ports.tools.call(turn, index, call)));
    }),
    on_aggregate_service_context: method(serviceContext, async ({ turn, room_tokens }) => {
      const incoming = await asked.once(`incoming/${turn}`, async () => await ports.incoming?.(turn, room_tokens));
      const messages = (incoming?.messages ?? []).map((message) => given.give(message));
      return { messages, overflow: incoming?.overflow === true };
    }),
    condense: method(condensed, async ({ turn, text, kept_from }) => {
      const keptFrom = mirror.find(kept_from);
      if (keptFrom === undefined) return undefined;
      return given.give(await asked.once(`condense/${turn}`, () => ports.condense(turn, text, keptFrom)));
    }),
    unheard: method(turnOnly, ({ turn }) => asked.once(`unheard/${turn}`, async () => (await ports.unheard?.(turn)) === true)),
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
    return reply === undefined ? refusal(INVALID_PARAMS, 'These are not parameters of this method.') : ok(reply as Json);
  };
}

function isSameCall(call: Message['content'][number] | undefined, name: string, input: Json): call is ToolCallPart {
  return call?.type === 'tool-call' && call.name === name && JSON.stringify(call.input) === JSON.stringify(input);
}

async function llm(served: Served, mirror: Mirror, params: LlmRequest): Promise<LlmReply | undefined> {
  const { ports, asked, given } = served;
  const { turn } = params;
  const followed = mirror.follow(params);
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
  const outcome = await asked.once(`model/${turn}`, () => ports.model.ask(request));
  if (outcome.kind === 'no_budget') return outcome;
  const places = followed.fresh.map((item) => ports.reference(item) ?? null);
  const known = places.some((place) => place !== null) ? { places } : {};
  if (outcome.kind === 'failed') return { ...outcome, ...known };
  const { answer } = outcome;
  served.answers.set(turn, answer);
  const { inputTokens } = answer.usage;
  const taken = ending(served.input, answer, tools);
  return {
    kind: 'answer',
    answer: given.give<Message>(answer.message),
    ...(inputTokens === undefined ? {} : { input_tokens: inputTokens }),
    ...(taken === undefined ? {} : { taken }),
    ...known,
  };
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
function ending(input: SessionInput, answer: Answer, tools: readonly ToolSpec[]): Result<Ending, string> | undefined {
  const calls = toolCallsOf(answer.message);
  for (const call of calls) {
    const exit = input.exits.find(({ spec }) => spec.name === call.name && tools.includes(spec));
    if (exit !== undefined) return exit.take(call);
  }
  const text = textOf(answer.message.content).trim();
  return calls.length > 0 || text === '' ? undefined : input.plain(text);
}

function lastWords({ answers, turns }: Served): string {
  for (let turn = turns; turn > 0; turn -= 1) {
    const text = textOf(answers.get(turn)?.message.content ?? []).trim();
    if (text !== '') return text;
  }
  return '';
}
