/** Agents that live elsewhere are tried: `troupe serve` on every binding, in both versions, with and without what it wants. */
import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { ALICE, served } from '../../../test/support/a2a/served.ts';
import { answers, cardServer, goodCard, hashOf, olderCard } from '../../../test/support/peers/card-server.ts';
import { systemClock } from '../../base/clock.ts';
import { wayProblem } from './connect.ts';
import { tryPeer } from './try-peer.ts';

const TOKEN = ['$', '{PEER_TOKEN}'].join('');
const needs = (token: string) => ({ clock: systemClock, env: { PEER_TOKEN: token } });

describe.each(['JSONRPC', 'HTTP+JSON', 'GRPC'] as const)('over %s', (binding) => {
  it('a house and an agent let in who has a token, and nobody else', async () => {
    await using server = await served();
    const cards = ['/.well-known/agent-card.json', '/a2a/agents/helper/.well-known/agent-card.json'];
    // gRPC has no paths: only the house has it.
    for (const path of binding === 'GRPC' ? cards.slice(0, 1) : cards) {
      const remote = { card: `${server.origin}${path}`, token: TOKEN, binding };
      expect(await tryPeer(remote, needs(ALICE))).toMatchObject({ state: 'answers', interface: { binding, version: '1.0' } });
      const stranger = await tryPeer(remote, needs('stranger-0123456789'));
      expect(stranger).toMatchObject({ state: 'broken', fix: expect.stringContaining('token') });
      const unset = await tryPeer(remote, needs(''));
      expect(unset).toMatchObject({ state: 'broken', reason: expect.stringContaining('PEER_TOKEN is not set') });
    }
  });
});

it('version 0.3 is spoken to by who has a card of that', async () => {
  await using server = await served();
  const older = olderCard(`${server.origin}/a2a`);
  await using card = await cardServer((request, response) => answers(older)(request, response));
  expect(await tryPeer({ card: card.url, token: TOKEN }, needs(ALICE))).toMatchObject({
    ...{ state: 'broken', reason: expect.stringContaining(`not at ${new URL(card.url).origin}`) },
  });
  const pin = hashOf(JSON.stringify(older));
  const tried = await tryPeer({ card: card.url, token: TOKEN, pin }, needs(ALICE));
  expect(tried).toMatchObject({ state: 'answers', interface: { version: '0.3' }, card: { name: 'Old weather' } });
});

it('what is behind a card may be down, or something else', async () => {
  await using page = await cardServer(
    (_request, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('x'),
  );
  await using gone = await cardServer(answers('x'));
  await gone.close();
  for (const address of [page.url, gone.url]) {
    await using card = await cardServer(answers(goodCard(address)));
    expect(await tryPeer({ card: card.url }, needs('')), address).toMatchObject({ state: 'broken' });
  }
  expect(await tryPeer({ card: gone.url }, needs(''))).toMatchObject({
    state: 'broken',
    reason: expect.stringContaining('ECONNREFUSED'),
  });
});

it('gRPC is looked up before it is spoken to, and may be named like the others', async () => {
  const at = (url: string, inside: boolean) =>
    ({ url, inside, plain: true, binding: 'GRPC', version: '1.0', tenant: '' }) as const;
  for (const url of ['localhost:1', 'http://localhost:1', '127.0.0.1:1'])
    expect(await wayProblem(at(url, false)), url).toMatchObject({ kind: 'refused' });
  expect(await wayProblem(at('localhost:1', true))).toBeUndefined();
  await using server = await served();
  const card: unknown = await (await server.fetch('/.well-known/agent-card.json', { headers: { 'a2a-version': '1.0' } })).json();
  const target = /"url":"([^"]+)","protocolBinding":"GRPC"/.exec(JSON.stringify(card))?.[1] ?? '';
  const supportedInterfaces = [{ url: `http://${target}/`, protocolBinding: 'GRPC', protocolVersion: '1.0' }];
  await using named = await cardServer(answers(goodCard('', { supportedInterfaces })));
  expect(await tryPeer({ card: named.url, token: TOKEN, binding: 'GRPC' }, needs(ALICE))).toMatchObject({ state: 'answers' });
});

it('a key in its file is the only one whose signature counts', async () => {
  await using server = await served({ settings: 'a2a: { key: card-key.pem }\n' });
  const [own, other] = [generateKeyPairSync('ed25519'), generateKeyPairSync('ed25519')];
  await server.folder.write('card-key.pem', own.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString());
  const card = `${server.origin}/.well-known/agent-card.json`;
  const tried = async ({ publicKey }: typeof own) => {
    const key = publicKey.export({ format: 'pem', type: 'spki' }).toString();
    return await tryPeer({ card, token: TOKEN, key }, needs(ALICE));
  };
  expect(await tried(own)).toMatchObject({ state: 'answers' });
  expect(await tried(other)).toMatchObject({ state: 'broken', reason: expect.stringContaining('not to be trusted') });
});
