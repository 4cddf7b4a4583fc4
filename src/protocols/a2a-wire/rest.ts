/** The HTTP+JSON binding: an address for each operation, each also behind a tenant. */
import {
  A2A_CONTENT_TYPE,
  AgentCard,
  ListTaskPushNotificationConfigsResponse,
  ListTasksResponse,
  SendMessageRequest,
  SendMessageResponse,
  StreamResponse,
  Task,
  TaskPushNotificationConfig,
  TaskState,
  taskStateFromJSON,
} from '@a2a-js/sdk';
import { RequestMalformedError, restStatusFor, toRestErrorBody } from '@a2a-js/sdk/errors';
import type { A2ARequestHandler } from '@a2a-js/sdk/server';
import { present } from '../../base/present.ts';
import { hidden, isOwnTrouble } from '../a2a/errors.ts';
import type { PeerRoom } from '../a2a/room.ts';
import { bodyOf } from './body.ts';
import { blamed, type Call, noOperation } from './call.ts';
import { streamResponse } from './events-out.ts';
import { checkSent, flagIn } from './sent-forms.ts';

const TYPES = ['application/json', A2A_CONTENT_TYPE];

export async function restResponse(
  { needs }: PeerRoom,
  handler: A2ARequestHandler,
  call: Call,
  steps: readonly string[],
): Promise<Response> {
  const explain = (error: unknown): object => {
    const safe = hidden(blamed(call, error), needs.onError);
    // The SDK has no status for what is none of the protocol's own errors, unless it is no A2AError either.
    return toRestErrorBody(isOwnTrouble(safe) ? new Error(safe.message) : safe, restStatusFor(safe));
  };
  try {
    call.check();
    const done = await operation(handler, call, steps);
    if (done === undefined) return noOperation();
    if ('body' in done) return json(done.body, done.status ?? 200);
    const { leave } = call;
    return await streamResponse({ events: done.events, encode: StreamResponse.toJSON, explain, clock: needs.clock, leave });
  } catch (error) {
    return json(explain(error), restStatusFor(hidden(blamed(call, error), () => undefined)));
  }
}

const json = (body: unknown, status: number): Response =>
  new Response(body === undefined ? null : JSON.stringify(body), { status, headers: { 'content-type': A2A_CONTENT_TYPE } });

type Done =
  | { readonly body: unknown; readonly status?: number }
  | { readonly events: AsyncGenerator<StreamResponse, void, undefined> };

async function operation(
  handler: A2ARequestHandler,
  { request, context }: Call,
  steps: readonly string[],
): Promise<Done | undefined> {
  const { method } = request;
  const tenant = context.tenant ?? '';
  const [first = '', second, third, ...more] = steps;
  const query = new URL(request.url).searchParams;
  if (more.length > 1) return undefined;
  if (method === 'POST' && second === undefined && (first === 'message:send' || first === 'message:stream')) {
    const body = await bodyOf(request, TYPES);
    checkSent('SendMessage', body, { legacy: false });
    const params = { ...SendMessageRequest.fromJSON(body), ...(tenant === '' ? {} : { tenant }) };
    if (first === 'message:stream') return { events: handler.sendMessageStream(params, context) };
    const sent = await handler.sendMessage(params, context);
    const payload =
      'messageId' in sent ? ({ $case: 'message', value: sent } as const) : ({ $case: 'task', value: sent } as const);
    return { body: SendMessageResponse.toJSON({ payload }) };
  }
  if (method === 'GET' && first === 'extendedAgentCard' && second === undefined)
    return { body: AgentCard.toJSON(await handler.getAuthenticatedExtendedAgentCard({ tenant }, context)) };
  if (first !== 'tasks') return undefined;
  if (second === undefined) return method === 'GET' ? { body: await listed(handler, context, tenant, query) } : undefined;
  if (third === undefined) return await oneTask(handler, { request, context }, second, query);
  return third === 'pushNotificationConfigs' ? await pushConfigs(handler, { request, context }, second, more[0]) : undefined;
}

type Asked = Pick<Call, 'request' | 'context'>;

async function oneTask(
  handler: A2ARequestHandler,
  { request, context }: Asked,
  step: string,
  query: URLSearchParams,
): Promise<Done | undefined> {
  const tenant = context.tenant ?? '';
  const [, id = '', verb] = /^(.*?)(?::([a-z]+))?$/i.exec(step) ?? [];
  switch (`${request.method} ${verb ?? ''}`) {
    case 'GET ':
      return { body: Task.toJSON(await handler.getTask({ id, tenant, ...lengthIn(query) }, context)) };
    case 'POST cancel':
      return { body: Task.toJSON(await handler.cancelTask({ id, tenant, metadata: undefined }, context)) };
    case 'GET subscribe':
    case 'POST subscribe':
      return { events: handler.resubscribe({ id, tenant }, context) };
    default:
      return undefined;
  }
}

async function listed(
  handler: A2ARequestHandler,
  context: Call['context'],
  tenant: string,
  query: URLSearchParams,
): Promise<unknown> {
  const status = query.get('status');
  const includeArtifacts = flagIn(query, 'includeArtifacts');
  const response = await handler.listTasks(
    {
      ...{ tenant, contextId: query.get('contextId') ?? '', pageToken: query.get('pageToken') ?? '', includeArtifacts },
      status: status === null || status === '' ? TaskState.TASK_STATE_UNSPECIFIED : taskStateFromJSON(status),
      statusTimestampAfter: query.get('statusTimestampAfter') ?? undefined,
      pageSize: numberIn(query, 'pageSize'),
      ...lengthIn(query),
    },
    context,
  );
  const written = ListTasksResponse.toJSON(response) as Record<string, unknown>;
  return { tasks: [], nextPageToken: '', pageSize: response.pageSize, totalSize: 0, ...written };
}

async function pushConfigs(
  handler: A2ARequestHandler,
  { request, context }: Asked,
  taskId: string,
  id: string | undefined,
): Promise<Done | undefined> {
  const tenant = context.tenant ?? '';
  switch (`${request.method} ${id === undefined ? 'all' : 'one'}`) {
    case 'POST all': {
      const body = { ...(await bodyOf(request, TYPES)), taskId };
      checkSent('CreateTaskPushNotificationConfig', body, { legacy: false });
      const params = TaskPushNotificationConfig.fromJSON(body);
      return {
        body: TaskPushNotificationConfig.toJSON(await handler.createTaskPushNotificationConfig(params, context)),
        status: 201,
      };
    }
    case 'GET all': {
      const configs = await handler.listTaskPushNotificationConfigs({ tenant, taskId, pageSize: 0, pageToken: '' }, context);
      return { body: ListTaskPushNotificationConfigsResponse.toJSON(configs) };
    }
    case 'GET one': {
      const config = await handler.getTaskPushNotificationConfig({ tenant, taskId, id: id ?? '' }, context);
      return { body: TaskPushNotificationConfig.toJSON(config) };
    }
    case 'DELETE one':
      await handler.deleteTaskPushNotificationConfig({ tenant, taskId, id: id ?? '' }, context);
      return { body: undefined, status: 204 };
    default:
      return undefined;
  }
}

function lengthIn(query: URLSearchParams): { historyLength?: number } {
  return present({ historyLength: numberIn(query, 'historyLength') });
}

function numberIn(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null || text === '') return undefined;
  if (!/^-?\d{1,9}$/.test(text)) throw new RequestMalformedError(`${name} must be a whole number.`);
  return Number(text);
}
