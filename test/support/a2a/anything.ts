/** Requests of peers who mean harm, or have a bug: good ones with something in them replaced, left out or repeated, and bytes. */
import { A2AService } from '@a2a-js/sdk/server/grpc';
import fc from 'fast-check';
import type { Json, JsonObject } from '../../../src/base/json.ts';
import { request, said } from './peer.ts';

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom(
    '',
    '\u0000',
    '\ud800',
    '\u202e',
    '__proto__',
    'run_0',
    'ses_0',
    '-1',
    'null',
    '../..',
    '%00',
    'a'.repeat(5_000),
  ),
);
const leaf: fc.Arbitrary<Json> = fc.oneof(
  text,
  fc.integer(),
  fc.constantFrom(null, true, false, 0, -1, 1e308, 2 ** 53, 1.5, [], {}, [[]], [null], { $case: 'text' }),
);
const deep = (levels: number): Json => {
  let value: Json = 'x';
  for (let level = 0; level < levels; level += 1) value = level % 2 === 0 ? [value] : { a: value };
  return value;
};
const anyValue: fc.Arbitrary<Json> = fc.oneof(
  { weight: 8, arbitrary: leaf },
  { weight: 2, arbitrary: fc.array(leaf, { maxLength: 4 }) },
  { weight: 2, arbitrary: fc.dictionary(text, leaf, { maxKeys: 4 }) },
  { weight: 1, arbitrary: fc.constantFrom(100, 900).map(deep) },
);

const MESSAGE: JsonObject = {
  messageId: 'm-1',
  role: 'ROLE_USER',
  taskId: '',
  contextId: 'c-1',
  parts: [{ text: 'Do it.' }, { data: { a: [1] } }, { raw: 'YWJj', mediaType: 'text/plain' }, { url: 'https://x.example/' }],
  metadata: { agent: 'helper' },
  extensions: ['https://x.example/extension'],
  referenceTaskIds: ['run_1'],
};
const OLDER: JsonObject = {
  kind: 'message',
  messageId: 'm-1',
  role: 'user',
  parts: [
    { kind: 'text', text: 'Do it.' },
    { kind: 'data', data: { a: 1 } },
    { kind: 'file', file: { bytes: 'YWJj', mimeType: 'text/plain' } },
  ],
};
const PUSH: JsonObject = { url: 'https://hook.invalid/', token: 't', authentication: { scheme: 'Bearer', credentials: 'c' } };
const SEND: JsonObject = {
  message: MESSAGE,
  configuration: { returnImmediately: true, historyLength: 1, acceptedOutputModes: ['text/plain'] },
  metadata: {},
};

/** Operations of JSON-RPC with what a good peer would say. */
const CALLS: Readonly<Record<'1.0' | '0.3', readonly (readonly [method: string, params: JsonObject])[]>> = {
  '1.0': [
    ['SendMessage', SEND],
    ['SendMessage', { ...SEND, configuration: { taskPushNotificationConfig: PUSH } }],
    ['SendStreamingMessage', SEND],
    ['GetTask', { id: 'run_1', historyLength: 1 }],
    ['ListTasks', { pageSize: 10, pageToken: '', status: 'TASK_STATE_WORKING', statusTimestampAfter: '2026-01-01T00:00:00Z' }],
    ['CancelTask', { id: 'run_1', metadata: {} }],
    ['SubscribeToTask', { id: 'run_1' }],
    ['CreateTaskPushNotificationConfig', { taskId: 'run_1', ...PUSH }],
    ['GetTaskPushNotificationConfig', { taskId: 'run_1', id: 'x' }],
    ['ListTaskPushNotificationConfigs', { taskId: 'run_1', pageSize: 1 }],
    ['DeleteTaskPushNotificationConfig', { taskId: 'run_1', id: 'x' }],
    ['GetExtendedAgentCard', { tenant: '' }],
  ],
  '0.3': [
    ['message/send', { message: OLDER, configuration: { blocking: false, pushNotificationConfig: PUSH } }],
    ['message/stream', { message: OLDER }],
    ['tasks/get', { id: 'run_1', historyLength: 1 }],
    ['tasks/cancel', { id: 'run_1' }],
    ['tasks/resubscribe', { id: 'run_1' }],
    ['tasks/pushNotificationConfig/set', { taskId: 'run_1', pushNotificationConfig: PUSH }],
    ['tasks/pushNotificationConfig/get', { id: 'run_1', pushNotificationConfigId: 'x' }],
    ['tasks/pushNotificationConfig/list', { id: 'run_1' }],
    ['tasks/pushNotificationConfig/delete', { id: 'run_1', pushNotificationConfigId: 'x' }],
    ['agent/getAuthenticatedExtendedCard', {}],
  ],
};

type Change = readonly [place: number, how: 'replace' | 'remove' | 'repeat', value: Json];
const change: fc.Arbitrary<Change> = fc.tuple(fc.nat(), fc.constantFrom('replace', 'replace', 'remove', 'repeat'), anyValue);

/** One place of it, counted through all that it holds, is another. */
function changed(value: Json, [place, how, by]: Change): Json {
  let left = place % countOf(value);
  const walk = (one: Json | undefined): Json | undefined => {
    left -= 1;
    if (left === -1) return how === 'remove' ? undefined : how === 'repeat' ? [one ?? null, one ?? null] : by;
    if (Array.isArray(one)) return one.map((item: Json) => walk(item) ?? null);
    if (one === null || typeof one !== 'object') return one;
    return Object.fromEntries(Object.entries(one).map(([key, item]) => [key, walk(item)]));
  };
  return walk(value) ?? null;
}

const countOf = (value: Json | undefined): number =>
  1 +
  (typeof value === 'object' && value !== null ? Object.values(value).reduce((sum: number, one) => sum + countOf(one), 0) : 0);

const spoiled = (good: Json): fc.Arbitrary<Json> => fc.array(change, { maxLength: 3 }).map((all) => all.reduce(changed, good));

export interface AnyRpc {
  readonly version: '1.0' | '0.3';
  readonly body: Json;
}

let count = 0;
/** A message that is taken counts for its id: each has its own, unless that is what was spoiled. */
const withOwnId = (params: JsonObject): JsonObject => {
  count += 1;
  const { message } = params;
  return typeof message === 'object' && message !== null && !Array.isArray(message)
    ? { ...params, message: { ...message, messageId: `m-${count}` } }
    : params;
};

export const anyRpc: fc.Arbitrary<AnyRpc> = fc.constantFrom<('1.0' | '0.3')[]>('1.0', '0.3').chain((version) =>
  fc
    .constantFrom(...CALLS[version])
    .chain(([method, params]) => spoiled({ jsonrpc: '2.0', id: 7, method, params: withOwnId(params) }))
    .map((body) => ({ version, body })),
);

export interface AnyRest {
  readonly method: string;
  readonly path: string;
  readonly body: Json | undefined;
}

const step = fc.oneof(
  fc.constantFrom('tasks', 'message:send', 'message:stream', 'extendedAgentCard', 'run_1', 'run_1:cancel', 'run_1:subscribe'),
  fc.constantFrom('pushNotificationConfigs', 'x', '%', '%00', '%2F', '..', ':', 'run_1:', 'blue', '%ff', '\u00e4'),
);
const query = fc.dictionary(
  fc.constantFrom('pageSize', 'historyLength', 'status', 'pageToken', 'statusTimestampAfter', 'contextId', 'includeArtifacts'),
  fc.oneof(text, fc.constantFrom('1', '0', '-1', '1e9', 'NaN', 'TASK_STATE_WORKING', 'W10', 'WzEsImEiXQ')),
  { maxKeys: 3 },
);
const encoded = (words: Readonly<Record<string, string>>): string =>
  Object.entries(words)
    .map(([name, word]) => `${name}=${encodeURIComponent(word.toWellFormed())}`)
    .join('&');

export const anyRest: fc.Arbitrary<AnyRest> = fc
  .tuple(
    fc.constantFrom('GET', 'POST', 'DELETE', 'PUT'),
    fc.array(step, { minLength: 1, maxLength: 4 }),
    query,
    fc.option(fc.oneof(spoiled(SEND), spoiled(PUSH), anyValue), { nil: undefined }),
    fc.constantFrom('', 'send', 'stream', 'push'),
  )
  .map(([method, steps, words, body, plain]) => {
    if (plain === 'push') return { method: 'POST', path: '/tasks/run_1/pushNotificationConfigs', body };
    if (plain !== '') return { method: 'POST', path: `/message:${plain}`, body };
    return { method, path: `/${steps.join('/')}?${encoded(words)}`, body: method === 'GET' ? undefined : body };
  });

export interface AnyGrpc {
  readonly path: string;
  readonly isStream: boolean;
  readonly bytes: Buffer;
}

const typed: Readonly<Record<string, unknown>> = {
  sendMessage: request(said('Do it.'), { returnImmediately: true }),
  sendStreamingMessage: request(said('Do it.')),
  getTask: { tenant: '', id: 'run_1', historyLength: 1 },
  listTasks: { tenant: '', contextId: 'c', status: 2, pageSize: 1, pageToken: 'W10', historyLength: 1, includeArtifacts: true },
  cancelTask: { tenant: '', id: 'run_1', metadata: { a: 1 } },
  subscribeToTask: { tenant: '', id: 'run_1' },
  getExtendedAgentCard: { tenant: 'x' },
};

/** Bytes taken out, put in, turned or repeated. */
const bent = (good: Uint8Array): fc.Arbitrary<Buffer> =>
  fc
    .array(fc.tuple(fc.nat(), fc.constantFrom('flip', 'cut', 'insert', 'double'), fc.uint8Array({ maxLength: 8 })), {
      maxLength: 4,
    })
    .map((changes) => {
      let bytes = Buffer.from(good);
      for (const [place, how, more] of changes) {
        const at = place % (bytes.length + 1);
        if (how === 'flip' && at < bytes.length) bytes[at] = (bytes[at] ?? 0) ^ (more[0] ?? 255);
        else if (how === 'cut') bytes = bytes.subarray(0, at);
        else if (how === 'insert') bytes = Buffer.concat([bytes.subarray(0, at), more, bytes.subarray(at)]);
        else if (how === 'double') bytes = Buffer.concat([bytes, bytes.subarray(at)]);
      }
      return bytes;
    });

export const anyGrpc: fc.Arbitrary<AnyGrpc> = fc.constantFrom(...Object.entries(A2AService)).chain(([name, method]) => {
  const serialize: (value: never) => Buffer = method.requestSerialize;
  const good = Object.hasOwn(typed, name) ? serialize(typed[name] as never) : Buffer.from([10, 1, 120]);
  // The older service has the same names for most, and reads the same bytes as something else.
  return fc.tuple(bent(good), fc.boolean()).map(([bytes, older]) => ({
    path: older ? method.path.replace('/lf.', '/') : method.path,
    isStream: method.responseStream,
    bytes,
  }));
});
