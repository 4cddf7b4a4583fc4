/** Cards over real HTTP: good ones, kept ones and pinned ones. */
import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AgentCard } from '@a2a-js/sdk';
import { describe, expect, it } from 'vitest';
import { answers, cardPorts, cardServer, goodCard, olderCard, source } from '../../../test/support/peers/card-server.ts';
import { type Clock, systemClock } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import { canonicalCard } from './check-card.ts';
import { createKeptCards } from './kept-cards.ts';
import type { CardOutcome, ReadCard } from './port.ts';
import { readCard } from './read-card.ts';

const here = 'http://127.0.0.1:9/a2a';

function read(outcome: CardOutcome): ReadCard {
  if (outcome.state !== 'read') throw new Error(`${outcome.state}: ${outcome.reason}`);
  return outcome;
}

describe('a card', () => {
  it('is read with the interface that is used', async () => {
    await using server = await cardServer(answers(goodCard(here)));
    const { card, hash, interface: chosen } = read(await readCard(source(server.url), cardPorts()));
    expect(card.name).toBe('Weather');
    expect(hash).toMatch(/^[0-9a-f]{64}$/);
    expect(chosen).toEqual({ url: here, binding: 'JSONRPC', version: '1.0', tenant: '', inside: true, plain: true });
    expect(server.asked[0]?.headers).toMatchObject({ 'a2a-version': '1.0' });
  });

  it('of version 0.3 is translated', async () => {
    await using server = await cardServer(answers(olderCard(here)));
    const { card, interface: chosen } = read(await readCard(source(server.url), cardPorts()));
    expect(chosen).toMatchObject({ url: here, binding: 'JSONRPC', version: '0.3' });
    expect(card.securitySchemes['token']?.scheme).toMatchObject({ $case: 'httpAuthSecurityScheme', value: { scheme: 'bearer' } });
    expect(card.skills[0]).toMatchObject({ id: 'past', tags: ['weather'] });
  });

  it('names several interfaces: the newer version first, then the order of the card, or the one that is asked for', async () => {
    const supportedInterfaces = [
      { url: here, protocolBinding: 'WEBSOCKET', protocolVersion: '1.0' },
      { url: `${here}/old`, protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
      { url: `${here}/rest`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0', tenant: 'blue' },
      { url: '127.0.0.1:9', protocolBinding: 'GRPC', protocolVersion: '1.0' },
    ];
    await using server = await cardServer(answers(goodCard(here, { supportedInterfaces })));
    const chosen = async (binding?: 'JSONRPC' | 'GRPC', at?: string) =>
      read(await readCard(source(server.url, { binding, at }), cardPorts())).interface;
    expect(await chosen()).toMatchObject({ url: `${here}/rest`, binding: 'HTTP+JSON', tenant: 'blue' });
    expect(await chosen('GRPC')).toMatchObject({ url: '127.0.0.1:9', binding: 'GRPC', inside: true });
    expect(await chosen('JSONRPC')).toMatchObject({ url: `${here}/old`, version: '0.3' });
    // Or the one where something is under way, as long as it can be used.
    expect(await chosen(undefined, `${here}/old`)).toMatchObject({ url: `${here}/old`, version: '0.3' });
    for (const gone of [here, `${here}/gone`]) expect(await chosen(undefined, gone)).toMatchObject({ url: `${here}/rest` });
  });

  it('has a hash that only what it says changes', async () => {
    const login = { scheme: { httpAuthSecurityScheme: { scheme: 'bearer' } } };
    const { name, ...rest } = goodCard(here);
    const signed = { ...rest, name: name ?? '', signatures: [{ protected: 'a', signature: 'b' }], unknown: true };
    const cards = [goodCard(here), signed, goodCard(here, { version: '2.1.1' }), goodCard(here, { securitySchemes: login })];
    const hashes: string[] = [];
    for (const card of cards) {
      await using server = await cardServer(answers(card));
      hashes.push(read(await readCard(source(server.url), cardPorts())).hash);
    }
    expect(hashes[1]).toBe(hashes[0]);
    expect(new Set(hashes).size).toBe(3);
  });

  it('must have the extensions that its file demands, and may demand those itself', async () => {
    const capabilities = { extensions: [{ uri: 'urn:polite' }, { uri: 'urn:must', required: true }] };
    await using server = await cardServer(answers(goodCard(here, { capabilities })));
    const outcome = (...extensions: string[]) => readCard(source(server.url, { extensions }), cardPorts());
    expect(await outcome('urn:must', 'urn:polite')).toMatchObject({ state: 'read' });
    expect(await outcome()).toMatchObject({ state: 'refused', reason: expect.stringContaining('urn:must') });
    expect(await outcome('urn:must', 'urn:other')).toMatchObject({
      state: 'refused',
      reason: 'the card does not name the extension "urn:other", which is demanded of it',
    });
  });

  it('that is pinned is taken only as it was', async () => {
    let version = '1';
    await using server = await cardServer((request, response) => answers(goodCard(here, { version }))(request, response));
    const { hash } = read(await readCard(source(server.url), cardPorts()));
    expect(await readCard(source(server.url, { pin: hash.toUpperCase() }), cardPorts())).toMatchObject({ state: 'read', hash });
    version = '2';
    const changed = await readCard(source(server.url, { pin: hash }), cardPorts());
    const { hash: next } = read(await readCard(source(server.url), cardPorts()));
    expect(changed).toMatchObject({ state: 'refused', fix: expect.stringContaining(`pin: ${next}`) });
    expect(changed).toMatchObject({ reason: expect.stringMatching(new RegExp(`${next}.*${hash}`)) });
  });

  it.each(['ed25519', 'prime256v1', 'rsa'] as const)('must bear the signature of the key that is given: %s', async (kind) => {
    const keys =
      kind === 'ed25519'
        ? generateKeyPairSync('ed25519')
        : kind === 'rsa'
          ? generateKeyPairSync('rsa', { modulusLength: 2_048 })
          : generateKeyPairSync('ec', { namedCurve: kind });
    const alg = { ed25519: 'EdDSA', prime256v1: 'ES256', rsa: 'RS256' }[kind];
    const card = goodCard(here, { securitySchemes: { token: { httpAuthSecurityScheme: { scheme: 'bearer' } } } });
    const head = Buffer.from(JSON.stringify({ alg, kid: '1', typ: 'JOSE' })).toString('base64url');
    const signed = Buffer.from(`${head}.${Buffer.from(canonicalCard(AgentCard.fromJSON(card))).toString('base64url')}`);
    const key = kind === 'prime256v1' ? { key: keys.privateKey, dsaEncoding: 'ieee-p1363' as const } : keys.privateKey;
    const signature = sign(kind === 'ed25519' ? null : 'sha256', signed, key).toString('base64url');
    let served: object = {
      ...card,
      signatures: [
        { protected: 'x', signature: 'y' },
        { protected: head, signature },
      ],
    };
    await using server = await cardServer((request, response) => answers(served)(request, response));
    const pem = keys.publicKey.export({ format: 'pem', type: 'spki' }).toString();
    const jwk = JSON.stringify(keys.publicKey.export({ format: 'jwk' }));
    for (const trusted of [pem, jwk]) read(await readCard(source(server.url, { key: trusted }), cardPorts()));
    const other = generateKeyPairSync('ed25519').publicKey.export({ format: 'pem', type: 'spki' }).toString();
    for (const bad of [other, 'no key']) {
      expect(await readCard(source(server.url, { key: bad }), cardPorts())).toMatchObject({ state: 'refused' });
    }
    served = { ...served, securitySchemes: { token: { httpAuthSecurityScheme: { scheme: 'basic' } } } };
    const changed = await readCard(source(server.url, { key: pem }), cardPorts());
    expect(changed).toMatchObject({ state: 'refused', reason: expect.stringContaining('no signature') });
    served = card;
    const bare = await readCard(source(server.url, { key: pem }), cardPorts());
    expect(bare).toMatchObject({ state: 'refused', reason: expect.stringContaining('not signed') });
  });
});

interface Settable extends Clock {
  time: number;
}

const settable = (): Settable => {
  const clock = { ...systemClock, time: 1_000_000, now: () => clock.time };
  return clock;
};

async function folder() {
  const path = await mkdtemp(join(tmpdir(), 'troupe-cards-'));
  return { path, [Symbol.asyncDispose]: async () => await rm(path, { recursive: true, force: true }) };
}

describe('a kept card', () => {
  it('is good for as long as its server says, then asked about by its tag', async () => {
    await using place = await folder();
    await using server = await cardServer((request, response) => {
      const headers = { etag: '"one"', 'cache-control': 'public, max-age=60', 'content-type': 'application/json' };
      if (request.headers['if-none-match'] === '"one"') response.writeHead(304, headers).end();
      else response.writeHead(200, headers).end(JSON.stringify(goodCard(here)));
    });
    const clock = settable();
    const ports = cardPorts({ clock, kept: createKeptCards(place.path) });
    const hash = read(await readCard(source(server.url), ports)).hash;
    clock.time += 59_000;
    expect(read(await readCard(source(server.url), ports)).hash).toBe(hash);
    expect(server.asked).toHaveLength(1);
    clock.time += 2_000;
    expect(read(await readCard(source(server.url), ports)).hash).toBe(hash);
    expect(server.asked).toHaveLength(2);
    expect(server.asked[1]?.headers['if-none-match']).toBe('"one"');
    clock.time += 30_000;
    expect(read(await readCard(source(server.url), ports)).hash).toBe(hash);
    expect(server.asked).toHaveLength(2);
    expect(read(await readCard(source(server.url), { ...ports, ask: 'always' })).hash).toBe(hash);
    expect(server.asked).toHaveLength(3);
    clock.time = 0;
    expect(read(await readCard(source(server.url), ports)).hash).toBe(hash);
    expect(server.asked).toHaveLength(4);
  });

  it('is good for an hour at the most, and not at all when its server says so', async () => {
    await using place = await folder();
    let headers: Record<string, string> = { 'cache-control': 'max-age=999999999' };
    await using server = await cardServer((request, response) => answers(goodCard(here), headers)(request, response));
    const clock = settable();
    const ports = cardPorts({ clock, kept: createKeptCards(place.path) });
    const askedAfter = async (): Promise<number> => {
      read(await readCard(source(server.url), ports));
      return server.asked.length;
    };
    expect([await askedAfter(), await askedAfter()]).toEqual([1, 1]);
    clock.time += limits.cardFreshMs + 1;
    headers = { 'cache-control': 'no-cache, max-age=60' };
    expect([await askedAfter(), await askedAfter()]).toEqual([2, 3]);
    headers = { 'cache-control': 'no-store, max-age=60' };
    expect([await askedAfter(), await askedAfter()]).toEqual([4, 5]);
    expect(await readdir(join(place.path, 'cards'))).toEqual([]);
    headers = { 'cache-control': 'max-age=60', age: '61' };
    expect([await askedAfter(), await askedAfter()]).toEqual([6, 7]);
    headers = {};
    expect([await askedAfter(), await askedAfter()]).toEqual([8, 9]);
  });

  it('stands in while the server is down, for a day', async () => {
    await using place = await folder();
    let isDown = false;
    let headers: Record<string, string> = {};
    await using server = await cardServer((request, response) => {
      if (isDown) response.writeHead(503).end();
      else answers(goodCard(here), headers)(request, response);
    });
    const clock = settable();
    const ports = cardPorts({ clock, kept: createKeptCards(place.path) });
    read(await readCard(source(server.url), ports));
    isDown = true;
    clock.time += limits.cardKeptMs;
    const { standIn } = read(await readCard(source(server.url), ports));
    expect(standIn).toEqual({ seenAt: 1_000_000, reason: expect.stringContaining('503') });
    clock.time += 1;
    const late = await readCard(source(server.url), ports);
    expect(late).toMatchObject({ state: 'unreachable', reason: expect.stringContaining('(cardKeptMs)') });
    isDown = false;
    headers = { 'cache-control': 'must-revalidate' };
    expect(read(await readCard(source(server.url), ports)).standIn).toBeUndefined();
    await server.close();
    expect(await readCard(source(server.url), ports)).toMatchObject({ state: 'unreachable' });
  });

  it('that does not fit the pin is asked for anew, and one that is not taken does not push out the one that was', async () => {
    await using place = await folder();
    let version = '1';
    await using server = await cardServer((request, response) => {
      const headers = { etag: '"same for all"', 'cache-control': 'max-age=600' };
      if (request.headers['if-none-match'] !== undefined) response.writeHead(304, headers).end();
      else answers(goodCard(here, { version }), headers)(request, response);
    });
    const ports = cardPorts({ kept: createKeptCards(place.path) });
    const first = read(await readCard(source(server.url), ports));
    version = '2';
    const pin = first.hash;
    expect(await readCard(source(server.url, { pin: 'f'.repeat(64) }), ports)).toMatchObject({ state: 'refused' });
    expect(await readCard(source(server.url, { pin }), ports)).toMatchObject({ state: 'read', hash: pin });
    expect(server.asked).toHaveLength(2);
  });

  it('is one of a bounded number of files, and damaged ones are asked for again', async () => {
    await using place = await folder();
    const kept = createKeptCards(place.path);
    const card = { text: '{}', seenAt: 1, freshUntil: 2, standsIn: true };
    await kept.put('http://first.example/', card);
    expect(await kept.get('http://first.example/')).toEqual(card);
    const files = join(place.path, 'cards');
    const [first = ''] = await readdir(files);
    expect(first).toBe(`${createHash('sha256').update('http://first.example/').digest('hex').slice(0, 40)}.json`);
    for (let count = 0; count < limits.cardsKept; count += 1) await writeFile(join(files, `old-${count}.tmp`), 'left');
    await utimes(join(files, 'old-7.tmp'), 1, 1);
    await kept.put('http://second.example/', card);
    const names = await readdir(files);
    expect(names).toHaveLength(limits.cardsKept);
    expect(names).not.toContain('old-7.tmp');
    expect(await kept.get('http://second.example/')).toEqual(card);
    for (const damage of ['', '{', '[]', JSON.stringify({ ...card, address: 'http://other.example/' })]) {
      await writeFile(join(files, first), damage);
      expect(await kept.get('http://first.example/')).toBeUndefined();
    }
  });
});
