/**
 * The protocol to one executor, by the official package: our requests with a time limit and their failures as values, its
 * requests and updates as calls of ours. It knows no session.
 */
import type { Readable, Writable } from 'node:stream';
import type { Stream } from '@agentclientprotocol/sdk';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import { isJsonObject, type Json } from '../../base/json.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import type { ExecutorProtocol } from '../entry.ts';
import { createWire, type WireFault, WireFlood } from './wire.ts';
import { inTime, LATE } from './within.ts';

export interface AcpPeer {
  /** `ms` undefined: as long as it takes. */
  request(method: string, params: object, ms?: number): Promise<Result<unknown, PeerTrouble>>;
  notify(method: string, params: object): void;
  /** The bounds of what it may send count anew. */
  renew(): void;
  /** The version of the protocol that it says it speaks, as soon as it has. */
  version(): number | undefined;
  /** Nothing goes to and fro any more; a flood is told. */
  readonly closed: Promise<WireFlood | undefined>;
  close(): void;
}

/** What goes to and fro. */
export interface PeerPipes {
  readonly input: Readable;
  readonly output: Writable;
}

export type PeerTrouble =
  | { readonly kind: 'refused'; readonly code: number; readonly message: string; readonly data: unknown }
  | { readonly kind: 'late'; readonly ms: number }
  | { readonly kind: 'closed' };

/** What an executor asks of us. The failure is told to it in words. */
export interface PeerCallbacks {
  update(params: unknown): void;
  request(method: string, params: unknown, signal: AbortSignal): Promise<Result<Json, CallbackRefusal>>;
  fault(fault: WireFault, sample: string): void;
}

export interface CallbackRefusal {
  readonly code: 'invalid' | 'missing' | 'refused' | 'unknown';
  readonly message: string;
}

/** Codes of the protocol. */
const CODES: Readonly<Record<CallbackRefusal['code'], number>> = {
  invalid: -32_602,
  missing: -32_002,
  refused: -32_603,
  unknown: -32_601,
};
export const AUTH_REQUIRED = -32_000;

/** The little of the package that is used: another version of the protocol has the same. */
interface Connection {
  readonly closed: Promise<void>;
  readonly signal: AbortSignal;
  close(error?: unknown): void;
  readonly agent: {
    request(method: string, params?: unknown): Promise<unknown>;
    notify(method: string, params?: unknown): Promise<void>;
  };
}

interface Sdk {
  readonly RequestError: new (code: number, message: string, data?: unknown) => Error;
  connect(stream: Stream, requested: Requested): Connection;
}

type Requested = (method: string, params: unknown, signal: AbortSignal) => Promise<Json>;

export async function connectPeer(
  pipes: PeerPipes,
  callbacks: PeerCallbacks,
  clock: Clock,
  version: ExecutorProtocol,
): Promise<AcpPeer> {
  const sdk = await (version === 1 ? version1() : version2());
  let spoken: number | undefined;
  const answered = (result: unknown): void => {
    const said = isJsonObject(result) ? result['protocolVersion'] : undefined;
    if (typeof said === 'number') spoken ??= said;
  };
  const wire = createWire(pipes.input, pipes.output, { ...callbacks, answered });
  const connection = sdk.connect(wire.stream, async (method, params, signal) => {
    const answer = await callbacks.request(method, params, signal);
    if (!answer.ok) throw new sdk.RequestError(CODES[answer.error.code], answer.error.message);
    return answer.value;
  });
  const troubleOf = (error: unknown): PeerTrouble => {
    if (connection.signal.aborted) return { kind: 'closed' };
    if (!(error instanceof sdk.RequestError)) return { kind: 'refused', code: 0, message: messageOf(error), data: undefined };
    const { code, data } = error as Error & { readonly code: number; readonly data?: unknown };
    return { kind: 'refused', code, message: error.message, data };
  };
  return {
    async request(method, params, ms) {
      try {
        const answer = connection.agent.request(method, params);
        const value = ms === undefined ? await answer : await inTime(answer, ms, clock);
        return value === LATE ? fail({ kind: 'late', ms: ms ?? 0 }) : ok(value);
      } catch (error) {
        return fail(troubleOf(error));
      }
    },
    notify(method, params) {
      // One that is gone needs no telling: that it is gone is told by `closed`.
      void connection.agent.notify(method, params).catch(() => {});
    },
    renew: wire.renew,
    version: () => spoken,
    closed: connection.closed.then(() => {
      const reason: unknown = connection.signal.reason;
      return reason instanceof WireFlood ? reason : undefined;
    }),
    close: () => connection.close(),
  };
}

async function version1(): Promise<Sdk> {
  const { client, RequestError } = await import('@agentclientprotocol/sdk');
  return {
    RequestError,
    connect: (stream, requested) =>
      client({ name: 'troupe' })
        .onRequest('*', ({ method, params, signal }) => requested(method, params, signal))
        .connect(stream),
  };
}

/** A draft: it may change with the package. */
async function version2(): Promise<Sdk> {
  const { client, RequestError } = await import('@agentclientprotocol/sdk/experimental/v2');
  return {
    RequestError,
    connect: (stream, requested) =>
      client({ name: 'troupe' })
        .onRequest('*', ({ method, params, signal }) => requested(method, params, signal))
        .connect(stream),
  };
}
