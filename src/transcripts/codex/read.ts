/**
 * What Codex keeps of a conversation: a file of JSON lines, in which every item of an answer has a line of its own. What it took
 * is told as a sum of everything so far, often more than once: an answer took what the sum has grown by.
 */
import { type Json, type JsonObject, parseJson } from '../../base/json.ts';
import { present } from '../../base/present.ts';
import type { Usage } from '../../events/messages.ts';
import { countIn, givenContent, listIn, nameIn, objectIn, record, textIn, textOfContent, textParts, timeIn } from '../fields.ts';
import type { Item } from '../items.ts';
import { type TranscriptLine, transcriptLines } from '../lines.ts';
import { createTurns, type GatheredAnswer, type Turns } from '../turn.ts';
import { codexChanges } from './changes.ts';

/** Tokens so far. */
interface Sum {
  readonly input: number;
  readonly cached: number;
  readonly written: number;
  readonly output: number;
  readonly reasoning: number;
}

interface Reading {
  readonly turns: Turns;
  /** An output came, or the program told what it took: the next item of the model begins another answer. */
  isOver: boolean;
  sum: Sum;
  provider: string;
  model: string | undefined;
  answers: number;
  prompts: number;
  /** What was seen of commands and changes, by the calls that they are of, until their outputs come. */
  readonly seen: Map<string, JsonObject>;
  readonly names: Map<string, string>;
}

const NOTHING: Sum = { input: 0, cached: 0, written: 0, output: 0, reasoning: 0 };

export async function* readCodex(path: string, bytes: number): AsyncGenerator<Item> {
  const reading: Reading = {
    ...{ turns: createTurns(), isOver: false, sum: NOTHING, provider: 'openai', model: undefined, answers: 0, prompts: 0 },
    ...{ seen: new Map<string, JsonObject>(), names: new Map<string, string>() },
  };
  for await (const line of transcriptLines(path, bytes)) yield* itemsOf(reading, line);
  yield* reading.turns.closeAll();
}

function itemsOf(reading: Reading, line: TranscriptLine): readonly Item[] {
  const { turns } = reading;
  if (line.kind === 'other') return turns.give(record(line.why, line));
  const { value } = line;
  const at = timeIn(value, 'timestamp');
  const kind = nameIn(value, 'type') ?? 'unknown';
  const payload = objectIn(value, 'payload') ?? {};
  const inner = nameIn(payload, 'type');
  const asRecord = (): readonly Item[] => turns.give(record(inner === undefined ? kind : `${kind} ${inner}`, line, at));
  switch (kind) {
    case 'session_meta': {
      reading.provider = nameIn(payload, 'model_provider') ?? reading.provider;
      const instructions = objectIn(payload, 'base_instructions');
      const system = textIn(instructions, 'text') ?? textIn(payload, 'instructions');
      return [...asRecord(), ...(system === undefined ? [] : [{ is: 'about', system, at } as const])];
    }
    case 'turn_context':
      reading.model = nameIn(payload, 'model') ?? reading.model;
      return asRecord();
    case 'response_item':
      return responseItems(reading, payload, at) ?? asRecord();
    case 'token_usage_record':
      return [...asRecord(), ...counted(reading, objectIn(payload, 'thread_token_usage'), undefined, at)];
    case 'compacted':
      return [...asRecord(), ...summaryItems(reading, payload, at)];
    case 'event_msg':
      return [...asRecord(), ...told(reading, payload, inner, at)];
    default:
      return asRecord();
  }
}

function summaryItems({ turns }: Reading, payload: JsonObject, at: number | undefined): readonly Item[] {
  const text =
    textIn(payload, 'message') ||
    listIn(payload, 'replacement_history')
      .map((item) => textOfContent(contentOf(item)))
      .join('\n');
  return [...turns.closeAll(), { is: 'summary', text, at }];
}

const contentOf = (item: Json): Json | undefined => (item as JsonObject | null)?.['content'];

/** What the program says beside the conversation: sums of tokens, ends, what commands did. */
function told(reading: Reading, payload: JsonObject, kind: string | undefined, at: number | undefined): readonly Item[] {
  const { turns, seen } = reading;
  switch (kind) {
    case 'token_count': {
      const info = objectIn(payload, 'info');
      return counted(reading, objectIn(info, 'total_token_usage'), objectIn(info, 'last_token_usage'), at);
    }
    case 'task_complete':
      return [
        ...turns.closeAll(),
        { is: 'stopped', status: 'completed', ...present({ body: textIn(payload, 'last_agent_message') }), at },
      ];
    case 'turn_aborted':
      return [...turns.closeAll(), { is: 'stopped', status: 'cancelled', at }];
    case 'error':
      return [...turns.closeAll(), { is: 'failed', message: textIn(payload, 'message') ?? 'It failed.', at }];
    case 'item_completed': {
      const item = objectIn(payload, 'item');
      const id = nameIn(item, 'id');
      if (item !== undefined && id !== undefined && (item['exit_code'] !== undefined || item['changes'] !== undefined))
        seen.set(id, item);
      return [];
    }
    case 'exec_command_end':
    case 'patch_apply_end': {
      const id = nameIn(payload, 'call_id');
      if (id !== undefined) seen.set(id, payload);
      return [];
    }
    default:
      return [];
  }
}

const FIELDS = {
  input: 'input_tokens',
  cached: 'cached_input_tokens',
  written: 'cache_write_input_tokens',
  output: 'output_tokens',
  reasoning: 'reasoning_output_tokens',
} as const;

const sumFrom = (given: JsonObject): Sum => ({
  input: countIn(given, FIELDS.input) ?? 0,
  cached: countIn(given, FIELDS.cached) ?? 0,
  written: countIn(given, FIELDS.written) ?? 0,
  output: countIn(given, FIELDS.output) ?? 0,
  reasoning: countIn(given, FIELDS.reasoning) ?? 0,
});

function counted(
  reading: Reading,
  total: JsonObject | undefined,
  last: JsonObject | undefined,
  at: number | undefined,
): readonly Item[] {
  if (total === undefined) return [];
  const [sum, before] = [sumFrom(total), reading.sum];
  // A sum that has shrunk was begun anew.
  const since =
    sum.input < before.input || sum.output < before.output ? (last === undefined ? NOTHING : minus(sum, sumFrom(last))) : before;
  const grown = minus(sum, since);
  reading.sum = sum;
  reading.isOver = true;
  if (grown.input + grown.output === 0) return [];
  const open = reading.turns.open(undefined);
  const turn = open ?? begin(reading, at);
  turn.rest = { ...turn.rest, usage: plus(turn.rest.usage, grown) };
  return open === undefined ? reading.turns.closeAll() : [];
}

const minus = (one: Sum, other: Sum): Sum => ({
  input: one.input - other.input,
  cached: Math.max(0, one.cached - other.cached),
  written: Math.max(0, one.written - other.written),
  output: one.output - other.output,
  reasoning: Math.max(0, one.reasoning - other.reasoning),
});

const plus = (usage: Usage, grown: Sum): Usage => ({
  inputTokens: (usage.inputTokens ?? 0) + grown.input,
  cacheReadTokens: (usage.cacheReadTokens ?? 0) + grown.cached,
  cacheWriteTokens: (usage.cacheWriteTokens ?? 0) + grown.written,
  outputTokens: (usage.outputTokens ?? 0) + grown.output,
  reasoningTokens: (usage.reasoningTokens ?? 0) + grown.reasoning,
});

function begin(reading: Reading, at: number | undefined): GatheredAnswer {
  reading.answers += 1;
  reading.isOver = false;
  const { model, provider } = reading;
  const named = model === undefined ? {} : { model: `${provider}/${model}`, served: model };
  return reading.turns.begin(undefined, String(reading.answers), { ...named, usage: {}, finish: 'stop', at });
}

/** Nothing for an item that is not known. */
function responseItems(reading: Reading, payload: JsonObject, at: number | undefined): readonly Item[] | undefined {
  const role = textIn(payload, 'role');
  const id = nameIn(payload, 'call_id') ?? nameIn(payload, 'id') ?? '';
  switch (textIn(payload, 'type')) {
    case 'message':
      if (role === 'assistant') return said(reading, { type: 'text', text: textOfContent(payload['content']) }, at);
      return heard(reading, payload, role, at);
    case 'reasoning': {
      const text = [...listIn(payload, 'summary'), ...listIn(payload, 'content')]
        .map((part) => textIn(part, 'text') ?? '')
        .join('\n');
      return said(reading, { type: 'reasoning', text }, at);
    }
    case 'function_call':
      return called(reading, id, nameIn(payload, 'name') ?? 'unknown', textIn(payload, 'arguments') ?? '', at);
    case 'custom_tool_call':
      return called(reading, id, nameIn(payload, 'name') ?? 'unknown', payload['input'] ?? '', at);
    case 'local_shell_call':
      return called(reading, id, 'local_shell', payload['action'] ?? {}, at);
    case 'web_search_call':
      return called(reading, id, 'web_search', payload['action'] ?? {}, at);
    case 'function_call_output':
    case 'custom_tool_call_output':
      return resultItems(reading, id, payload, at);
    default:
      return undefined;
  }
}

function said(reading: Reading, part: GatheredAnswer['parts'][number], at: number | undefined): readonly Item[] {
  const { turns } = reading;
  const open = turns.open(undefined);
  const before = open !== undefined && reading.isOver ? turns.closeAll() : [];
  const turn = turns.open(undefined) ?? begin(reading, at);
  turn.parts.push(part);
  if (part.type === 'tool-call') turn.rest = { ...turn.rest, finish: 'tool-calls' };
  return before;
}

function called(reading: Reading, id: string, name: string, given: Json, at: number | undefined): readonly Item[] {
  reading.names.set(id, name);
  const parsed = typeof given === 'string' && given.trimStart().startsWith('{') ? parseJson(given) : undefined;
  const input = parsed?.ok === true ? parsed.value : typeof given === 'string' ? { input: given } : given;
  return said(reading, { type: 'tool-call', id, name, input }, at);
}

function resultItems(reading: Reading, id: string, payload: JsonObject, at: number | undefined): readonly Item[] {
  reading.isOver = true;
  const seen = reading.seen.get(id);
  reading.seen.delete(id);
  const output = payload['output'];
  const content = (output as JsonObject | undefined)?.['content'] ?? output;
  const exit = countIn(seen, 'exit_code');
  const name = reading.names.get(id);
  reading.names.delete(id);
  const isError =
    (exit !== undefined && exit !== 0) ||
    (output as JsonObject | undefined)?.['success'] === false ||
    seen?.['status'] === 'failed';
  return reading.turns.give({
    ...{ is: 'result', call: id, content: givenContent(content), at, changes: codexChanges(seen) },
    ...present({ name, durationMs: durationOf(objectIn(seen, 'duration')) }),
    ...(isError ? { isError } : {}),
  });
}

const durationOf = (given: JsonObject | undefined): number | undefined =>
  given === undefined ? undefined : (countIn(given, 'secs') ?? 0) * 1_000 + Math.round((countIn(given, 'nanos') ?? 0) / 1e6);

/** What the program puts before the prompt by itself, in the user's name. */
const OF_THE_PROGRAM =
  /^\s*(?:<(?:environment_context|user_instructions|turn_aborted|permissions instructions|skills?_?\w*)\b|# AGENTS\.md instructions)/i;

function heard(reading: Reading, payload: JsonObject, role: string | undefined, at: number | undefined): readonly Item[] {
  const { turns } = reading;
  const text = textOfContent(payload['content']);
  const metadata = objectIn(payload, 'internal_chat_message_metadata_passthrough');
  const told = listIn(metadata, 'content_item_metadata').map((item) => textIn(objectIn(item, 'provenance'), 'type'));
  const isOwn = role !== 'user' || OF_THE_PROGRAM.test(text) || (told.length > 0 && !told.includes('user'));
  const content = textParts(text);
  if (isOwn) return turns.give({ is: 'heard', content, at });
  reading.prompts += 1;
  return [...turns.closeAll(), { is: 'prompt', key: nameIn(payload, 'id') ?? String(reading.prompts), content, at }];
}
