/** Which version a request is read in: by its header, by its address where no header can be set, and by no patch of it. */
import { ClientFactory, ClientFactoryOptions } from '@a2a-js/sdk/client';
import { GrpcTransportFactory } from '@a2a-js/sdk/client/grpc';
import { InterceptingCall, type Interceptor } from '@grpc/grpc-js';
import { expect, it } from 'vitest';
import { ALICE, type Served, served } from '../../../test/support/a2a/served.ts';
import { present } from '../../base/present.ts';

const ask = async (server: Served, path: string, version?: string, method = 'GetTask'): Promise<unknown> => {
  const isRest = path.includes('/rest');
  const headers = { 'content-type': 'application/json', ...present({ 'a2a-version': version }) };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { id: 'none' } });
  const answer = await server.fetch(path, isRest ? { headers } : { method: 'POST', headers, body });
  return ((await answer.json()) as { error: { code: number; details?: readonly { reason?: string }[] } }).error;
};

const NO_TASK = { code: -32_001 };
const NO_TASK_REST = { code: 404, details: [{ reason: 'TASK_NOT_FOUND' }] };

it('a version may stand in the address, and the header counts where both do', async () => {
  await using server = await served();
  expect(await ask(server, '/a2a?A2A-Version=1.0')).toMatchObject(NO_TASK);
  expect(await ask(server, '/a2a/rest/tasks/none?A2A-Version=1.0')).toMatchObject(NO_TASK_REST);
  expect(await ask(server, '/a2a?A2A-Version=2.0', '1.0')).toMatchObject(NO_TASK);
  expect(await ask(server, '/a2a?A2A-Version=2.0')).toMatchObject({ code: -32_009 });
  expect(await ask(server, '/a2a', undefined, 'tasks/get')).toMatchObject(NO_TASK);
  const card = await server.fetch('/.well-known/agent-card.json?A2A-Version=1.0', { token: null });
  expect(await card.json()).not.toHaveProperty('preferredTransport');
});

it('the patch of a version does not count, another minor one does', async () => {
  await using server = await served();
  expect(await ask(server, '/a2a', '1.0.1')).toMatchObject(NO_TASK);
  expect(await ask(server, '/a2a/rest/tasks/none', '1.0.0')).toMatchObject(NO_TASK_REST);
  expect(await ask(server, '/a2a', '0.3.0', 'tasks/get')).toMatchObject(NO_TASK);
  for (const other of ['1.1.0', '1.0.0.0', '10.0', '1.0x'])
    expect(await ask(server, '/a2a', other)).toMatchObject({ code: -32_009 });
});

it('nor does it by gRPC', async () => {
  await using server = await served();
  const says =
    (version: string): Interceptor =>
    (options, next) =>
      new InterceptingCall(next(options), {
        start(metadata, listener, go) {
          metadata.set('authorization', `Bearer ${ALICE}`);
          metadata.set('a2a-version', version);
          go(metadata, listener);
        },
      });
  const speaking = async (version: string) => {
    const grpc = new GrpcTransportFactory({ grpcCallOptions: { interceptors: [says(version)] } });
    const given = { transports: [grpc], preferredTransports: ['GRPC'] };
    return await new ClientFactory(ClientFactoryOptions.createFrom(ClientFactoryOptions.default, given)).createFromUrl(
      server.origin,
    );
  };
  const none = { tenant: '', id: 'run_none' };
  await expect((await speaking('1.0.1')).getTask(none)).rejects.toThrow('not found');
  await expect((await speaking('1.1.0')).getTask(none)).rejects.toThrow("'1.1' is not supported");
});
