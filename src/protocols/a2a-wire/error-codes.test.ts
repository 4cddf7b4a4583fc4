/** Every error of the protocol, in the words of each binding and version: the codes stand here as the specification has them. */
import { LegacyA2AService } from '@a2a-js/sdk/compat/v0_3/server/grpc';
import {
  type A2AError,
  ContentTypeNotSupportedError,
  ExtendedAgentCardNotConfiguredError,
  ExtensionSupportRequiredError,
  InvalidAgentResponseError,
  PushNotificationNotSupportedError,
  RequestMalformedError,
  TaskNotCancelableError,
  TaskNotFoundError,
  UnsupportedOperationError,
  VersionNotSupportedError,
} from '@a2a-js/sdk/errors';
import type { A2ARequestHandler } from '@a2a-js/sdk/server';
import { A2AService } from '@a2a-js/sdk/server/grpc';
import { Client, credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ALICE, type Served, served } from '../../../test/support/a2a/served.ts';
import { hidden } from '../a2a/errors.ts';

interface Words {
  readonly error: () => A2AError;
  readonly rpc: number;
  readonly http: number;
  readonly grpc: keyof typeof status;
  readonly reason: string | undefined;
}

const NAMED = { grpc: 'FAILED_PRECONDITION', http: 400 } as const;
const secret = 'the password is 1234';

const KINDS: Readonly<Record<string, Words>> = {
  notFound: { error: () => new TaskNotFoundError(), rpc: -32_001, http: 404, grpc: 'NOT_FOUND', reason: 'TASK_NOT_FOUND' },
  notCancelable: { ...NAMED, error: () => new TaskNotCancelableError(), rpc: -32_002, reason: 'TASK_NOT_CANCELABLE' },
  noPush: {
    ...NAMED,
    ...{ error: () => new PushNotificationNotSupportedError(), rpc: -32_003, reason: 'PUSH_NOTIFICATION_NOT_SUPPORTED' },
  },
  unsupported: { ...NAMED, error: () => new UnsupportedOperationError(), rpc: -32_004, reason: 'UNSUPPORTED_OPERATION' },
  contentType: {
    ...{ error: () => new ContentTypeNotSupportedError(), rpc: -32_005, http: 400, grpc: 'INVALID_ARGUMENT' },
    reason: 'CONTENT_TYPE_NOT_SUPPORTED',
  },
  badResponse: {
    ...{ error: () => new InvalidAgentResponseError(), rpc: -32_006, http: 500, grpc: 'INTERNAL' },
    reason: 'INVALID_AGENT_RESPONSE',
  },
  noExtendedCard: {
    ...NAMED,
    ...{ error: () => new ExtendedAgentCardNotConfiguredError(), rpc: -32_007, reason: 'EXTENDED_AGENT_CARD_NOT_CONFIGURED' },
  },
  extension: { ...NAMED, error: () => new ExtensionSupportRequiredError(), rpc: -32_008, reason: 'EXTENSION_SUPPORT_REQUIRED' },
  version: { ...NAMED, error: () => new VersionNotSupportedError(), rpc: -32_009, reason: 'VERSION_NOT_SUPPORTED' },
  malformed: {
    ...{ error: () => new RequestMalformedError(), rpc: -32_602, http: 400, grpc: 'INVALID_ARGUMENT' },
    reason: 'INVALID_PARAMS',
  },
  // Nothing of what went wrong inside is told.
  inside: {
    ...{ error: () => hidden(new Error(secret), () => undefined), rpc: -32_603, http: 500, grpc: 'INTERNAL' },
    reason: undefined,
  },
};

/** Asked for the task `kind`, the server meets that error, as far in as an operation gets. */
function failing(handler: A2ARequestHandler): A2ARequestHandler {
  const meet = (id: string): void => {
    const words = KINDS[id];
    if (words !== undefined) throw words.error();
  };
  return {
    ...handler,
    async getTask(params, context) {
      await handler.getTask(params, context).catch(() => undefined);
      meet(params.id);
      return await handler.getTask(params, context);
    },
    async *resubscribe(params, context) {
      await handler.getTask(params, context).catch(() => undefined);
      meet(params.id);
      yield* handler.resubscribe(params, context);
    },
  };
}

interface Heard {
  readonly code: number;
  readonly name?: string | undefined;
  readonly reason?: string | undefined;
  readonly text: string;
}

type Ask = (kind: string, isStream: boolean) => Promise<Heard>;

let server: Served;
let grpc: Client;
beforeAll(async () => {
  server = await served({ around: failing });
  const card = await (await server.fetch('/.well-known/agent-card.json', { headers: { 'a2a-version': '1.0' } })).text();
  grpc = new Client(/"url":"([^"]+)","protocolBinding":"GRPC"/.exec(card)?.[1] ?? '', credentials.createInsecure());
});
afterAll(async () => {
  grpc.close();
  await server[Symbol.asyncDispose]();
});

const json = { 'content-type': 'application/json' };

async function overRpc(version: string, method: string, id: string): Promise<Heard> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 7, method, params: { id } });
  const answer = await server.fetch('/a2a', { method: 'POST', headers: { ...json, 'a2a-version': version }, body });
  expect(answer.status).toBe(200);
  const text = await answer.text();
  // In a stream of 0.3 an error is an event like any other.
  const { id: of, error } = JSON.parse(text.replace(/^event: error\ndata: /, '')) as {
    id: number;
    error: { code: number; data?: readonly { reason: string }[] };
  };
  expect(of).toBe(7);
  return { code: error.code, reason: error.data?.[0]?.reason, text };
}

async function overRest(path: string, version: string) {
  const answer = await server.fetch(path, { headers: { 'a2a-version': version } });
  return { status: answer.status, text: await answer.text() };
}

async function overGrpc(path: string, bytes: Buffer, version: string): Promise<Heard> {
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${ALICE}`);
  metadata.set('a2a-version', version);
  const asIs = (value: Buffer): Buffer => value;
  const { promise, resolve } = Promise.withResolvers<ServiceError>();
  grpc
    .makeServerStreamRequest(path, asIs, asIs, bytes, metadata)
    .on('data', () => undefined)
    .on('error', (error) => resolve(error as ServiceError));
  const { code, details, metadata: trailer } = await promise;
  const info = trailer.get('grpc-status-details-bin').join(' ');
  return { code, name: status[code], reason: /[A-Z_]{12,}/.exec(info)?.[0], text: `${details} ${info}` };
}

const bindings: Readonly<Record<string, { readonly ask: Ask; readonly expected: (words: Words) => Partial<Heard> }>> = {
  'JSON-RPC 1.0': {
    ask: (kind, isStream) => overRpc('1.0', isStream ? 'SubscribeToTask' : 'GetTask', kind),
    expected: ({ rpc: code, reason = 'INTERNAL_ERROR' }) => ({ code, reason }),
  },
  'JSON-RPC 0.3': {
    ask: (kind, isStream) => overRpc('0.3', isStream ? 'tasks/resubscribe' : 'tasks/get', kind),
    expected: ({ rpc: code }) => ({ code }),
  },
  'HTTP+JSON 1.0': {
    async ask(kind, isStream) {
      const { status: code, text } = await overRest(`/a2a/rest/tasks/${kind}${isStream ? ':subscribe' : ''}`, '1.0');
      const { error } = JSON.parse(text) as { error: { code: number; status: string; details: readonly { reason: string }[] } };
      expect(error.code).toBe(code);
      return { code, name: error.status, reason: error.details[0]?.reason, text };
    },
    expected: ({ http: code, grpc: name, reason }) => ({ code, name, reason }),
  },
  'HTTP+JSON 0.3': {
    async ask(kind, isStream) {
      const path = `/a2a/rest/v1/tasks/${kind}${isStream ? ':subscribe' : ''}`;
      const { status: code, text } = await overRest(path, '0.3');
      return { code, name: String((JSON.parse(text) as { code: number }).code), text };
    },
    expected: ({ http: code, rpc }) => ({ code, name: String(rpc) }),
  },
  'gRPC 1.0': {
    ask: (id, isStream) =>
      isStream
        ? overGrpc(A2AService.subscribeToTask.path, A2AService.subscribeToTask.requestSerialize({ tenant: '', id }), '1.0')
        : overGrpc(A2AService.getTask.path, A2AService.getTask.requestSerialize({ tenant: '', id }), '1.0'),
    expected: ({ grpc: name, reason }) => ({ name, reason }),
  },
  'gRPC 0.3': {
    ask(kind, isStream) {
      const name = `tasks/${kind}`;
      const { getTask, taskSubscription } = LegacyA2AService;
      return isStream
        ? overGrpc(taskSubscription.path, taskSubscription.requestSerialize({ name }), '0.3')
        : overGrpc(getTask.path, getTask.requestSerialize({ name, historyLength: 0 }), '0.3');
    },
    expected: ({ grpc: name }) => ({ name }),
  },
};

describe.each(Object.keys(bindings))('over %s', (binding) => {
  it.each(['asked', 'streamed'])('every error has its own code, %s', async (how) => {
    const { ask, expected } = bindings[binding] ?? expect.fail();
    for (const [kind, words] of Object.entries(KINDS)) {
      const heard = await ask(kind, how === 'streamed');
      expect({ kind, ...heard }).toMatchObject({ kind, ...expected(words) });
      expect(heard.text).not.toContain(secret);
    }
  });
});
