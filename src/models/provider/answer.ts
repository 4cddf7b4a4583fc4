/**
 * A provider's answer in our words. Streamed and whole answers are both put together here, from the same parts in the same
 * order, so that the ledger cannot tell them apart.
 */

import type { LanguageModelV4FinishReason, LanguageModelV4Usage } from '@ai-sdk/provider';
import { type Json, parseJson } from '../../base/json.ts';
import { present } from '../../base/present.ts';
import type { ModelFailure } from '../../events/catalogue.ts';
import type { AssistantMessage, Usage } from '../../events/messages.ts';
import type { Finish, ModelOutcome } from '../port.ts';
import { plausibleUsage } from '../usage.ts';
import { repairJson } from './repair.ts';

/** What the adapter keeps of a provider's content; everything else (sources, files) has no place in a transcript. */
export type Piece =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'reasoning'; readonly text: string; readonly metadata: Json | undefined }
  | {
      readonly type: 'tool-call';
      readonly id: string;
      readonly name: string;
      readonly input: string;
      readonly metadata: Json | undefined;
    };

export interface RawAnswer {
  readonly pieces: readonly Piece[];
  readonly finish: LanguageModelV4FinishReason;
  readonly usage: LanguageModelV4Usage;
  readonly servedModel: string;
}

type Part = AssistantMessage['content'][number];

/** `turn` makes ids for calls that came without one; it grows with the conversation, so they stay unique. */
export function toOutcome(raw: RawAnswer, provider: string, turn: number): ModelOutcome {
  const content: Part[] = [];
  const ids = new Set<string>();
  for (const piece of raw.pieces) {
    if (piece.type === 'text') {
      if (piece.text !== '') content.push({ type: 'text', text: piece.text });
    } else if (piece.type === 'reasoning') {
      if (piece.text !== '' || piece.metadata !== undefined) content.push(reasoningPart(piece.text, piece.metadata, provider));
    } else {
      const id = piece.id !== '' && !ids.has(piece.id) ? piece.id : `call_${turn}_${ids.size}`;
      ids.add(id);
      content.push(toolCallPart({ ...piece, id }, provider));
    }
  }
  const finish = finishOf(raw.finish.unified, ids.size > 0);
  const failure = failureWithout(content, raw.finish);
  if (failure !== undefined) return { kind: 'failed', error: failure };
  const message: AssistantMessage = { role: 'assistant', content };
  return {
    kind: 'answer',
    answer: { message, finish, usage: usageOf(raw.usage, content.length > 0), served: `${provider}/${raw.servedModel}` },
  };
}

function reasoningPart(text: string, metadata: Json | undefined, provider: string): Part {
  return { type: 'reasoning', text, provider, ...present({ opaque: metadata }) };
}

function toolCallPart(piece: Extract<Piece, { type: 'tool-call' }>, provider: string): Part {
  const opaque = piece.metadata === undefined ? {} : { provider, opaque: piece.metadata };
  const base = { type: 'tool-call', id: piece.id, name: piece.name } as const;
  return { ...base, ...readArguments(piece.input), ...opaque };
}

/** Arguments as a value. No text at all means no arguments: some models send nothing for a tool without parameters. */
export function readArguments(text: string): { readonly input: Json; readonly malformed?: string } {
  if (text.trim() === '') return { input: {} };
  const parsed = parseJson(text);
  if (parsed.ok) return { input: parsed.value };
  const repaired = repairJson(text);
  return repaired === undefined ? { input: {}, malformed: text } : { input: repaired };
}

function finishOf(unified: LanguageModelV4FinishReason['unified'], calls: boolean): Finish {
  if (unified === 'interrupted') return 'error';
  return calls && (unified === 'stop' || unified === 'other') ? 'tool-calls' : unified;
}

/** Some ends leave nothing to work with; saying so lets the caller try again or elsewhere. */
function failureWithout(content: readonly Part[], finish: LanguageModelV4FinishReason): ModelFailure | undefined {
  if (finish.unified === 'interrupted') return halfFinished();
  if (content.length > 0) return undefined;
  if (finish.unified === 'content-filter')
    return { kind: 'refused', message: 'The provider refused to answer (content filter).' };
  if (finish.unified === 'error')
    return { kind: 'bad_response', message: `The model gave no answer (${finish.raw ?? 'error'}).` };
  return undefined;
}

export function halfFinished(): ModelFailure {
  const fix = 'Try again, or name a fallback model. If it breaks off each time, look at what lies between here and the provider.';
  return { kind: 'bad_response', message: 'The answer broke off: the half-finished stream ended without a finish.', fix };
}

function usageOf({ inputTokens: input, outputTokens: output }: LanguageModelV4Usage, spoke: boolean): Usage {
  const { total: inputTokens, cacheRead: cacheReadTokens, cacheWrite: cacheWriteTokens } = input;
  const { total: outputTokens, reasoning: reasoningTokens } = output;
  return plausibleUsage({ inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens, reasoningTokens }, spoke);
}
