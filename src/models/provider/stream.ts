/**
 * Puts a streamed answer together. Pieces keep the order in which they began, each in full, so that the result equals what
 * the provider would have answered without streaming. The caller shows the deltas; nothing else of them survives.
 */
import type { LanguageModelV4StreamPart, SharedV4ProviderMetadata } from '@ai-sdk/provider';
import { isJsonObject, type Json } from '../../base/json.ts';
import type { ModelDelta } from '../port.ts';
import type { Piece, RawAnswer } from './answer.ts';

type Open = { type: 'text' | 'reasoning'; text: string; metadata: Json | undefined };

export type StreamEnd =
  | { readonly kind: 'finished'; readonly answer: RawAnswer }
  | { readonly kind: 'error'; readonly error: unknown }
  | { readonly kind: 'unfinished' };

export interface StreamOptions {
  readonly model: string;
  readonly onDelta: (delta: ModelDelta) => void;
  /** Called for every part, so that the caller can tell a slow stream from a dead one. */
  readonly onActivity: () => void;
}

/** Rejects only with what the stream itself rejects with. */
export async function readStream(stream: ReadableStream<LanguageModelV4StreamPart>, options: StreamOptions): Promise<StreamEnd> {
  const assembly = createAssembly(options);
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return { kind: 'unfinished' };
      options.onActivity();
      const end = assembly.take(value);
      if (end !== undefined) return end;
    }
  } finally {
    // What the provider does after the end is of no interest, not even its failures.
    reader.cancel().catch(() => undefined);
  }
}

function createAssembly(options: StreamOptions): { take(part: LanguageModelV4StreamPart): StreamEnd | undefined } {
  const pieces: (Open | Piece)[] = [];
  const open = new Map<string, Open>();
  let servedModel = options.model;

  const begin = (type: Open['type'], id: string, metadata: SharedV4ProviderMetadata | undefined): void => {
    const piece: Open = { type, text: '', metadata: merged(undefined, metadata) };
    pieces.push(piece);
    open.set(type + id, piece);
  };
  const extend = (type: Open['type'], id: string, delta: string, metadata: SharedV4ProviderMetadata | undefined): void => {
    if (!open.has(type + id)) begin(type, id, undefined);
    const piece = open.get(type + id);
    if (piece === undefined) return;
    piece.text += delta;
    piece.metadata = merged(piece.metadata, metadata);
    if (delta !== '') options.onDelta({ type, text: delta });
  };

  const take = (part: LanguageModelV4StreamPart): StreamEnd | undefined => {
    switch (part.type) {
      case 'text-start':
      case 'reasoning-start':
        begin(part.type === 'text-start' ? 'text' : 'reasoning', part.id, part.providerMetadata);
        return undefined;
      case 'text-delta':
      case 'reasoning-delta':
        extend(part.type === 'text-delta' ? 'text' : 'reasoning', part.id, part.delta, part.providerMetadata);
        return undefined;
      case 'text-end':
      case 'reasoning-end':
        extend(part.type === 'text-end' ? 'text' : 'reasoning', part.id, '', part.providerMetadata);
        open.delete((part.type === 'text-end' ? 'text' : 'reasoning') + part.id);
        return undefined;
      case 'tool-input-start':
        options.onDelta({ type: 'tool', name: part.toolName });
        return undefined;
      case 'tool-call':
        if (part.providerExecuted !== true) pieces.push(toolCallPiece(part));
        return undefined;
      case 'response-metadata':
        servedModel = part.modelId ?? servedModel;
        return undefined;
      case 'error':
        return { kind: 'error', error: part.error };
      case 'finish': {
        const answer = { pieces: pieces as readonly Piece[], finish: part.finishReason, usage: part.usage, servedModel };
        return { kind: 'finished', answer };
      }
      default:
        return undefined;
    }
  };
  return { take };
}

export function toolCallPiece(call: {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: string;
  readonly providerMetadata?: SharedV4ProviderMetadata;
}): Piece {
  return {
    type: 'tool-call',
    id: call.toolCallId,
    name: call.toolName,
    input: call.input,
    metadata: merged(undefined, call.providerMetadata),
  };
}

/** Metadata comes in instalments (an id at the start, a signature at the end), one object per provider name. */
export function merged(before: Json | undefined, next: SharedV4ProviderMetadata | undefined): Json | undefined {
  if (next === undefined) return before;
  const result: Record<string, Json | undefined> = isJsonObject(before) ? { ...before } : {};
  for (const [name, values] of Object.entries(next)) {
    const known = result[name];
    result[name] = { ...(isJsonObject(known) ? known : {}), ...values };
  }
  return result;
}
