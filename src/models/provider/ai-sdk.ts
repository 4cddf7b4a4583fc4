/**
 * A model over any provider of the AI SDK, called at the provider's own interface: one request in, one outcome out, and
 * never an exception. With `onDelta` the answer is streamed, without it is asked for whole; the outcome is the same.
 *
 * Two clocks run: the request's timeout over everything, and for a stream the time since its last part.
 */

import type { JSONSchema7, LanguageModelV4, LanguageModelV4CallOptions, SharedV4ProviderOptions } from '@ai-sdk/provider';
import type { Clock } from '../../base/clock.ts';
import { isJsonObject } from '../../base/json.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import type { ModelFailure } from '../../events/catalogue.ts';
import { cancelledFailure, timeoutFailure, toFailure, unsentFailure } from '../failures.ts';
import type { Model, ModelOutcome, ModelRequest, ToolSpec } from '../port.ts';
import { halfFinished, type Piece, toOutcome } from './answer.ts';
import { createPromptWriter, type Dialect, type PromptWriter } from './prompt.ts';
import type { SentOutput } from './sent-output.ts';
import { merged, readStream, toolCallPiece } from './stream.ts';

export interface AiSdkModelOptions {
  readonly model: LanguageModelV4;
  /** `provider/model`, as it was asked for. */
  readonly id: string;
  readonly account: string;
  readonly dialect: Dialect;
  readonly clock: Clock;
  /** Settings that every call to this provider carries. */
  readonly providerOptions?: SharedV4ProviderOptions | undefined;
  readonly secrets?: readonly string[];
  readonly idleMs?: number;
  /** Where the provider sends another maximum than it is given. */
  readonly sentOutput?: SentOutput | undefined;
}

export function aiSdkModel(options: AiSdkModelOptions): Model {
  const { id, account } = options;
  const write = createPromptWriter(options.dialect);
  const tools = createToolWriter();
  const ask = async (request: ModelRequest): Promise<ModelOutcome> => {
    if (request.signal.aborted) return { kind: 'failed', error: unsentFailure };
    const watch = startWatch(request, options);
    try {
      const call = callOptions(request, write, tools, options, watch.signal);
      const asked = request.onDelta === undefined ? generate(call, request, options) : stream(call, request, options, watch);
      return await Promise.race([asked, watch.stopped]);
    } catch (error) {
      return { kind: 'failed', error: watch.reason() ?? toFailure(error, failureContext(options)) };
    } finally {
      watch.end();
    }
  };
  return { id, account, ask, ...present({ mostOutput: options.sentOutput }) };
}

async function generate(
  call: LanguageModelV4CallOptions,
  request: ModelRequest,
  options: AiSdkModelOptions,
): Promise<ModelOutcome> {
  const result = await options.model.doGenerate(call);
  const pieces: Piece[] = [];
  for (const part of result.content) {
    if (part.type === 'text') pieces.push({ type: 'text', text: part.text });
    else if (part.type === 'reasoning') {
      pieces.push({ type: 'reasoning', text: part.text, metadata: merged(undefined, part.providerMetadata) });
    } else if (part.type === 'tool-call' && part.providerExecuted !== true) pieces.push(toolCallPiece(part));
  }
  if (options.dialect.reasoningFirst)
    pieces.sort((left, right) => Number(right.type === 'reasoning') - Number(left.type === 'reasoning'));
  const servedModel = result.response?.modelId ?? options.model.modelId;
  const raw = { pieces, finish: result.finishReason, usage: result.usage, servedModel };
  return toOutcome(raw, options.dialect.provider, request.messages.length);
}

async function stream(
  call: LanguageModelV4CallOptions,
  request: ModelRequest,
  options: AiSdkModelOptions,
  watch: Watch,
): Promise<ModelOutcome> {
  const result = await options.model.doStream(call);
  if ((result.response?.headers?.['content-type'] ?? '').startsWith('application/json')) {
    await result.stream.cancel();
    return {
      kind: 'failed',
      error: { kind: 'bad_response', message: 'The server answered with JSON where a stream was asked for.' },
    };
  }
  watch.streaming();
  let spoke = false;
  const end = await readStream(result.stream, {
    model: options.model.modelId,
    onDelta: (delta) => {
      spoke = true;
      request.onDelta?.(delta);
    },
    onActivity: watch.active,
  });
  if (end.kind === 'finished') return toOutcome(end.answer, options.dialect.provider, request.messages.length);
  const interrupted = watch.reason();
  if (interrupted !== undefined) return { kind: 'failed', error: interrupted };
  if (end.kind === 'unfinished') return { kind: 'failed', error: halfFinished() };
  const error = { ...toFailure(end.error, failureContext(options)), begun: true };
  // Who has begun to answer is the right one: what to look at is why it broke off.
  return {
    kind: 'failed',
    error: spoke && error.kind === 'bad_response' ? { ...error, ...present({ fix: halfFinished().fix }) } : error,
  };
}

function callOptions(
  request: ModelRequest,
  write: PromptWriter,
  tools: ToolWriter,
  options: AiSdkModelOptions,
  signal: AbortSignal,
): LanguageModelV4CallOptions {
  const { settings, toolChoice } = request;
  const call: LanguageModelV4CallOptions = {
    prompt: write(request.system, request.messages),
    abortSignal: signal,
    headers: { 'idempotency-key': request.idempotencyKey },
  };
  if (settings.maxOutputTokens !== undefined) call.maxOutputTokens = settings.maxOutputTokens;
  if (settings.temperature !== undefined) call.temperature = settings.temperature;
  if (settings.topP !== undefined) call.topP = settings.topP;
  if (settings.reasoning !== undefined) call.reasoning = settings.reasoning;
  if (options.providerOptions !== undefined) call.providerOptions = options.providerOptions;
  if (request.tools.length > 0) {
    call.tools = tools(request.tools);
    if (toolChoice !== undefined) {
      call.toolChoice = typeof toolChoice === 'string' ? { type: toolChoice } : { type: 'tool', toolName: toolChoice.name };
    }
  }
  if (request.outputSchema !== undefined) {
    call.responseFormat = { type: 'json', name: 'answer', schema: schemaOf(request.outputSchema) };
  }
  return call;
}

type ToolWriter = (specs: readonly ToolSpec[]) => NonNullable<LanguageModelV4CallOptions['tools']>;

/** The same tools are offered turn after turn. */
function createToolWriter(): ToolWriter {
  const written = new WeakMap<readonly ToolSpec[], NonNullable<LanguageModelV4CallOptions['tools']>>();
  return (specs) => {
    const known = written.get(specs);
    if (known !== undefined) return known;
    const tools = specs.map(({ name, description, inputSchema }) => {
      return { type: 'function' as const, name, description, inputSchema: schemaOf(inputSchema) };
    });
    written.set(specs, tools);
    return tools;
  };
}

/** Schemas were checked when they came in; the providers only pass them on. */
function schemaOf(schema: unknown): JSONSchema7 {
  return isJsonObject(schema) ? (schema as JSONSchema7) : { type: 'object' };
}

function failureContext(options: AiSdkModelOptions): Parameters<typeof toFailure>[1] {
  return { provider: options.dialect.provider, clock: options.clock, secrets: options.secrets ?? [] };
}

interface Watch {
  readonly signal: AbortSignal;
  /** Why the call was stopped from this side, if it was. */
  reason(): ModelFailure | undefined;
  /** Resolves when the call is stopped, also when the provider does not listen. */
  readonly stopped: Promise<ModelOutcome>;
  streaming(): void;
  active(): void;
  end(): void;
}

function startWatch(request: ModelRequest, options: AiSdkModelOptions): Watch {
  const { clock } = options;
  const idleMs = options.idleMs ?? limits.modelIdleMs;
  const controller = new AbortController();
  const { promise: stopped, resolve } = Promise.withResolvers<ModelOutcome>();
  let reason: ModelFailure | undefined;
  let lastActive = 0;
  let cancelIdle: (() => void) | undefined;
  const stop = (failure: ModelFailure): void => {
    reason ??= failure;
    controller.abort();
    resolve({ kind: 'failed', error: reason });
  };
  const onCancel = (): void => stop(cancelledFailure);
  request.signal.addEventListener('abort', onCancel, { once: true });
  const cancelTotal = clock.after(request.timeoutMs, () => stop(timeoutFailure('total', request.timeoutMs)), 'hold');
  const watchIdle = (delayMs: number): void => {
    cancelIdle = clock.after(delayMs, () => {
      const quietMs = clock.elapsed() - lastActive;
      if (quietMs >= idleMs) stop(timeoutFailure('idle', idleMs));
      else watchIdle(idleMs - quietMs);
    });
  };
  return {
    signal: controller.signal,
    reason: () => reason,
    stopped,
    streaming: () => {
      lastActive = clock.elapsed();
      watchIdle(idleMs);
    },
    active: () => {
      lastActive = clock.elapsed();
    },
    end: () => {
      request.signal.removeEventListener('abort', onCancel);
      cancelTotal();
      cancelIdle?.();
    },
  };
}
