/** The JSON-RPC binding of both versions, by the SDK's own transports. */
import { A2A_ERROR_CODE } from '@a2a-js/sdk/errors';
import { type A2ARequestHandler, JsonRpcTransportHandler } from '@a2a-js/sdk/server';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { hidden } from '../a2a/errors.ts';
import type { PeerRoom } from '../a2a/room.ts';
import { jsonIn, NOT_JSON } from './body.ts';
import { blamed, type Call } from './call.ts';
import { streamResponse } from './events-out.ts';
import { saysLast } from './last-event.ts';
import { checkSent } from './sent-forms.ts';

const TYPES = ['application/json'];

interface Transport {
  handle(body: Record<string, unknown>, context: Call['context']): Promise<unknown>;
}

type Explain = (error: unknown) => object;

export async function jsonRpcResponse({ needs }: PeerRoom, handler: A2ARequestHandler, call: Call): Promise<Response> {
  const { transport, explain } = await speaking(handler, call.legacy);
  const shown: Explain = (error) => explain(hidden(blamed(call, error), needs.onError));
  let id: unknown = null;
  const failed = (error: unknown): object => ({ jsonrpc: '2.0', id, error: shown(error) });
  if (call.request.method !== 'POST') return new Response(null, { status: 405, headers: { allow: 'POST' } });
  try {
    const read = await jsonIn(call.request, TYPES);
    if (read.kind !== 'json') return refused(null, A2A_ERROR_CODE.PARSE_ERROR, NOT_JSON);
    const { value: body } = read;
    const given = isJsonObject(body) ? body['id'] : null;
    id = typeof given === 'string' || typeof given === 'number' ? given : null;
    if (!isRequest(body)) return refused(id, A2A_ERROR_CODE.INVALID_REQUEST, 'This is no request of JSON-RPC 2.0.');
    call.check();
    checkSent(String(body['method']), body['params'], call);
    const answer = await transport.handle({ ...body }, call.context);
    if (isInternal(answer)) return Response.json(call.isReached() ? answer : failed(new Error('unreadable')));
    if (!isStream(answer)) return Response.json(answer);
    const { leave, legacy } = call;
    const encode = (event: object): object => (legacy ? saysLast(event) : event);
    const out = { events: answer, encode, explain: failed, clock: needs.clock, leave, always: legacy };
    return await streamResponse(out);
  } catch (error) {
    return Response.json(failed(error));
  }
}

const refused = (id: unknown, code: number, message: string): Response =>
  Response.json({ jsonrpc: '2.0', id, error: { code, message } });

/** The SDK has the same rules, and another code for what breaks them. */
function isRequest(body: unknown): body is JsonObject {
  if (!isJsonObject(body)) return false;
  const { jsonrpc, method, id = null } = body;
  const isNamed = id === null || typeof id === 'string' || Number.isInteger(id);
  return jsonrpc === '2.0' && typeof method === 'string' && method !== '' && isNamed;
}

async function speaking(handler: A2ARequestHandler, legacy: boolean): Promise<{ transport: Transport; explain: Explain }> {
  if (!legacy) return { transport: new JsonRpcTransportHandler(handler), explain: JsonRpcTransportHandler.mapToJSONRPCError };
  const { LegacyJsonRpcTransportHandler: Legacy } = await import('@a2a-js/sdk/compat/v0_3/server');
  return { transport: new Legacy(handler), explain: Legacy.mapToLegacyJSONRPCError };
}

/** What the SDK makes of its own trouble. */
const isInternal = (answer: unknown): boolean =>
  isJsonObject(answer) && isJsonObject(answer['error']) && answer['error']['code'] === A2A_ERROR_CODE.INTERNAL_ERROR;

const isStream = (answer: unknown): answer is AsyncGenerator<object, void, undefined> =>
  typeof answer === 'object' && answer !== null && Symbol.asyncIterator in answer;
