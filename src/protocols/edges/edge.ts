/**
 * What stands between a protocol of its own and the HTTP server: a request that was let in and read, and what is answered to it.
 * Who may ask, how much is read and how a stream is written is the same for all of them, in `src/http`.
 */
import type { Json } from '../../base/json.ts';
import type { McpCaller } from '../mcp/needs.ts';

export interface EdgeRequest {
  readonly method: string;
  /** Decoded, without the place where the edge begins. */
  readonly path: readonly string[];
  readonly caller: McpCaller;
  /** `undefined` when there was none. */
  readonly body: Json | undefined;
  /** Aborts when whoever asks has gone. */
  readonly signal: AbortSignal;
}

export type EdgeReply =
  | {
      readonly kind: 'value';
      readonly status: number;
      readonly value: unknown;
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** Pulled: the next piece is made when the reader has taken the last. `signal` tells that the reader has gone. */
  | {
      readonly kind: 'stream';
      readonly type: string;
      pieces(signal: AbortSignal): AsyncGenerator<string, void>;
      /** Called once, however it ended, also when nothing was ever taken. */
      close(): void;
    };

/** Why a request goes no further than the door. */
export interface EdgeRefusal {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly fix?: string | undefined;
}

export interface ServedEdge {
  answer(request: EdgeRequest): Promise<EdgeReply>;
  /** A refusal as this protocol has it. */
  refused(refusal: EdgeRefusal): unknown;
}

export const SSE = 'text/event-stream';
