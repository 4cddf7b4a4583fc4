/**
 * One end of a JSON-RPC 2.0 conversation. Whatever comes in, it neither throws nor waits for ever: a frame that means nothing
 * is passed over, a request gets exactly one answer, and closing answers everything that is still open.
 */
import { messageOf } from '../../base/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import { fail, ok, type Result } from '../../base/result.ts';

export interface RpcError {
  readonly code: number;
  readonly message: string;
}

export type RpcResult = Result<Json, RpcError>;
export type Method = (params: Json | undefined) => RpcResult | Promise<RpcResult>;

export const INVALID_REQUEST = -32_600;
export const METHOD_NOT_FOUND = -32_601;
export const INVALID_PARAMS = -32_602;
export const INTERNAL_ERROR = -32_603;
export const CLOSED = -32_000;
export const TOO_MANY = -32_001;

export interface PeerOptions {
  /** Hands a frame to the other end. The failure says why it could not be sent. */
  send(frame: JsonObject): Result<void, string>;
  method(name: string): Method | undefined;
  /** How many requests may be open, in each direction. */
  readonly maxOpen: number;
}

export interface Peer {
  request(method: string, params: Json): Promise<RpcResult>;
  notify(method: string, params: Json): void;
  receive(frame: JsonObject): void;
  /** Answers every open request with this reason; later ones too. */
  close(reason: string): void;
}

export function createPeer(options: PeerOptions): Peer {
  const open = new Map<number, (result: RpcResult) => void>();
  let answering = 0;
  let lastId = 0;
  let closed: string | undefined;

  const answer = (id: Json, result: RpcResult): void => {
    if (closed !== undefined) return;
    const sent = options.send({ jsonrpc: '2.0', id, ...(result.ok ? { result: result.value } : { error: { ...result.error } }) });
    if (!sent.ok) options.send({ jsonrpc: '2.0', id, error: { code: INTERNAL_ERROR, message: sent.error } });
  };

  const serve = async (name: string, params: Json | undefined): Promise<RpcResult> => {
    const method = options.method(name);
    if (method === undefined) return rpcRefusal(METHOD_NOT_FOUND, `There is no method ${JSON.stringify(name.slice(0, 100))}.`);
    if (answering >= options.maxOpen)
      return rpcRefusal(TOO_MANY, `More than ${options.maxOpen} requests are open (runnerPendingCalls).`);
    answering += 1;
    try {
      return await method(params);
    } catch (error) {
      return rpcRefusal(INTERNAL_ERROR, messageOf(error));
    } finally {
      answering -= 1;
    }
  };

  return {
    request(method, params) {
      if (closed !== undefined) return Promise.resolve(rpcRefusal(CLOSED, closed));
      if (open.size >= options.maxOpen)
        return Promise.resolve(rpcRefusal(TOO_MANY, `More than ${options.maxOpen} requests are open (runnerPendingCalls).`));
      lastId += 1;
      const id = lastId;
      return new Promise((resolve) => {
        open.set(id, resolve);
        const sent = options.send({ jsonrpc: '2.0', id, method, params });
        if (!sent.ok && open.delete(id)) resolve(rpcRefusal(INTERNAL_ERROR, sent.error));
      });
    },
    notify(method, params) {
      if (closed === undefined) options.send({ jsonrpc: '2.0', method, params });
    },
    receive(frame) {
      const { id, method, params } = frame;
      if (typeof method === 'string') {
        if (id === undefined) void serve(method, params);
        else if (isId(id)) void serve(method, params).then((result) => answer(id, result));
        else answer(null, rpcRefusal(INVALID_REQUEST, 'The id of a request is a number or a text.'));
        return;
      }
      if (typeof id !== 'number') return;
      const resolve = open.get(id);
      open.delete(id);
      resolve?.(resultOf(frame));
    },
    close(reason) {
      closed ??= reason;
      const waiting = [...open.values()];
      open.clear();
      for (const resolve of waiting) resolve(rpcRefusal(CLOSED, reason));
    },
  };
}

export function rpcRefusal(code: number, message: string): RpcResult {
  return fail({ code, message });
}

function isId(id: Json): boolean {
  return typeof id === 'string' || typeof id === 'number' || id === null;
}

function resultOf({ result, error }: JsonObject): RpcResult {
  if (result !== undefined) return ok(result);
  const code = isJsonObject(error) && typeof error['code'] === 'number' ? error['code'] : INTERNAL_ERROR;
  const message = isJsonObject(error) && typeof error['message'] === 'string' ? error['message'] : 'The answer holds no result.';
  return fail({ code, message });
}
