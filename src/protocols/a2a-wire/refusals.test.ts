/** What is refused, in the words that each binding has for it: a client tries again what is not its own mistake. */
import { Role } from '@a2a-js/sdk';
import { expect, it } from 'vitest';
import { request, said } from '../../../test/support/a2a/peer.ts';
import { ALICE, type Served, served } from '../../../test/support/a2a/served.ts';

const post = async (server: Served, path: string, body: string, headers: Record<string, string> = {}) =>
  await server.fetch(path, {
    ...{ method: 'POST', body },
    headers: { 'content-type': 'application/json', 'a2a-version': '1.0', ...headers },
  });

it.each(['/message:send', '/message:stream'])(
  'HTTP+JSON %s with a body that is not JSON is the mistake of who sent it',
  async (path) => {
    await using server = await served();
    for (const body of ['{bad', '[]', '"x"']) {
      const answer = await post(server, `/a2a/rest${path}`, body);
      expect([answer.status, await answer.json()], body).toMatchObject([
        400,
        { error: { code: 400, status: 'INVALID_ARGUMENT' } },
      ]);
    }
    expect(server.errors).toEqual([]);
  },
);

it.each(['1.0', '0.3'])('JSON-RPC %s tells what is no request from one that says the wrong thing', async (version) => {
  await using server = await served();
  const codeOf = async (body: string): Promise<unknown> => {
    const answer = await post(server, '/a2a', body, { 'a2a-version': version });
    expect(answer.status).toBe(200);
    return ((await answer.json()) as { error?: { code?: number } }).error?.code;
  };
  for (const body of ['[]', '"x"', '7', 'null', '{}', '{"id":1,"method":"GetTask"}', '{"jsonrpc":"2.0","id":1}'])
    expect(await codeOf(body), body).toBe(-32_600);
  expect(await codeOf('{"jsonrpc":"2.0","id":{},"method":"GetTask","params":{}}')).toBe(-32_600);
  for (const body of ['', '{']) expect(await codeOf(body), body).toBe(-32_700);
  const method = version === '1.0' ? 'GetTask' : 'tasks/get';
  expect(await codeOf(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: [] }))).toBe(-32_602);
  expect(server.errors).toEqual([]);
});

it('whoever has no token hears so in the form of the binding that was asked', async () => {
  await using server = await served();
  const asked = async (path: string) => {
    const answer = await server.fetch(path, { token: null });
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    return await answer.json();
  };
  for (const path of ['/a2a/rest/tasks', '/a2a/agents/helper/rest/tasks', '/a2a/rest/tenant/tasks/x'])
    expect(await asked(path)).toMatchObject({ error: { code: 401, status: 'UNAUTHENTICATED', details: [] } });
  for (const path of ['/a2a', '/mcp', '/a2a/agents/rest']) expect(await asked(path)).toMatchObject({ jsonrpc: '2.0', id: null });
});

it.each(['JSONRPC', 'HTTP+JSON', 'GRPC'] as const)('over %s only what the user says is heard', async (binding) => {
  await using server = await served();
  const client = await server.client(ALICE, binding);
  for (const role of [Role.ROLE_AGENT, Role.ROLE_UNSPECIFIED])
    await expect(client.sendMessage(request(said('Do it.', { role })))).rejects.toThrow('ROLE_USER');
  expect(await server.project.ledger.runs({ roots: true })).toEqual([]);
});

it('in 0.3, too', async () => {
  await using server = await served();
  const message = { kind: 'message', messageId: 'm1', role: 'agent', parts: [{ kind: 'text', text: 'Do it.' }] };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'message/send', params: { message } });
  const answer = await post(server, '/a2a', body, { 'a2a-version': '0.3' });
  expect(await answer.json()).toMatchObject({ error: { code: -32_602, message: expect.stringContaining('ROLE_USER') } });
});

it('an address or a method that is none of the protocol is told apart from an agent that is not there', async () => {
  await using server = await served();
  const ask = async (path: string): Promise<unknown> => {
    const answer = await server.fetch(path, { headers: { 'a2a-version': '1.0' } });
    return [answer.status, ((await answer.json()) as { error: { message: string } }).error.message];
  };
  const none = [404, 'There is no such operation: look at the address and the method.'];
  for (const path of ['/nothing/here', '/tasks/x:stop', '/message:send', '/tasks/x/y', ''])
    expect([path, await ask(`/a2a/rest${path}`)]).toEqual([path, none]);
  expect(await ask('/a2a/nothing')).toEqual(none);
  const older = await server.fetch('/a2a/rest/v1/tasks', { headers: { 'a2a-version': '0.3' } });
  expect([older.status, await older.json()]).toEqual([404, { code: -32_601, message: none[1] }]);
  expect(await ask('/a2a/agents/nobody/rest/tasks')).toEqual([404, 'There is no agent here.']);
});
