/** What Claude Code writes about answers, results and changed files, in our words. */
import type { Json, JsonObject } from '../../base/json.ts';
import { present } from '../../base/present.ts';
import type { AssistantMessage, Usage } from '../../events/messages.ts';
import { changeOfFile } from '../change.ts';
import { countIn, objectIn, textIn } from '../fields.ts';
import type { ItemOf, TranscriptChange } from '../items.ts';

type Part = AssistantMessage['content'][number];

/** Nothing for a block of a kind that is not known. */
export function partFrom(block: Json): Part | undefined {
  const [text, thinking] = [textIn(block, 'text'), textIn(block, 'thinking')];
  switch (textIn(block, 'type')) {
    case 'text':
      return text === undefined ? undefined : { type: 'text', text };
    case 'thinking':
      return thinking === undefined ? undefined : { type: 'reasoning', text: thinking };
    case 'tool_use': {
      const [id, name] = [textIn(block, 'id'), textIn(block, 'name')];
      if (id === undefined || name === undefined) return undefined;
      return { type: 'tool-call', id, name, input: (block as JsonObject)['input'] ?? {} };
    }
    default:
      return undefined;
  }
}

/** Its input tokens leave out what went through the cache; ours hold all of them. */
export function usageFrom(given: JsonObject | undefined): { readonly usage: Usage; readonly hourTokens?: number } {
  const input = countIn(given, 'input_tokens');
  const [read, written] = [countIn(given, 'cache_read_input_tokens'), countIn(given, 'cache_creation_input_tokens')];
  const usage = present({
    inputTokens: input === undefined ? undefined : input + (read ?? 0) + (written ?? 0),
    cacheReadTokens: read,
    cacheWriteTokens: written,
    outputTokens: countIn(given, 'output_tokens'),
  });
  return { usage, ...present({ hourTokens: countIn(objectIn(given, 'cache_creation'), 'ephemeral_1h_input_tokens') }) };
}

const FINISHES: Readonly<Record<string, ItemOf<'answer'>['finish']>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  tool_use: 'tool-calls',
  max_tokens: 'length',
  refusal: 'content-filter',
};

export const finishFrom = (reason: string | undefined): ItemOf<'answer'>['finish'] => FINISHES[reason ?? ''] ?? 'other';

/** The change that a tool made, where the transcript has the file before and after it. */
export function claudeChanges(result: JsonObject | undefined): readonly TranscriptChange[] {
  const path = textIn(result, 'filePath');
  const before = result?.['originalFile'];
  if (path === undefined || (typeof before !== 'string' && before !== null)) return [];
  const after = textIn(result, 'content') ?? (before === null ? undefined : edited(before, result));
  return after === undefined ? [] : [changeOfFile(path, before, after)];
}

function edited(before: string, result: JsonObject | undefined): string | undefined {
  const [old, next] = [textIn(result, 'oldString'), textIn(result, 'newString')];
  if (old === undefined || next === undefined || result?.['userModified'] === true || !before.includes(old)) return undefined;
  return result?.['replaceAll'] === true ? before.replaceAll(old, () => next) : before.replace(old, () => next);
}
