/** Extensions that the project demands of its peers: cards say so, and whoever does not name them gets no further. */
import { AgentCard } from '@a2a-js/sdk';
import { ExtensionSupportRequiredError } from '@a2a-js/sdk/errors';
import { expect, it } from 'vitest';
import { answerOf, request, said, taskIn } from '../../../test/support/a2a/peer.ts';
import { ALICE, served } from '../../../test/support/a2a/served.ts';

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
});
