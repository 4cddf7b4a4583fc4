/**
 * What opencode keeps of a conversation: messages with parts. A message of the model has a part for each thing that it said or
 * called, with what that gave, and at the end of each answer what it took and cost. Sub-agents are conversations of their own.
 */
import type { JsonObject } from '../../base/json.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import { changeOfFile } from '../change.ts';
import { countIn, nameIn, numberIn, objectIn, record, textIn, textParts, timeIn } from '../fields.ts';
import type { Item, TranscriptChange } from '../items.ts';
import type { TranscriptLine } from '../lines.ts';
import { createTurns, type Turns } from '../turn.ts';

export interface Stored {
  readonly id: string;
  readonly text: string;
  /** Nothing when it is no JSON, or too long to be looked into. */
  readonly value: JsonObject | undefined;
}

export interface StoredMessage extends Stored {
  readonly at: number;
  readonly parts: readonly Stored[];
}

export interface StoredConversation {
  readonly id: string;
  messages(): Iterable<StoredMessage>;
  /** Conversations of sub-agents that it has. */
  children(): readonly string[];
}

type Open = (id: string) => StoredConversation;

interface Reading {
  readonly open: Open;
  readonly begun: Set<string>;
  readonly depth: number;
  readonly agent: string | undefined;
  readonly turns: Turns;
  prompts: number;
}

export function* readOpencode(main: StoredConversation, open: Open): Generator<Item> {
  yield* readConversation(main, {
    open,
    begun: new Set([main.id]),
    depth: 0,
    agent: undefined,
    turns: createTurns(),
    prompts: 0,
  });
}

function* readConversation(conversation: StoredConversation, reading: Reading, under?: Begun): Generator<Item> {
  const { turns, agent } = reading;
  let isBegun = under === undefined;
  for (const message of conversation.messages()) {
    for (const item of messageItems(message, reading)) {
      if (isBegun || under === undefined) {
        yield* item.is === 'result' ? withAgent(item, reading) : [item];
        continue;
      }
      isBegun = true;
      const content = item.is === 'prompt' || item.is === 'heard' ? item.content : textParts('');
      yield { is: 'prompt', key: conversation.id, agent, content, under, at: item.at };
      if (item.is !== 'prompt' && item.is !== 'heard') yield item;
    }
  }
  for (const item of turns.close(agent)) yield* item.is === 'result' ? withAgent(item, reading) : [item];
  for (const id of conversation.children()) yield* childItems(id, reading, { agent, name: 'sub-agent' });
}

interface Begun {
  readonly agent?: string | undefined;
  readonly call?: string | undefined;
  readonly name: string;
}

/** What a call of a sub-agent gave carries the conversation that it was, until that has been read. */
type Result = Extract<Item, { readonly is: 'result' }> & { readonly child?: string | undefined };

function* withAgent({ child, ...item }: Result, reading: Reading): Generator<Item> {
  const { agent } = reading;
  if (child !== undefined) yield* childItems(child, reading, { agent, call: item.call, name: 'sub-agent' });
  yield item;
}

function* childItems(id: string, reading: Reading, under: Begun): Generator<Item> {
  if (reading.begun.has(id) || reading.depth >= limits.transcriptDepth) return;
  reading.begun.add(id);
  const inside = { ...reading, depth: reading.depth + 1, agent: id, prompts: 0 };
  yield* readConversation(reading.open(id), inside, under);
}

const lineOf = ({ text }: Stored): TranscriptLine => ({
  kind: 'other',
  why: 'not JSON',
  bytes: Buffer.byteLength(text),
  text: () => text.slice(0, limits.transcriptRecordBytes),
});

function messageItems(message: StoredMessage, reading: Reading): readonly Item[] {
  const { value, at } = message;
  const { turns, agent } = reading;
  const role = textIn(value, 'role');
  if (value === undefined || (role !== 'user' && role !== 'assistant'))
    return turns.give(record(value === undefined ? 'message not JSON' : 'message', lineOf(message), at, agent));
  return role === 'user' ? askedItems(message, reading) : [...turns.close(agent), ...answeredItems(message, value, reading)];
}

function askedItems({ id, at, parts }: StoredMessage, reading: Reading): readonly Item[] {
  const { turns, agent } = reading;
  const said: string[] = [];
  const others: Item[] = [];
  for (const part of parts) {
    const text = textIn(part.value, 'text');
    const kind = nameIn(part.value, 'type') ?? 'not JSON';
    if (kind === 'text' && text !== undefined && part.value?.['synthetic'] === true)
      others.push({ is: 'heard', content: textParts(text), agent, at });
    else if (kind === 'text' && text !== undefined) said.push(text);
    else others.push(record(`part ${kind}`, lineOf(part), at, agent));
  }
  if (said.length === 0) return others.flatMap((item) => turns.give(item));
  reading.prompts += 1;
  const content = textParts(said.join('\n'));
  const isFirst = agent === undefined || reading.prompts === 1;
  const prompt: Item = isFirst ? { is: 'prompt', key: id, content, agent, at } : { is: 'heard', content, agent, at };
  return [...turns.close(agent), prompt, ...others];
}

function answeredItems(message: StoredMessage, value: JsonObject, reading: Reading): readonly Item[] {
  const { turns, agent } = reading;
  const [provider, model] = [nameIn(value, 'providerID') ?? 'unknown', nameIn(value, 'modelID') ?? 'unknown'];
  const named = { model: `${provider}/${model}`, served: model };
  const isSummary = value['summary'] === true;
  const items: Item[] = [];
  let number = 0;
  const begin = () =>
    turns.begin(agent, `${message.id} ${number++}`, { ...named, agent, at: message.at, usage: {}, finish: 'stop' });
  for (const part of message.parts) {
    const [kind, text] = [nameIn(part.value, 'type') ?? 'not JSON', textIn(part.value, 'text')];
    const at = timeIn(objectIn(part.value, 'time'), 'start') ?? message.at;
    if (kind === 'step-start') items.push(...turns.close(agent));
    else if (kind === 'text' && text !== undefined) (turns.open(agent) ?? begin()).parts.push({ type: 'text', text });
    else if (kind === 'reasoning' && text !== undefined) (turns.open(agent) ?? begin()).parts.push({ type: 'reasoning', text });
    else if (kind === 'tool') {
      const { id, name, input, result } = toolOf(part, agent, at);
      const turn = turns.open(agent) ?? begin();
      turn.parts.push({ type: 'tool-call', id, name, input });
      items.push(...(result === undefined ? [] : turns.give(result)));
    } else if (kind === 'step-finish') {
      const turn = turns.open(agent) ?? begin();
      const hasCalls = turn.parts.some(({ type }) => type === 'tool-call');
      turn.rest = { ...turn.rest, ...tookOf(part.value), finish: hasCalls ? 'tool-calls' : 'stop' };
      items.push(...turns.close(agent));
    } else items.push(...turns.give(record(`part ${kind}`, lineOf(part), at, agent)));
  }
  // It was stopped before the program had said what it took: then only the whole message says so, if anything.
  const open = turns.open(agent);
  if (open !== undefined && number === 1) open.rest = { ...open.rest, ...tookOf(value) };
  items.push(...turns.close(agent), ...failureItems(value, agent, message.at));
  const texts = items.flatMap((item) => (item.is === 'answer' ? item.message.content : []));
  const summary = texts.map((part) => (part.type === 'text' ? part.text : '')).join('');
  return isSummary ? [...items, { is: 'summary', text: summary, agent, at: message.at }] : items;
}

function failureItems(value: JsonObject, agent: string | undefined, at: number): readonly Item[] {
  const error = objectIn(value, 'error');
  if (error === undefined) return [];
  const name = nameIn(error, 'name') ?? 'error';
  if (name === 'MessageAbortedError') return [{ is: 'stopped', status: 'cancelled', agent, at }];
  return [{ is: 'failed', message: textIn(objectIn(error, 'data'), 'message') ?? name, agent, at }];
}

const NANO = 1e9;

/** Its input tokens leave out what went through the cache, and its output tokens, by most versions, what was thought. */
function tookOf(given: JsonObject | undefined) {
  const tokens = objectIn(given, 'tokens');
  const cache = objectIn(tokens, 'cache');
  const [read, written] = [countIn(cache, 'read') ?? 0, countIn(cache, 'write') ?? 0];
  const [input, output] = [countIn(tokens, 'input'), countIn(tokens, 'output')];
  const [thought, total] = [countIn(tokens, 'reasoning') ?? 0, countIn(tokens, 'total')];
  const others = total === undefined || input === undefined ? undefined : total - input - read - written;
  const usage = present({
    inputTokens: input === undefined ? undefined : input + read + written,
    ...{ cacheReadTokens: read, cacheWriteTokens: written, reasoningTokens: thought },
    outputTokens: output === undefined ? undefined : others !== undefined && others >= output ? others : output + thought,
  });
  const cost = numberIn(given, 'cost');
  return { usage, ...present({ nanoUsd: cost === undefined ? undefined : Math.round(cost * NANO) }) };
}

function toolOf(part: Stored, agent: string | undefined, at: number) {
  const state = objectIn(part.value, 'state');
  const time = objectIn(state, 'time');
  const [begun, ended] = [timeIn(time, 'start'), timeIn(time, 'end')];
  const [id, name] = [nameIn(part.value, 'callID') ?? part.id, nameIn(part.value, 'tool') ?? 'unknown'];
  const status = textIn(state, 'status');
  const input = state?.['input'] ?? {};
  if (status !== 'completed' && status !== 'error') return { id, name, input, result: undefined };
  const metadata = objectIn(state, 'metadata');
  const exit = countIn(metadata, 'exit');
  const isError = status === 'error' || (exit !== undefined && exit !== 0);
  const result: Result = {
    ...{ is: 'result', call: id, name, agent, at: ended ?? at },
    content: textParts(textIn(state, status === 'error' ? 'error' : 'output') ?? ''),
    ...(isError ? { isError } : {}),
    ...present({ durationMs: begun === undefined || ended === undefined ? undefined : Math.max(0, ended - begun) }),
    changes: isError ? [] : changesOf(name, input, metadata),
    child: nameIn(metadata, 'sessionId'),
  };
  return { id, name, input, result };
}

/** Only of a new file all of it is known. */
function changesOf(name: string, input: unknown, metadata: JsonObject | undefined): readonly TranscriptChange[] {
  const given = input as JsonObject;
  const [path, content] = [textIn(metadata, 'filepath') ?? textIn(given, 'filePath'), textIn(given, 'content')];
  if (name !== 'write' || metadata?.['exists'] !== false || path === undefined || content === undefined) return [];
  return [changeOfFile(path, null, content)];
}
