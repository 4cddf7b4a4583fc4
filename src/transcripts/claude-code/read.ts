/**
 * What Claude Code keeps of a conversation: a file of JSON lines, each with a part of an answer, results, a prompt or something
 * of the program's own. One answer is spread over several lines, and each of them repeats what all of it took: it counts once.
 * Sub-agents stand in files of their own beside it, or, of earlier versions, between the lines of the same file.
 */
import type { Json, JsonObject } from '../../base/json.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import {
  countIn,
  givenContent,
  listIn,
  nameIn,
  objectIn,
  partOf,
  record,
  textIn,
  textOfContent,
  textParts,
  timeIn,
} from '../fields.ts';
import type { Item, Under } from '../items.ts';
import { type TranscriptLine, transcriptLines } from '../lines.ts';
import { createTurns, type Turns } from '../turn.ts';
import { claudeChanges, finishFrom, partFrom, usageFrom } from './content.ts';

export interface SubAgentFile {
  readonly id: string;
  readonly path: string;
  readonly bytes: number;
  readonly name?: string | undefined;
  /** The call that began it. */
  readonly call?: string | undefined;
}

export interface ClaudeFiles {
  readonly main: { readonly path: string; readonly bytes: number };
  readonly agents: ReadonlyMap<string, SubAgentFile>;
}

interface Reading {
  readonly turns: Turns;
  readonly files: ClaudeFiles;
  /** Answers that were given already, the latest of them: what comes of them yet is not counted again. */
  readonly given: Set<string>;
  /** Sub-agents that have begun, and those of them that stand in the lines of the main file, by the ids of their lines. */
  readonly begun: Set<string>;
  readonly chains: Map<string, string>;
  /** Calls of sub-agents by their prompts, for those whose lines do not name the call; and the sub-agents by their calls. */
  readonly asked: Map<string, string>;
  readonly called: Map<string, string>;
  readonly depth: number;
}

export async function* readClaudeCode(files: ClaudeFiles): AsyncGenerator<Item> {
  const reading: Reading = {
    ...{ turns: createTurns(), files, given: new Set<string>(), begun: new Set<string>() },
    ...{ chains: new Map<string, string>(), asked: new Map<string, string>(), called: new Map<string, string>(), depth: 0 },
  };
  yield* readFile(reading, files.main.path, files.main.bytes, undefined);
  for (const file of files.agents.values()) yield* readAgent(reading, file, {});
}

async function* readFile(reading: Reading, path: string, bytes: number, own: string | undefined): AsyncGenerator<Item> {
  for await (const line of transcriptLines(path, bytes)) {
    for (const item of itemsOf(reading, line, own)) {
      if (item.is === 'result') yield* agentOf(reading, item.call, item.agent);
      yield item;
    }
  }
  for (const item of own === undefined ? reading.turns.closeAll() : reading.turns.close(own)) {
    if (item.is === 'result') yield* agentOf(reading, item.call, item.agent);
    yield item;
  }
}

/** The sub-agent that a call began stands before what the call gave. */
async function* agentOf(reading: Reading, call: string, agent: string | undefined): AsyncGenerator<Item> {
  const chain = reading.called.get(call);
  if (chain !== undefined) yield* reading.turns.close(chain);
  const file = [...reading.files.agents.values()].find((one) => one.call === call);
  if (file !== undefined) yield* readAgent(reading, file, present({ call, agent }));
}

async function* readAgent(reading: Reading, file: SubAgentFile, under: Omit<Under, 'name'>): AsyncGenerator<Item> {
  if (reading.begun.has(file.id) || reading.depth >= limits.transcriptDepth) return;
  reading.begun.add(file.id);
  const inside = { ...reading, depth: reading.depth + 1 };
  const name = file.name ?? 'sub-agent';
  let isBegun = false;
  for await (const item of readFile(inside, file.path, file.bytes, file.id)) {
    if (!isBegun && item.agent === file.id && item.is !== 'record' && item.is !== 'about') {
      isBegun = true;
      const content = item.is === 'prompt' ? item.content : textParts('');
      yield { is: 'prompt', key: file.id, agent: file.id, content, under: { ...under, name }, at: item.at };
      if (item.is === 'prompt') continue;
    }
    yield item.is === 'prompt' && item.agent === file.id ? { ...item, is: 'heard' } : item;
  }
}

function itemsOf(reading: Reading, line: TranscriptLine, own: string | undefined): readonly Item[] {
  const { turns } = reading;
  if (line.kind === 'other') return turns.give(record(line.why, line, undefined, own));
  const { value } = line;
  const at = timeIn(value, 'timestamp');
  const [agent, before] = own === undefined ? chainOf(reading, value) : [own, []];
  const kind = textIn(value, 'type') ?? 'unknown';
  const message = objectIn(value, 'message');
  if (kind === 'assistant' && message !== undefined) return [...before, ...answerItems(reading, value, message, line, agent, at)];
  if (kind === 'user' && message !== undefined) return [...before, ...userItems(reading, value, message, line, agent, at)];
  if (kind === 'attachment') return [...before, ...attachmentItems(turns, value, line, agent, at)];
  const subtype = nameIn(value, 'subtype');
  return [...before, ...turns.give(record(subtype === undefined ? kind : `${kind} ${subtype}`, line, at, agent))];
}

/** Earlier versions wrote what sub-agents did between the lines of whoever called them. */
function chainOf(reading: Reading, value: JsonObject): readonly [agent: string | undefined, items: readonly Item[]] {
  if (value['isSidechain'] !== true) return [undefined, []];
  const [uuid, parent] = [textIn(value, 'uuid'), textIn(value, 'parentUuid')];
  const chain = nameIn(value, 'agentId') ?? reading.chains.get(parent ?? '') ?? uuid ?? 'sidechain';
  if (uuid !== undefined) reading.chains.set(uuid, chain);
  if (reading.begun.has(chain)) return [chain, []];
  reading.begun.add(chain);
  const call = reading.asked.get(textOfContent(objectIn(value, 'message')?.['content']));
  if (call !== undefined) reading.called.set(call, chain);
  const under = { name: 'sub-agent', ...present({ call }) };
  const content = textParts(textOfContent(objectIn(value, 'message')?.['content']));
  return [
    chain,
    [
      ...reading.turns.close(undefined),
      { is: 'prompt', key: chain, agent: chain, content, under, at: timeIn(value, 'timestamp') },
    ],
  ];
}

function answerItems(
  { turns, given, asked: prompts }: Reading,
  value: JsonObject,
  message: JsonObject,
  line: TranscriptLine,
  agent: string | undefined,
  at: number | undefined,
): readonly Item[] {
  const served = nameIn(message, 'model');
  if (served === '<synthetic>' || value['isApiErrorMessage'] === true) {
    const text = textOfContent(message['content']);
    return [...turns.close(agent), { is: 'failed', message: text, agent, at }];
  }
  const key = `${textIn(message, 'id') ?? textIn(value, 'uuid') ?? ''} ${textIn(value, 'requestId') ?? ''}`;
  const items: Item[] = [];
  let turn = turns.open(agent);
  if (turn === undefined || turn.key !== key) {
    items.push(...turns.close(agent));
    const isLate = given.has(key);
    remember(given, key);
    const counted = isLate ? { usage: { inputTokens: 0, outputTokens: 0 } } : usageFrom(objectIn(message, 'usage'));
    const asked = nameIn(value, 'requestedModel') ?? served;
    const model = asked === undefined ? undefined : `anthropic/${asked}`;
    turn = turns.begin(agent, key, { agent, at, model, served, ...counted, finish: finishFrom(undefined) });
  } else {
    const counted = usageFrom(objectIn(message, 'usage'));
    if ((counted.usage.outputTokens ?? 0) >= (turn.rest.usage.outputTokens ?? 0)) turn.rest = { ...turn.rest, ...counted };
  }
  const reason = textIn(message, 'stop_reason');
  if (reason !== undefined) turn.rest = { ...turn.rest, finish: finishFrom(reason) };
  const content = message['content'];
  for (const block of Array.isArray(content) ? content : textParts(textOfContent(content))) {
    const part = partFrom(block as Json);
    if (part === undefined)
      items.push(...turns.give(record(`block ${nameIn(block as Json, 'type') ?? 'unknown'}`, line, at, agent)));
    else turn.parts.push(part);
    if (part?.type === 'tool-call') prompts.set(textIn(part.input, 'prompt') ?? '', part.id);
  }
  return items;
}

const REMEMBERED = 10_000;

function remember(given: Set<string>, key: string): void {
  given.add(key);
  const [oldest] = given;
  if (given.size > REMEMBERED && oldest !== undefined) given.delete(oldest);
}

const INTERRUPTED = '[Request interrupted by user';

function userItems(
  { turns, chains, begun }: Reading,
  value: JsonObject,
  message: JsonObject,
  line: TranscriptLine,
  agent: string | undefined,
  at: number | undefined,
): readonly Item[] {
  const content = message['content'];
  const blocks: readonly Json[] = Array.isArray(content) ? content : textParts(textOfContent(content));
  const results = blocks.filter((block) => textIn(block, 'type') === 'tool_result');
  const others = blocks.filter((block) => textIn(block, 'type') !== 'tool_result');
  const items: Item[] = results.flatMap((block) => turns.give(resultItem(value, block, agent, at)));
  const text = textOfContent(others);
  if (others.length === 0) return items;
  const uuid = textIn(value, 'uuid') ?? '';
  if (value['isCompactSummary'] === true) return [...items, ...turns.close(agent), { is: 'summary', text, agent, at }];
  if (text.startsWith(INTERRUPTED)) return [...items, ...turns.close(agent), { is: 'stopped', status: 'cancelled', agent, at }];
  // The prompt of a sub-agent between the lines of the main file was given with its beginning.
  if (agent !== undefined && chains.get(uuid) === agent && begun.has(agent) && value['parentUuid'] === null) return items;
  const isOwn = value['isMeta'] === true || textIn(value, 'promptSource') === 'system' || objectIn(value, 'origin') !== undefined;
  const said = others.map((block) => partOf(block));
  if (isOwn || results.length > 0) return [...items, ...turns.give({ is: 'heard', content: said, agent, at })];
  if (uuid === '' && text === '') return [...items, ...turns.give(record('user', line, at, agent))];
  return [...items, ...turns.close(agent), { is: 'prompt', key: uuid || text, content: said, agent, at }];
}

function resultItem(value: JsonObject, block: Json, agent: string | undefined, at: number | undefined): Item {
  const call = textIn(block, 'tool_use_id') ?? '';
  const seen = objectIn(value, 'toolUseResult');
  const isError = (block as JsonObject)['is_error'] === true;
  return {
    ...{ is: 'result', call, content: givenContent((block as JsonObject)['content']), agent, at },
    ...(isError ? { isError } : {}),
    ...present({ durationMs: countIn(seen, 'durationMs') ?? countIn(seen, 'totalDurationMs') }),
    changes: isError ? [] : claudeChanges(seen),
  };
}

/** What the program told the model beside what was asked. */
function attachmentItems(
  turns: Turns,
  value: JsonObject,
  line: TranscriptLine,
  agent: string | undefined,
  at: number | undefined,
): readonly Item[] {
  const attachment = objectIn(value, 'attachment');
  const kind = nameIn(attachment, 'type') ?? 'unknown';
  const system = listIn(attachment, 'systemPrompt').filter((text) => typeof text === 'string');
  if (kind === 'prompt_snapshot' && system.length > 0) return turns.give({ is: 'about', system: system.join('\n\n'), agent, at });
  const told = listIn(value, 'rendered').map((part) => textIn(part, 'content') ?? '');
  const text = told.filter((one) => one !== '').join('\n');
  if (text !== '') return turns.give({ is: 'heard', content: textParts(text), agent, at });
  return turns.give(record(`attachment ${kind}`, line, at, agent));
}
