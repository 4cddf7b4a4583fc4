/**
 * HTTP+JSON of version 0.3 has the words of its protocol buffers where JSON-RPC has others: `content` for the parts of a message,
 * roles and states in capitals, files and data one level deeper. The SDK knows what they mean and has these words only inside of
 * its server for Express, so that they are put into each other here.
 */
import { RequestMalformedError } from '@a2a-js/sdk/errors';
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import { present } from '../../base/present.ts';

/** Names in either spelling: peers write both. */
function field(object: JsonObject, name: string): Json | undefined {
  return object[name] ?? object[name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)] ?? undefined;
}

function objectAt(object: JsonObject, name: string): JsonObject | undefined {
  const value = field(object, name);
  if (value === undefined || isJsonObject(value)) return value;
  throw new RequestMalformedError(`${name} must be an object.`);
}

function textAt(object: JsonObject, name: string): string | undefined {
  const value = field(object, name);
  if (value === undefined || value === '') return undefined;
  if (typeof value === 'string') return value;
  throw new RequestMalformedError(`${name} must be a text.`);
}

/** What `message:send` and `message:stream` are given. */
export function sendParamsIn(body: JsonObject): JsonObject {
  const message = objectAt(body, 'message') ?? objectAt(body, 'request');
  if (message === undefined) throw new RequestMalformedError('The request has no message.');
  const configuration = objectAt(body, 'configuration');
  return {
    message: messageIn(message),
    ...present({ configuration: configuration && configurationIn(configuration), metadata: objectAt(body, 'metadata') }),
  };
}

function messageIn(message: JsonObject): JsonObject {
  const content = field(message, 'content') ?? [];
  if (!Array.isArray(content)) throw new RequestMalformedError('content must be a list of parts.');
  const extensions = field(message, 'extensions');
  return {
    kind: 'message',
    messageId: textAt(message, 'messageId') ?? '',
    role: roleIn(field(message, 'role') ?? 'ROLE_USER'),
    parts: content.map(partIn),
    ...present({ contextId: textAt(message, 'contextId'), taskId: textAt(message, 'taskId') }),
    ...present({ metadata: objectAt(message, 'metadata'), extensions }),
  };
}

/** Whoever says none is the user. */
function roleIn(said: Json): string {
  if (said === 'ROLE_AGENT') return 'agent';
  if (said === 'ROLE_USER') return 'user';
  throw new RequestMalformedError('role must be ROLE_USER or ROLE_AGENT.');
}

function partIn(part: Json): JsonObject {
  if (!isJsonObject(part)) throw new RequestMalformedError('A part must be an object.');
  const metadata = objectAt(part, 'metadata');
  const { text = null } = part;
  const data = objectAt(part, 'data');
  const file = objectAt(part, 'file');
  if ([text ?? undefined, data, file].filter((one) => one !== undefined).length > 1)
    throw new RequestMalformedError('A part is text, data or a file, and one of them only.');
  if (text !== null) return { kind: 'text', text, ...present({ metadata }) };
  if (data !== undefined) return { kind: 'data', data: dataIn(data), ...present({ metadata }) };
  if (file === undefined) throw new RequestMalformedError('A part has neither text, data nor a file.');
  const about = present({ mimeType: textAt(file, 'mimeType'), name: textAt(file, 'name') });
  const uri = textAt(file, 'fileWithUri');
  // A file may be empty; one that is not there is none.
  const bytes = field(file, 'fileWithBytes') === '' && uri === undefined ? '' : textAt(file, 'fileWithBytes');
  const where = present({ uri, bytes });
  return { kind: 'file', file: { ...where, ...about }, ...present({ metadata }) };
}

function dataIn(part: JsonObject): JsonObject {
  const data = objectAt(part, 'data');
  if (data === undefined && Object.keys(part).length > 0) throw new RequestMalformedError('A data part has no data.');
  return data ?? {};
}

function configurationIn(configuration: JsonObject): JsonObject {
  const modes = field(configuration, 'acceptedOutputModes');
  const historyLength = field(configuration, 'historyLength');
  const push = objectAt(configuration, 'pushNotification');
  return {
    // What is false is not written in these words.
    blocking: field(configuration, 'blocking') ?? false,
    ...present({ acceptedOutputModes: modes, historyLength }),
    ...present({ pushNotificationConfig: push && pushIn(push) }),
  };
}

/** Of a task, as `pushNotificationConfigs` is given it. */
export function pushConfigIn(taskId: string, body: JsonObject): JsonObject {
  const config = objectAt(body, 'pushNotificationConfig') ?? objectAt(objectAt(body, 'config') ?? {}, 'pushNotificationConfig');
  if (config === undefined) throw new RequestMalformedError('The request has no pushNotificationConfig.');
  return { taskId, pushNotificationConfig: pushIn(config) };
}

function pushIn(config: JsonObject): JsonObject {
  const authentication = objectAt(config, 'authentication');
  const schemes = authentication === undefined ? undefined : field(authentication, 'schemes');
  return {
    url: textAt(config, 'url') ?? '',
    ...present({ id: textAt(config, 'id'), token: textAt(config, 'token') }),
    ...present({
      authentication: authentication && {
        schemes: schemes ?? [],
        ...present({ credentials: textAt(authentication, 'credentials') }),
      },
    }),
  };
}

/** A task, a message or an event, under the name that says what it is. */
export function resultOut(result: JsonObject): JsonObject {
  switch (result['kind']) {
    case 'message':
      return { message: messageOut(result) };
    case 'status-update': {
      const { kind: _kind, status, ...event } = result;
      return { statusUpdate: { ...event, status: statusOut(status) } };
    }
    case 'artifact-update': {
      const { kind: _kind, artifact, ...event } = result;
      return { artifactUpdate: { ...event, artifact: artifactOut(artifact) } };
    }
    default:
      return { task: legacyTaskOut(result) };
  }
}

export function legacyTaskOut({ kind: _kind, ...task }: JsonObject): JsonObject {
  return {
    ...task,
    status: statusOut(task['status']),
    ...present({ history: listOut(task['history'], messageOut), artifacts: listOut(task['artifacts'], artifactOut) }),
  };
}

const listOut = (list: unknown, write: (item: unknown) => JsonObject): JsonObject[] | undefined =>
  Array.isArray(list) ? list.map(write) : undefined;

function statusOut(status: unknown): JsonObject {
  const { state, message, timestamp } = isJsonObject(status) ? status : {};
  return { state: stateOut(state), ...present({ message: message === undefined ? undefined : messageOut(message), timestamp }) };
}

function stateOut(state: unknown): string {
  if (state === 'canceled') return 'TASK_STATE_CANCELLED';
  return state === 'unknown' ? 'TASK_STATE_UNSPECIFIED' : `TASK_STATE_${String(state).toUpperCase().replace('-', '_')}`;
}

function messageOut(message: unknown): JsonObject {
  const { kind: _kind, parts, role, ...rest } = isJsonObject(message) ? message : {};
  return { ...rest, role: role === 'agent' ? 'ROLE_AGENT' : 'ROLE_USER', content: listOut(parts, partOut) ?? [] };
}

function artifactOut(artifact: unknown): JsonObject {
  const written = isJsonObject(artifact) ? artifact : {};
  return { ...written, parts: listOut(written['parts'], partOut) ?? [] };
}

function partOut(part: unknown): JsonObject {
  const { kind, text, data, file, metadata } = isJsonObject(part) ? part : {};
  const about = present({ metadata });
  if (kind === 'text') return { text, ...about };
  if (kind === 'data') return { data: { data }, ...about };
  const { uri, bytes, mimeType, name } = isJsonObject(file) ? file : {};
  return { file: present({ fileWithUri: uri, fileWithBytes: bytes, mimeType, name }), ...about };
}

export function pushConfigOut({ taskId, pushNotificationConfig: config }: JsonObject): JsonObject {
  const id = isJsonObject(config) ? config['id'] : undefined;
  return { name: `tasks/${String(taskId)}/pushNotificationConfigs/${String(id ?? '')}`, pushNotificationConfig: config };
}

/** Of our own cards: their one scheme is a token in a header. */
export function cardOut({ securitySchemes, security, ...card }: JsonObject): JsonObject {
  const schemes = isJsonObject(securitySchemes) ? Object.entries(securitySchemes) : [];
  const wrapped = schemes.map(([name, scheme]) => {
    const { type: _type, ...http } = isJsonObject(scheme) ? scheme : {};
    return [name, { httpAuthSecurityScheme: http }] as const;
  });
  const demands = Array.isArray(security) ? security : [];
  return {
    ...card,
    securitySchemes: Object.fromEntries(wrapped),
    security: demands.map((demand) => ({
      schemes: Object.fromEntries(Object.keys(isJsonObject(demand) ? demand : {}).map((name) => [name, { list: [] }])),
    })),
  };
}
