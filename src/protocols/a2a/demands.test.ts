/** Extensions that the project demands of its peers: cards say so, and whoever does not name them gets no further. */
import { AgentCard } from '@a2a-js/sdk';
import { LegacyA2AService } from '@a2a-js/sdk/compat/v0_3/server/grpc';
import { ExtensionSupportRequiredError } from '@a2a-js/sdk/errors';
import { A2AService } from '@a2a-js/sdk/server/grpc';
import { Client, credentials, Metadata } from '@grpc/grpc-js';
import { expect, it } from 'vitest';
import { answerOf, request, said, taskIn } from '../../../test/support/a2a/peer.ts';
import { ALICE, type Served, served } from '../../../test/support/a2a/served.ts';

const POLITE = 'https://example.org/polite/v1';
const settings = `a2a: { demands: ["${POLITE}"] }\n`;
const naming = (extensions: string) => ({ serviceParameters: { 'A2A-Extensions': extensions } });

it.each([
  ...(['JSONRPC', 'HTTP+JSON', 'GRPC'] as const).map((binding) => ({ binding, version: '1.0' })),
  ...(['JSONRPC', 'HTTP+JSON', 'GRPC'] as const).map((binding) => ({ binding, version: '0.3' })),
])('are demanded over $binding, version $version', async ({ binding, version }) => {
  await using there = await served({ settings });
  const client = await there.client(ALICE, binding, '/', version);
  const hello = request(said('Hello.'));
  const refused = version === '1.0' ? ExtensionSupportRequiredError : /polite/;
  await expect(client.sendMessage(hello)).rejects.toThrow(refused);
  await expect(client.getTask({ tenant: '', id: 'none' }, naming('urn:other'))).rejects.toThrow(/polite/);
  await expect(async () => {
    for await (const _ of client.sendMessageStream(hello));
  }).rejects.toThrow(/polite/);
  expect(await there.project.ledger.runs({ roots: true })).toEqual([]);
  expect(answerOf(taskIn(await client.sendMessage(hello, naming(`urn:other, ${POLITE}`))))).toBe('Done.');
});

it('are in every card, which anybody may read, and in the answer', async () => {
  await using there = await served({ settings });
  const headers = { 'a2a-version': '1.0' };
  for (const path of ['', '/a2a/agents/helper']) {
    const response = await there.fetch(`${path}/.well-known/agent-card.json`, { token: null, headers });
    const { capabilities } = AgentCard.fromJSON(await response.json());
    expect(capabilities?.extensions).toContainEqual(expect.objectContaining({ uri: POLITE, required: true }));
  }
  const asked = { ...headers, 'a2a-extensions': `urn:other, ${POLITE}` };
  const listed = await there.fetch('/a2a/rest/tasks', { headers: asked });
  expect([listed.status, listed.headers.get('a2a-extensions')]).toEqual([200, POLITE]);
  for (const [path, version] of [
    [A2AService.subscribeToTask.path, '1.0'],
    [A2AService.listTasks.path, '1.0'],
    [LegacyA2AService.getAgentCard.path, '0.3'],
  ] as const)
    expect(await namedByGrpc(there, path, version)).toBe(POLITE);
});

/** What stands in the head of the answer, whatever the answer is. */
async function namedByGrpc(there: Served, path: string, version: string): Promise<unknown> {
  const card = await (await there.fetch('/.well-known/agent-card.json', { headers: { 'a2a-version': '1.0' } })).text();
  const client = new Client(/"url":"([^"]+)","protocolBinding":"GRPC"/.exec(card)?.[1] ?? '', credentials.createInsecure());
  const metadata = new Metadata();
  for (const [name, value] of Object.entries({ authorization: `Bearer ${ALICE}`, 'a2a-version': version }))
    metadata.set(name, value);
  metadata.set('a2a-extensions', `urn:other, ${POLITE}`);
  const asIs = (value: Buffer): Buffer => value;
  const { promise, resolve } = Promise.withResolvers<Metadata>();
  client
    .makeServerStreamRequest(path, asIs, asIs, Buffer.alloc(0), metadata)
    .on('metadata', resolve)
    .on('data', () => undefined)
    .on('error', () => undefined);
  const [named] = (await promise).get('a2a-extensions');
  client.close();
  return named;
}
