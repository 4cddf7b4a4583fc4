/** What a test tells the model server to say, and what the server saw. The same for every protocol it speaks. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Json, JsonObject } from '../../../src/base/json.ts';

export type Protocol = 'openai-chat' | 'openai-responses' | 'anthropic' | 'gemini';

export interface SeenRequest {
  readonly protocol: Protocol;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: JsonObject;
  readonly model: string;
  readonly stream: boolean;
  /** How many tool results the conversation holds: the position in a script that keeps no state. */
  readonly toolResults: number;
  /** Counted from 0 over the life of the server. */
  readonly index: number;
}

export interface ServerCall {
  readonly id?: string;
  readonly name: string;
  readonly input?: Json;
  /** Sent as it is, for arguments that are not JSON. */
  readonly rawInput?: string;
}

export interface Answer {
  readonly text?: string;
  readonly reasoning?: string;
  readonly calls?: readonly ServerCall[];
  readonly usage?: { readonly input: number; readonly output: number; readonly cached?: number };
  readonly model?: string;
  /** In the protocol's own words; made up when absent. */
  readonly finish?: string;
  readonly delayMs?: number;
  /** Cuts the stream into pieces of this many bytes, wherever they fall. */
  readonly chunkBytes?: number;
  /** Time between those pieces. */
  readonly dripMs?: number;
}

/** What can go wrong on the way. */
export type Fault =
  | { readonly fault: 'status'; readonly status: number; readonly headers?: Record<string, string>; readonly body?: string }
  | { readonly fault: 'error-in-stream'; readonly error: JsonObject; readonly after?: string }
  | { readonly fault: 'html'; readonly status?: number }
  | { readonly fault: 'garbage' }
  | { readonly fault: 'half-stream'; readonly text: string; readonly reset?: boolean }
  | { readonly fault: 'hang'; readonly after?: string }
  | { readonly fault: 'reset' }
  | {
      readonly fault: 'raw';
      readonly contentType: string;
      readonly chunks: readonly (string | Uint8Array)[];
      readonly repeat?: number;
    };

export type Reply = Answer | Fault;
export type ServerScript = (request: SeenRequest) => Reply | Promise<Reply>;

export function callsOf(answer: Answer, index: number): { id: string; name: string; input: Json; text: string }[] {
  return (answer.calls ?? []).map((call, position) => ({
    id: call.id ?? `call_${index}_${position}`,
    name: call.name,
    input: call.input ?? {},
    text: call.rawInput ?? JSON.stringify(call.input ?? {}),
  }));
}

export const usageOf = (answer: Answer): { input: number; output: number; cached: number } => ({
  input: answer.usage?.input ?? 100,
  output: answer.usage?.output ?? 20,
  cached: answer.usage?.cached ?? 0,
});

/** Text in small pieces, as models stream it. */
export function pieces(text: string, size = 7): string[] {
  return text.match(new RegExp(`[\\s\\S]{1,${size}}`, 'g')) ?? [];
}

export const sse = (data: unknown, event?: string): string =>
  `${event === undefined ? '' : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`;
