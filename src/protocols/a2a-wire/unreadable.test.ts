/** What cannot be read as it was sent is refused before anything is begun, on every binding: nothing is altered in silence. */
import { TaskState } from '@a2a-js/sdk';
import { A2AService } from '@a2a-js/sdk/server/grpc';
import { Client, credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { request, said } from '../../../test/support/a2a/peer.ts';
import { ALICE, type Served, served } from '../../../test/support/a2a/served.ts';
import { limits } from '../../base/limits.ts';

let server: Served;
let grpc: Client;
beforeAll(async () => {
  server = await served();
  const card = await (await server.fetch('/.well-known/agent-card.json', { headers: { 'a2a-version': '1.0' } })).text();
  grpc = new Client(/"url":"([^"]+)","protocolBinding":"GRPC"/.exec(card)?.[1] ?? '', credentials.createInsecure());
});
afterAll(async () => {
  grpc.close();
  await server[Symbol.asyncDispose]();
});

let sent = 0;
const nextId = (): string => {
  sent += 1;
  return `m-${sent}`;
};

interface Refused {
  readonly code: unknown;
  readonly reason?: unknown;
}

async function post(
  path: string,
  body: string | Uint8Array<ArrayBuffer>,
  version: string,
): Promise<{ status: number; value: unknown }> {
  const headers = { 'content-type': 'application/json', 'a2a-version': version };
  const answer = await server.fetch(path, { method: 'POST', headers, body });
  return { status: answer.status, value: await answer.json() };
}

type Rpc = { readonly error?: { readonly code: number }; readonly result?: unknown };

const overRpc = async (version: string, method: string, params: object): Promise<Refused> => {
  const { value } = await post('/a2a', JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }), version);
  return { code: (value as Rpc).error?.code ?? 'taken' };
};
const overRest = async (path: string, body: object, version: string): Promise<Refused> => {
  const { status: code } = await post(`/a2a/rest${path}`, JSON.stringify(body), version);
  return { code: code === 200 ? 'taken' : code };
};

const begun = async (): Promise<number> => (await server.project.ledger.runs({ roots: true })).length;

const now = (parts: unknown, more: object = {}) => ({ message: { messageId: nextId(), role: 'ROLE_USER', parts }, ...more });
const text = [{ text: 'Do it.' }];

/** Of version 1.0, as JSON. */
const NOW: Readonly<Record<string, () => object>> = {
  'bytes that are no base64': () => now([{ text: 'See.' }, { raw: '***', filename: 'a.txt' }]),
  'bytes with a bad character among them': () => now([{ raw: 'aGVs*bG8=' }]),
  'two texts of base64 in one': () => now([{ raw: 'aGVsbG8gd29ybGQ=aGVsbG8=' }]),
  'bytes that were cut': () => now([{ raw: 'aGVsb' }]),
  'a text that is none': () => now([{ text: { a: 1 } }]),
  'a text that is a number': () => now([{ text: 5 }]),
  'an address that is none': () => now([{ url: 5 }]),
  'text and data in one part': () => now([{ text: 'a', data: { x: 1 } }]),
  'a part of nothing': () => now([{}]),
  'a part that is a text': () => now(['Do it.']),
  'parts that are no list': () => now({ text: 'Do it.' }),
  'a file name that is none': () => now([{ raw: 'aGVsbG8=', filename: { a: 1 } }]),
  'a messageId that is none': () => ({ message: { messageId: 5, role: 'ROLE_USER', parts: text } }),
  'extensions that are no list': () => ({ message: { ...now(text).message, extensions: 'x' } }),
  'a text in the place of settings': () => now(text, { configuration: 'x' }),
  'a text in the place of metadata': () => now(text, { metadata: 'x' }),
  'a list in the place of metadata': () => ({ message: { ...now(text).message, metadata: [] } }),
  'a word where it is yes or no': () => now(text, { configuration: { returnImmediately: 'false' } }),
  'the same in the other spelling': () => now(text, { configuration: { return_immediately: 'yes' } }),
  'modes that are no list': () => now(text, { configuration: { acceptedOutputModes: 'text/plain' } }),
  'half a message of a history': () => now(text, { configuration: { historyLength: 1.5 } }),
  'a push address that is none': () => now(text, { configuration: { taskPushNotificationConfig: { url: 5 } } }),
};

describe('of version 1.0', () => {
  it.each(Object.entries(NOW))('%s', async (_name, make) => {
    const before = await begun();
    expect(await overRpc('1.0', 'SendMessage', make())).toEqual({ code: -32_602 });
    expect(await overRpc('1.0', 'SendStreamingMessage', make())).toEqual({ code: -32_602 });
    expect(await overRest('/message:send', make(), '1.0')).toEqual({ code: 400 });
    expect(await overRest('/message:stream', make(), '1.0')).toEqual({ code: 400 });
    expect(await begun()).toBe(before);
  });

  it.each([
    ['base64 of either alphabet, with padding or without', [{ raw: 'YT8_Pz4' }, { raw: 'YT8/Pz4=' }, { raw: '' }]],
    ['what is left out, said to be nothing', [{ text: 'a', data: null, filename: null }]],
    ['either spelling of a name', [{ raw: 'aGVsbG8=', media_type: 'text/plain' }]],
  ])('%s is taken', async (_name, parts) => {
    expect(await overRpc('1.0', 'SendMessage', now(parts, { configuration: null, metadata: null }))).toEqual({ code: 'taken' });
    expect(await overRest('/message:send', now(parts, { configuration: { history_length: '2' } }), '1.0')).toEqual({
      code: 'taken',
    });
  });

  it.each([
    ['GetTask', { id: 5 }],
    ['GetTask', { id: 'x', historyLength: 'many' }],
    ['ListTasks', { includeArtifacts: 'no' }],
    ['ListTasks', { contextId: {} }],
    ['CancelTask', { id: ['x'] }],
    ['SubscribeToTask', { id: {} }],
    ['CreateTaskPushNotificationConfig', { taskId: 'x', url: { a: 1 } }],
  ])('what %s is asked with: %j', async (method, params) => {
    expect(await overRpc('1.0', method, params)).toEqual({ code: -32_602 });
  });

  it('yes and no in an address are true and false', async () => {
    const listed = async (word: string) =>
      (await server.fetch(`/a2a/rest/tasks?includeArtifacts=${word}`, { headers: { 'a2a-version': '1.0' } })).status;
    expect([await listed('maybe'), await listed('true'), await listed('false'), await listed('')]).toEqual([400, 200, 200, 200]);
  });
});

const legacy = (parts: unknown, more: object = {}) => ({
  message: { kind: 'message', messageId: nextId(), role: 'user', parts },
  ...more,
});
const legacyText = [{ kind: 'text', text: 'Do it.' }];
const file = (given: object) => [{ kind: 'file', file: { name: 'a.txt', mimeType: 'text/plain', ...given } }];

describe('of version 0.3', () => {
  it.each<[string, () => object]>([
    ['bytes that are no base64', () => legacy(file({ bytes: '***' }))],
    ['bytes that were cut', () => legacy(file({ bytes: 'aGVsb' }))],
    ['bytes and an address', () => legacy(file({ bytes: 'aGVsbG8=', uri: 'https://example.org/' }))],
    ['a file of nothing', () => legacy(file({}))],
    ['a text that is none', () => legacy([{ kind: 'text', text: { a: 1 } }])],
    ['text and data in one part', () => legacy([{ kind: 'text', text: 'a', data: { x: 1 } }])],
    ['a part that is not what it says', () => legacy([{ kind: 'data', text: 'a' }])],
    ['a text in the place of settings', () => legacy(legacyText, { configuration: 'x' })],
    ['a text in the place of metadata', () => legacy(legacyText, { metadata: 'x' })],
    ['a word where it is yes or no', () => legacy(legacyText, { configuration: { blocking: 'false' } })],
  ])('over JSON-RPC: %s', async (_name, make) => {
    const before = await begun();
    expect(await overRpc('0.3', 'message/send', make())).toEqual({ code: -32_602 });
    expect(await begun()).toBe(before);
  });

  const rest = (content: unknown, more: object = {}) => ({
    message: { messageId: nextId(), role: 'ROLE_USER', content },
    ...more,
  });
  it.each<[string, () => object]>([
    ['bytes that are no base64', () => rest([{ file: { fileWithBytes: '***', mimeType: 'text/plain' } }])],
    ['bytes and an address', () => rest([{ file: { fileWithBytes: 'aGVsbG8=', fileWithUri: 'https://example.org/' } }])],
    ['a file of nothing', () => rest([{ file: { name: 'a.txt' } }])],
    ['data that is not where it belongs', () => rest([{ data: { x: 1 } }])],
    ['a text that is none', () => rest([{ text: { a: 1 } }])],
    ['text and data in one part', () => rest([{ text: 'a', data: { data: { x: 1 } } }])],
    ['a role that is none', () => ({ message: { ...rest([{ text: 'a' }]).message, role: 'ROLE_KING' } })],
    ['a text in the place of settings', () => rest([{ text: 'a' }], { configuration: 'x' })],
    ['a word where it is yes or no', () => rest([{ text: 'a' }], { configuration: { blocking: 'false' } })],
    ['modes that are no list', () => rest([{ text: 'a' }], { configuration: { acceptedOutputModes: 'text/plain' } })],
    ['extensions that are no list', () => ({ message: { ...rest([{ text: 'a' }]).message, extensions: 'x' } })],
  ])('over HTTP+JSON: %s', async (_name, make) => {
    const before = await begun();
    expect(await overRest('/v1/message:send', make(), '0.3')).toEqual({ code: 400 });
    expect(await begun()).toBe(before);
  });

  it('what is as it should be is taken', async () => {
    expect(await overRpc('0.3', 'message/send', legacy(file({ bytes: 'aGVsbG8=' })))).toEqual({ code: 'taken' });
    const whole = [{ text: 'a' }, { data: { data: { x: 1 } } }, { file: { fileWithBytes: '', mimeType: 'text/plain' } }];
    expect(await overRest('/v1/message:send', rest(whole), '0.3')).toEqual({ code: 'taken' });
  });
});

it('a body that is no text is no JSON', async () => {
  const body = (json: string) => Uint8Array.from(Buffer.from(json.replace('X', '\u00ff'), 'latin1'));
  const before = await begun();
  const { value } = await post(
    '/a2a',
    body(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: now([{ text: 'X' }]) })),
    '1.0',
  );
  expect(value).toMatchObject({ error: { code: -32_700 } });
  expect(await post('/a2a/rest/message:send', body(JSON.stringify(now([{ text: 'X' }]))), '1.0')).toMatchObject({ status: 400 });
  expect(await begun()).toBe(before);
});

async function overGrpc(path: string, bytes: Buffer): Promise<{ name: string | undefined; info: string; details: string }> {
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${ALICE}`);
  metadata.set('a2a-version', '1.0');
  const asIs = (value: Buffer): Buffer => value;
  const { promise, resolve } = Promise.withResolvers<ServiceError | null>();
  grpc.makeUnaryRequest(path, asIs, asIs, bytes, metadata, (error) => resolve(error));
  const error = await promise;
  if (error === null) return { name: 'OK', info: '', details: '' };
  const info = Buffer.from(error.metadata.get('grpc-status-details-bin')[0] ?? '').toString('latin1');
  return { name: status[error.code], info, details: error.details };
}

describe('over gRPC', () => {
  const { sendMessage, listTasks } = A2AService;
  const message = (words: string) => sendMessage.requestSerialize(request(said(words)));

  it('a text that is none begins nothing; the sign for what cannot be read is one like any other', async () => {
    const before = await begun();
    const broken = Buffer.from(message('Do XX.').toString('latin1').replace('XX', 'X\u00ff'), 'latin1');
    expect(await overGrpc(sendMessage.path, broken)).toMatchObject({
      name: 'INVALID_ARGUMENT',
      info: expect.stringContaining('INVALID_PARAMS'),
    });
    expect(await begun()).toBe(before);
    expect(await overGrpc(sendMessage.path, message('What is \uFFFD?'))).toMatchObject({ name: 'OK' });
  });

  it('a message that is too large is refused as on the other bindings, with the name of the limit', async () => {
    const before = await begun();
    const large = await overGrpc(sendMessage.path, message('x'.repeat(limits.httpBodyBytes)));
    expect(large).toMatchObject({ name: 'INVALID_ARGUMENT', details: expect.stringContaining('(httpBodyBytes)') });
    expect(large.info).toMatch(/INVALID_PARAMS[\s\S]*limit[\s\S]*httpBodyBytes/);
    expect(await begun()).toBe(before);
  });

  it('a list of a status that there is not', async () => {
    const query = { tenant: '', contextId: '', pageToken: '', statusTimestampAfter: undefined };
    const listed = (given: number) =>
      overGrpc(listTasks.path, listTasks.requestSerialize({ ...query, status: given as TaskState, pageSize: 10 }));
    expect(await listed(99)).toMatchObject({ name: 'INVALID_ARGUMENT', details: 'There is no such status.' });
    expect(await listed(TaskState.TASK_STATE_REJECTED)).toMatchObject({ name: 'OK' });
  });
});
