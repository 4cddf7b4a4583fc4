/**
 * The runner's side of a loop: the loop as it is, with ports that ask the host. What the host gave is known by its number,
 * and a request carries only what the one before did not.
 */
import { TroupeError } from '../../base/errors.ts';
import type { Json } from '../../base/json.ts';
import { present } from '../../base/present.ts';
import type { Result } from '../../base/result.ts';
import type { Message, ToolCallPart, ToolResultPart, UserMessage } from '../../events/messages.ts';
import type { Condensing, Ending, LoopInput, LoopPorts, TurnOutcome, TurnRequest } from '../../loop/port.ts';
import type { ToolSpec } from '../../models/port.ts';
import type {
  CondensedReply,
  FramedMessage,
  Given,
  LlmReply,
  OwnMessage,
  ServiceContextReply,
  Start,
  ToolReply,
} from '../wire/frames.ts';
import type { Peer } from '../wire/rpc.ts';

type Item = Message | ToolResultPart;

interface Names {
  learn<Kind extends Item>(given: Given<Kind>): Kind;
  /** How the host is told of a message. What the loop made itself goes into `fresh`. */
  tell(message: Message, fresh: Item[]): FramedMessage;
  at(item: Item): string | undefined;
  /** Where those that were told as fresh can be looked up. */
  place(fresh: readonly Item[], places: readonly (string | null)[] | undefined): void;
}

function createNames(): Names {
  const numbers = new WeakMap<Item, { readonly given: number } | { readonly own: number }>();
  const places = new WeakMap<Item, string>();
  let ownItems = 0;

  const byValue = (message: Message, fresh: Item[]): OwnMessage => {
    if (message.role === 'tool')
      return {
        role: 'tool',
        content: message.content.map((part) => {
          const known = numbers.get(part);
          if (known !== undefined && 'given' in known) return known;
          fresh.push(part);
          return part;
        }),
      };
    if (message.role === 'assistant') throw new TroupeError('bug', 'The loop made an answer that no model gave.');
    fresh.push(message);
    return message;
  };

  const placeAll: Names['place'] = (items, given = []) => {
    for (const [index, item] of items.entries()) {
      const at = given[index];
      if (typeof at === 'string') places.set(item, at);
    }
  };

  return {
    learn({ given, item, at, parts }) {
      numbers.set(item, { given });
      if (at !== undefined) places.set(item, at);
      if ('role' in item && item.role === 'tool') placeAll(item.content, parts);
      return item;
    },
    tell(message, fresh) {
      const known = numbers.get(message);
      if (known !== undefined) return known;
      ownItems += 1;
      numbers.set(message, { own: ownItems });
      return { own: ownItems, message: byValue(message, fresh) };
    },
    at: (item) => places.get(item),
    place: placeAll,
  };
}

/** What `runLoop` is called with in a runner. */
export function remoteLoop(start: Start, peer: Peer, signal: AbortSignal): { input: LoopInput; ports: LoopPorts } {
  const names = createNames();
  const specs: readonly ToolSpec[] = [...start.tools, ...start.exits.map((exit) => exit.name)].map(nameOnly);
  const latest: Latest = { answer: undefined, taken: undefined };
  const take = (): Result<Ending, string> => {
    if (latest.taken === undefined) throw new TroupeError('bug', 'The host did not say what the answer amounts to.');
    return latest.taken;
  };
  // The host answers with what the method is declared to give: it is the same package on the other end of the pipe.
  const call = async <Reply>(method: string, params: { readonly turn: number; readonly [key: string]: Json | undefined }) => {
    const reply = await peer.request(method, { thread_id: start.thread_id, ...params });
    if (!reply.ok) throw new TroupeError('runner_refused', `${method} was refused: ${reply.error.message}`);
    return reply.value as Reply;
  };
  const request = names.learn(start.request);
  const input: LoopInput = {
    agent: start.agent,
    system: start.system,
    history: start.history.map((given) => names.learn(given)),
    request,
    from: checkpoint(start, names, request),
    condense: start.condense,
    exits: start.exits.map((exit, index) => ({
      spec: specs[start.tools.length + index] ?? nameOnly(exit.name),
      goesOn: exit.goes_on,
      take,
    })),
    plain: take,
    limits: start.limits,
  };
  const ports: LoopPorts = {
    model: { begun: (turn) => turn <= start.begun, ask: askModel(start, peer, names, specs, latest, call) },
    tools: {
      specs: specs.slice(0, start.tools.length),
      call: async (turn, index, part) =>
        names.learn(await call<ToolReply>('on_tool_call', toolParams(turn, index, part, latest))),
    },
    condense: async (condensing) => await condense(condensing, names, call),
    ...listening(start, names, call),
    reference: names.at,
    signal,
  };
  return { input, ports };
}

/** The request is told again among the messages: it is the one that the loop knows. */
function checkpoint(start: Start, names: Names, request: UserMessage): LoopInput['from'] {
  if (start.from === undefined) return undefined;
  const messages = start.from.messages.map((one) => (one.given === start.request.given ? request : names.learn(one)));
  return { ...start.from, messages };
}

async function condense({ leads, kept, ...rest }: Condensing, names: Names, call: Call): Promise<UserMessage> {
  const fresh: Item[] = [];
  const told = kept.map((message) => names.tell(message, fresh));
  const reply = await call<CondensedReply>('condense', { ...rest, leads: leads.length > 0, kept: told as Json });
  names.place(fresh, reply.places);
  return names.learn(reply);
}

/** The answer that the loop is at, and what its exit or its plain text amounts to. */
interface Latest {
  answer: Message | undefined;
  taken: Result<Ending, string> | undefined;
}

type Call = <Reply>(
  method: string,
  params: { readonly turn: number; readonly [key: string]: Json | undefined },
) => Promise<Reply>;

/** The loop tells tools apart by name and by identity; what else there is to them stays with the host. */
function nameOnly(name: string): ToolSpec {
  return { name, description: '', inputSchema: {} };
}

function toolParams(turn: number, index: number, part: ToolCallPart, latest: Latest) {
  const at = latest.answer?.role === 'assistant' ? latest.answer.content.indexOf(part) : -1;
  return { turn, index, part: at, tool_name: part.name, arguments: part.input };
}

function listening(start: Start, names: Names, call: Call): Pick<LoopPorts, 'incoming' | 'unheard'> {
  const incoming = async (turn: number, roomTokens: number) => {
    const reply = await call<ServiceContextReply>('on_aggregate_service_context', { turn, room_tokens: roomTokens });
    const messages: readonly UserMessage[] = reply.messages.map((given) => names.learn(given));
    return { messages, overflow: reply.overflow };
  };
  return {
    ...(start.listens.incoming ? { incoming } : {}),
    ...(start.listens.unheard ? { unheard: (turn: number) => call<boolean>('unheard', { turn }) } : {}),
  };
}

function askModel(start: Start, peer: Peer, names: Names, specs: readonly ToolSpec[], latest: Latest, call: Call) {
  let lastMessages: readonly Message[] | undefined;
  let lastLength = 0;
  return async (request: TurnRequest): Promise<TurnOutcome> => {
    const { turn, messages } = request;
    peer.notify('progress', { thread_id: start.thread_id, turn });
    // The conversation is the same list for as long as it only grows; condensing makes a new one.
    const keep = messages === lastMessages ? lastLength : 0;
    const fresh: Item[] = [];
    const told = messages.slice(keep).map((message) => names.tell(message, fresh));
    lastMessages = messages;
    lastLength = messages.length;
    const reply = await call<LlmReply>('on_llm_request', {
      turn,
      keep,
      messages: told as Json,
      new_from: request.newFrom,
      tools: request.tools.map((spec) => specs.indexOf(spec)),
      tool_choice: request.toolChoice,
      output_schema: request.outputSchema,
    });
    if (reply.kind === 'no_budget') return reply;
    names.place(fresh, reply.places);
    if (reply.kind === 'failed') return { kind: 'failed', error: reply.error };
    const message = names.learn(reply.answer);
    latest.answer = message;
    latest.taken = reply.taken;
    if (message.role !== 'assistant') throw new TroupeError('bug', 'The host gave an answer that no model gave.');
    const usage = present({ inputTokens: reply.input_tokens });
    // The loop reads no more of an answer than its message and what the provider counted.
    return { kind: 'answer', answer: { message, finish: 'other', usage, served: '' } };
  };
}
