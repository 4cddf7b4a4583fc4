/** HTTP+JSON of version 0.3: below `v1`, in words of its own. What they mean is the SDK's matter. */
import { LEGACY_JSON_CONTENT_TYPE } from '@a2a-js/sdk/compat/v0_3';
import type { LegacyRestTransportHandler } from '@a2a-js/sdk/compat/v0_3/server';
import { A2A_ERROR_CODE, restStatusFor, VersionNotSupportedError } from '@a2a-js/sdk/errors';
import type { A2ARequestHandler } from '@a2a-js/sdk/server';
import type { JsonObject } from '../../base/json.ts';
import { hidden } from '../a2a/errors.ts';
import type { PeerRoom } from '../a2a/room.ts';
import { bodyOf } from './body.ts';
import { blamed, type Call, NO_OPERATION } from './call.ts';
import { streamResponse } from './events-out.ts';
import { isLastUpdate } from './last-event.ts';
import { cardOut, legacyTaskOut, pushConfigIn, pushConfigOut, resultOut, sendParamsIn } from './legacy-words.ts';
import { checkSent } from './sent-forms.ts';

const TYPES = [LEGACY_JSON_CONTENT_TYPE];
const PREFIX = 'v1';

type Send = Parameters<LegacyRestTransportHandler['sendMessage']>[0];
type Config = Parameters<LegacyRestTransportHandler['setTaskPushNotificationConfig']>[0];
type Events = AsyncGenerator<object, void, undefined>;
type Done = { readonly body: unknown; readonly status?: number } | { readonly events: Events };

export async function legacyRestResponse(
  { needs }: PeerRoom,
  handler: A2ARequestHandler,
  call: Call,
  [prefix, ...steps]: readonly string[],
): Promise<Response> {
  const { LegacyRestTransportHandler: Legacy } = await import('@a2a-js/sdk/compat/v0_3/server');
  const explain = (error: unknown): object => Legacy.mapToLegacyHTTPError(hidden(blamed(call, error), needs.onError));
  try {
    call.check();
    // Who names no version is of this one, and may have meant the other.
    if (prefix !== PREFIX) throw new VersionNotSupportedError(`Version 0.3 is below ${PREFIX}/; for 1.0 say A2A-Version: 1.0.`);
    const done = await operation(new Legacy(handler), call, steps);
    if (done === undefined) return json({ code: A2A_ERROR_CODE.METHOD_NOT_FOUND, message: NO_OPERATION }, 404);
    if ('body' in done) return json(done.body, done.status ?? 200);
    const encode = (event: object): object => resultOut(isLastUpdate(event) ? { ...event, final: true } : { ...event });
    return await streamResponse({ events: done.events, encode, explain, clock: needs.clock, leave: call.leave });
  } catch (error) {
    return json(explain(error), restStatusFor(hidden(blamed(call, error), () => undefined)));
  }
}

const json = (body: unknown, status: number): Response =>
  new Response(body === undefined ? null : JSON.stringify(body), {
    status,
    headers: { 'content-type': LEGACY_JSON_CONTENT_TYPE },
  });

const words = (value: object): JsonObject => value as JsonObject;

async function operation(
  legacy: LegacyRestTransportHandler,
  { request, context }: Call,
  [first = '', second, third, ...more]: readonly string[],
): Promise<Done | undefined> {
  const { method } = request;
  if (method === 'POST' && second === undefined && (first === 'message:send' || first === 'message:stream')) {
    const sent = sendParamsIn(await bodyOf(request, TYPES));
    checkSent('message/send', sent, { legacy: true });
    const params = sent as unknown as Send;
    if (first === 'message:stream') return { events: await legacy.sendMessageStream(params, context) };
    return { body: resultOut(words(await legacy.sendMessage(params, context))) };
  }
  if (method === 'GET' && first === 'card' && second === undefined)
    return { body: cardOut(words(await legacy.getAuthenticatedExtendedAgentCard(context))) };
  if (first !== 'tasks' || second === undefined || more.length > 1) return undefined;
  if (third === undefined) return await oneTask(legacy, { request, context }, second);
  return third === 'pushNotificationConfigs' ? await pushConfigs(legacy, { request, context }, second, more[0]) : undefined;
}

type Asked = Pick<Call, 'request' | 'context'>;

async function oneTask(legacy: LegacyRestTransportHandler, { request, context }: Asked, step: string): Promise<Done | undefined> {
  const [, id = '', verb] = /^(.*?)(?::([a-z]+))?$/i.exec(step) ?? [];
  const query = new URL(request.url).searchParams;
  switch (`${request.method} ${verb ?? ''}`) {
    case 'GET ': {
      const length = query.get('historyLength') ?? query.get('history_length') ?? undefined;
      return { body: legacyTaskOut(words(await legacy.getTask(id, context, length))) };
    }
    case 'POST cancel':
      return { body: legacyTaskOut(words(await legacy.cancelTask(id, context))) };
    case 'GET subscribe':
    case 'POST subscribe':
      return { events: await legacy.resubscribe(id, context) };
    default:
      return undefined;
  }
}

async function pushConfigs(
  legacy: LegacyRestTransportHandler,
  { request, context }: Asked,
  taskId: string,
  id: string | undefined,
): Promise<Done | undefined> {
  switch (`${request.method} ${id === undefined ? 'all' : 'one'}`) {
    case 'POST all': {
      const config = pushConfigIn(taskId, await bodyOf(request, TYPES)) as unknown as Config;
      return { body: pushConfigOut(words(await legacy.setTaskPushNotificationConfig(config, context))), status: 201 };
    }
    case 'GET all': {
      const configs = await legacy.listTaskPushNotificationConfigs(taskId, context);
      return { body: { configs: configs.map((config) => pushConfigOut(words(config))), nextPageToken: '' } };
    }
    case 'GET one':
      return { body: pushConfigOut(words(await legacy.getTaskPushNotificationConfig(taskId, id ?? '', context))) };
    case 'DELETE one':
      await legacy.deleteTaskPushNotificationConfig(taskId, id ?? '', context);
      return { body: undefined, status: 204 };
    default:
      return undefined;
  }
}
