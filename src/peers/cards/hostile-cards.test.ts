/** Whatever a server does, reading its card ends, says why, and sends nothing where it does not belong. */
import { mkdtemp, rm } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { AgentCard } from '@a2a-js/sdk';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TEST_MS } from '../../../test/support/patience.ts';
import { answers, cardPorts, cardServer, goodCard, hurried, olderCard, source } from '../../../test/support/peers/card-server.ts';
import type { Json, JsonObject } from '../../base/json.ts';
import { limits } from '../../base/limits.ts';
import { chooseInterface } from './choose-interface.ts';
import { createKeptCards } from './kept-cards.ts';
import type { CardOutcome, CardSource } from './port.ts';
import { readCard } from './read-card.ts';

const here = 'http://127.0.0.1:9/a2a';
const many = (count: number, one: Json): Json[] => Array.from({ length: count }, () => one);
const place = { url: here, protocolBinding: 'JSONRPC', protocolVersion: '1.0' };
const deep = (levels: number): string => `{"name":"x","deep":${'['.repeat(levels)}${']'.repeat(levels)}}`;

/** Read from a host that counts as public. */
async function readPublic(listener: RequestListener, more: Partial<CardSource> = {}, path = '/card.json'): Promise<CardOutcome> {
  await using server = await cardServer(listener);
  return await readCard(source(`http://agents.example:${server.port}${path}`, more), cardPorts());
}

describe('what is refused', () => {
  it.each<readonly [string, unknown, Record<string, string>, string]>([
    ['a page', '<html>Hello</html>', { 'content-type': 'text/html' }, 'text/html'],
    ['another type', goodCard(here), { 'content-type': 'application/octet-stream' }, 'octet-stream'],
    ['no type', goodCard(here), { 'content-type': '' }, 'without a type'],
    ['broken JSON', '{"name": "x"', {}, 'not JSON'],
    ['nothing', '', {}, 'not JSON'],
    ['a list', [], {}, 'not an object'],
    ['null', null, {}, 'not an object'],
    ['no name', { ...goodCard(here), name: '' }, {}, 'name'],
    ['a name that is none', { ...goodCard(here), name: { toString: 1 } }, {}, 'name'],
    ['no interfaces', { ...goodCard(here), supportedInterfaces: [] }, {}, 'supportedInterfaces'],
    ['an interface that is none', { ...goodCard(here), supportedInterfaces: [null] }, {}, 'supportedInterfaces[0]'],
    ['too many interfaces', goodCard(here, { supportedInterfaces: many(5_000, place) }), {}, '(cardInterfaces)'],
    ['too many older interfaces', olderCard(here, { additionalInterfaces: many(101, { url: here }) }), {}, '(cardInterfaces)'],
    ['too many skills', goodCard(here, { skills: many(3_000, { id: 'x' }) }), {}, '(cardSkills)'],
    ['too deep', deep(limits.cardDepth + 1), {}, '(cardDepth)'],
    ['much too deep', deep(200_000), {}, '(cardDepth)'],
    ['too long', ' '.repeat(limits.cardBytes + 1), {}, '(cardBytes)'],
    ['an older one without capabilities', { ...olderCard(here), capabilities: null }, {}, 'capabilities'],
    ['an older one with a strange login', olderCard(here, { securitySchemes: { a: { type: 'x' } } }), {}, 'security scheme'],
    ['a version before', olderCard(here, { protocolVersion: '0.2.5' }), {}, '0.2.5'],
    ['a version to come', goodCard(here, { supportedInterfaces: [{ ...place, protocolVersion: '2.0' }] }), {}, '2.0'],
    [
      'an extension that it demands',
      goodCard(here, { capabilities: { extensions: [{ uri: 'urn:x' }, { uri: 'urn:must', required: true }] } }),
      {},
      'urn:must',
    ],
    ['another binding', goodCard(here, { supportedInterfaces: [{ ...place, protocolBinding: 'SOAP' }] }), {}, 'SOAP'],
  ])('%s', async (_what, body, headers, reason) => {
    await using server = await cardServer(answers(body, headers));
    const outcome = await readCard(source(server.url), cardPorts());
    expect(outcome).toMatchObject({ state: 'refused', reason: expect.stringContaining(reason), fix: expect.any(String) });
  });

  it('what is packed small and grows', async () => {
    await using server = await cardServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
      response.end(gzipSync(Buffer.alloc(20_000_000, ' ')));
    });
    const outcome = await readCard(source(server.url), cardPorts());
    expect(outcome).toMatchObject({ state: 'refused', reason: expect.stringContaining('(cardBytes)') });
  });

  it.each<readonly [number, CardOutcome['state']]>([
    [401, 'refused'],
    [403, 'refused'],
    [404, 'refused'],
    [204, 'refused'],
    [304, 'refused'],
    [302, 'refused'],
    [429, 'unreachable'],
    [500, 'unreachable'],
  ])('an answer %i is %s', async (status, state) => {
    await using server = await cardServer((_request, response) => void response.writeHead(status).end());
    expect(await readCard(source(server.url), cardPorts())).toMatchObject({
      state,
      reason: expect.stringContaining(`${status}`),
    });
  });

  it.each([
    'http://127.0.0.1:80/a2a',
    'http://localhost/a2a',
    'http://2130706433/',
    'http://0x7f.1/',
    'http://[::1]/',
    'http://[::ffff:10.0.0.1]/',
    'http://169.254.169.254/latest',
    'http://10.0.0.1/',
    'http://printer/',
    'http://box.local/',
    'http://localhost./',
  ])('a public card does not lead inside: %s', async (url) => {
    const outcome = await readPublic(answers(goodCard(url)), { pin: undefined });
    expect(outcome).toMatchObject({ state: 'refused', reason: expect.stringContaining('not a public address') });
    const older = await readPublic(answers(olderCard(url)));
    expect(older).toMatchObject({ state: 'refused', reason: expect.stringContaining('not a public address') });
  });

  it.each(['127.0.0.1:50051', 'localhost:1', '[::1]:50051', 'http://10.0.0.1:1'])('nor does it by gRPC: %s', async (url) => {
    const supportedInterfaces = [{ url, protocolBinding: 'GRPC', protocolVersion: '1.0' }];
    const outcome = await readPublic(answers(goodCard(here, { supportedInterfaces })));
    expect(outcome).toMatchObject({ state: 'refused', reason: expect.stringContaining('not a public address') });
  });

  it.each([
    'file:///etc/passwd',
    'ftp://agents.example/',
    'javascript:alert(1)',
    '/a2a',
    '',
    'unix:/run/x.sock',
    'http://a:b@agents.example/',
  ])('is not an address to talk to: %j', async (url) => {
    for (const protocolBinding of ['JSONRPC', 'GRPC']) {
      const card = goodCard(here, { supportedInterfaces: [{ url, protocolBinding, protocolVersion: '1.0' }] });
      expect(await readPublic(answers(card))).toMatchObject({
        state: 'refused',
        reason: expect.stringContaining('not an address'),
      });
    }
  });
});

describe('where a card leads', () => {
  const leads =
    (to: string): RequestListener =>
    (_request, response) =>
      void response.writeHead(302, { location: to }).end();

  it.each(['http://127.0.0.1:1/', 'http://localhost:1/', 'http://169.254.169.254/', 'http://[::1]:1/', 'http://10.0.0.1/'])(
    'not from outside to %s',
    async (to) => {
      expect(await readPublic(leads(to))).toMatchObject({
        state: 'refused',
        reason: expect.stringContaining('not a public address'),
      });
    },
  );

  it('not from one place inside to another', async () => {
    await using other = await cardServer(answers(goodCard(here)));
    await using server = await cardServer(leads(other.url));
    expect(await readCard(source(server.url), cardPorts())).toMatchObject({ state: 'refused' });
    expect(other.asked).toEqual([]);
  });

  it.each(['file:///etc/passwd', 'ftp://agents.example/', 'http://u:p@agents.example/', 'http://'])('not to %s', async (to) => {
    expect(await readPublic(leads(to))).toMatchObject({ state: 'refused' });
  });

  it('not round and round', async () => {
    const outcome = await readPublic((_request, response) => void response.writeHead(302, { location: '/card.json' }).end());
    expect(outcome).toMatchObject({ state: 'refused', reason: expect.stringContaining('(fetchRedirects)') });
  });

  it('tokens stay with the host that they are for', async () => {
    await using other = await cardServer((_request, response) =>
      answers(goodCard(`http://second.example:${other.port}/`))(_request, response),
    );
    await using server = await cardServer(leads(`http://second.example:${other.port}/card.json`));
    const url = `http://agents.example:${server.port}/card.json`;
    const headers = { authorization: 'Bearer secret', 'x-key': 'secret' };
    const outcome = await readCard(source(url, { headers, plain: true }), cardPorts());
    expect(server.asked[0]?.headers).toMatchObject(headers);
    expect(other.asked).toHaveLength(1);
    expect(JSON.stringify(other.asked[0]?.headers)).not.toContain('secret');
    expect(outcome).toMatchObject({
      state: 'refused',
      reason: expect.stringContaining('the token for that one is not sent there'),
    });
    // Without a token there is nothing to lose; with a pin the owner has looked at it.
    const open = await readCard(source(url), cardPorts());
    expect(open).toMatchObject({ state: 'read', interface: { url: `http://second.example:${other.port}/`, inside: false } });
    const pin = open.state === 'read' ? open.hash : '';
    expect(await readCard(source(url, { headers, pin, plain: true }), cardPorts())).toMatchObject({ state: 'read' });
  });
});

it('of a card with many interfaces that cannot be used it is said how many more there are', () => {
  const card = AgentCard.fromJSON(goodCard('http://10.0.0.1/a2a'));
  const [one] = card.supportedInterfaces;
  const refused = (count: number) =>
    chooseInterface(
      { ...card, supportedInterfaces: Array.from({ length: count }, () => one).filter((each) => each !== undefined) },
      source('https://agents.example/card.json'),
      false,
    );
  expect(refused(4)).toMatchObject({ error: { reason: expect.stringMatching(/; and 1 more interface$/) } });
  expect(refused(5)).toMatchObject({ error: { reason: expect.stringMatching(/; and 2 more interfaces$/) } });
});

describe('a card that was good, and is another when it is asked for again', () => {
  const headers = { authorization: 'Bearer secret' };
  const to =
    (location: string): RequestListener =>
    (_request, response) =>
      void response.writeHead(302, { location }).end();
  it.each<readonly [string, RequestListener, string]>([
    ['names an address inside', answers(goodCard('http://10.0.0.1/a2a')), 'not a public address'],
    ['names this machine', answers(goodCard('http://127.0.0.1:1/a2a')), 'not a public address'],
    ['leads inside', to('http://169.254.169.254/latest'), 'not a public address'],
    ['names another origin', answers(goodCard('http://other.example/a2a')), 'the token for that one is not sent there'],
    ['names another port', answers(goodCard('http://agents.example:1/a2a')), 'the token for that one is not sent there'],
  ])('%s: is refused, and takes no place', async (_what, second, reason) => {
    let now: RequestListener = () => undefined;
    await using server = await cardServer((request, response) => now(request, response));
    const url = `http://agents.example:${server.port}/a2a`;
    const home = await mkdtemp(join(tmpdir(), 'troupe-cards-'));
    const kept = createKeptCards(home);
    const read = () =>
      readCard(source(`http://agents.example:${server.port}/card.json`, { headers, plain: true }), cardPorts({ kept }));
    now = answers(goodCard(url));
    expect(await read()).toMatchObject({ state: 'read', interface: { url } });
    now = second;
    expect(await read()).toMatchObject({ state: 'refused', reason: expect.stringContaining(reason), fix: expect.any(String) });
    // Where the server is down the one that was good stands in, and not the one that was refused.
    now = (_request, response) => void response.writeHead(503).end();
    expect(await read()).toMatchObject({ state: 'read', interface: { url }, standIn: {} });
    expect(server.asked).toHaveLength(3);
    await rm(home, { recursive: true, force: true });
  });
});

describe('an interface of a card over https', () => {
  const chosen = (url: string, more: Partial<CardSource> = {}): boolean =>
    chooseInterface(AgentCard.fromJSON(goodCard(url)), source('https://agents.example/card.json', more), false).ok;
  it('is not plain http, pinned or not', () => {
    expect(chosen('https://agents.example/a2a')).toBe(true);
    expect(chosen('http://agents.example/a2a')).toBe(false);
    expect(chosen('http://agents.example/a2a', { pin: 'f'.repeat(64) })).toBe(false);
  });
  it('is not plain http inside either, except on this machine, and gRPC without a scheme is encrypted', () => {
    const inside = (url: string, at: string, protocolBinding = 'JSONRPC') => {
      const supportedInterfaces = [{ url, protocolBinding, protocolVersion: '1.0' }];
      return chooseInterface(AgentCard.fromJSON(goodCard(url, { supportedInterfaces })), source(`${at}/card.json`), false);
    };
    expect(inside('http://10.0.0.1:5/rpc', 'https://10.0.0.1').ok).toBe(false);
    expect(inside('http://127.0.0.1:5/rpc', 'https://127.0.0.1')).toMatchObject({ ok: true, value: { plain: true } });
    expect(inside('http://10.0.0.1:5/rpc', 'http://10.0.0.1')).toMatchObject({ ok: true, value: { plain: true } });
    expect(inside('10.0.0.1:5', 'https://10.0.0.1', 'GRPC')).toMatchObject({ ok: true, value: { plain: false } });
    expect(inside('10.0.0.1:5', 'http://10.0.0.1', 'GRPC')).toMatchObject({ ok: true, value: { plain: true } });
    expect(inside('127.0.0.1:5', 'https://127.0.0.1', 'GRPC')).toMatchObject({ ok: true, value: { plain: true } });
  });
  it('is not inside, pinned or not', () => {
    expect(chosen('https://10.0.0.1/a2a', { pin: 'f'.repeat(64) })).toBe(false);
    expect(chosen('https://10.0.0.1/a2a', { lookedAt: true })).toBe(false);
  });
  it('is on another host only without a token, or when somebody has looked', () => {
    const headers = { 'x-key': 'secret' };
    expect(chosen('https://other.example/a2a')).toBe(true);
    expect(chosen('https://other.example/a2a', { headers })).toBe(false);
    expect(chosen('https://other.example/a2a', { headers, pin: 'f'.repeat(64) })).toBe(true);
    expect(chosen('https://other.example/a2a', { headers, lookedAt: true })).toBe(true);
  });
  it('is on another port or under another name, where somebody else may listen, only likewise', () => {
    const at = (card: string, url: string, headers: Record<string, string>, protocolBinding = 'JSONRPC', more = {}) => {
      const supportedInterfaces = [{ url, protocolBinding, protocolVersion: '1.0' }];
      const outcome = AgentCard.fromJSON(goodCard(url, { supportedInterfaces }));
      return chooseInterface(outcome, source(card, { headers, ...more }), false).ok;
    };
    const headers = { authorization: 'Bearer secret' };
    const card = 'https://agents.example/card.json';
    expect(at(card, 'https://agents.example:443/a2a', headers)).toBe(true);
    expect(at(card, 'agents.example:443', headers, 'GRPC')).toBe(true);
    for (const [url, binding] of [
      ['https://agents.example:8443/a2a', 'JSONRPC'],
      ['https://agents.example:8443', 'GRPC'],
      ['agents.example:8443', 'GRPC'],
    ] as const) {
      expect(at(card, url, headers, binding), url).toBe(false);
      expect(at(card, url, headers, binding, { pin: 'f'.repeat(64) }), url).toBe(true);
      expect(at(card, url, headers, binding, { lookedAt: true }), url).toBe(true);
      expect(at(card, url, {}, binding), url).toBe(true);
      // What a file demands of the agent is no secret.
      expect(at(card, url, { 'a2a-extensions': 'urn:x', 'x-a2a-extensions': 'urn:x' }, binding), url).toBe(true);
    }
    // gRPC has no other way; whoever asks for it knows that, and where it is allowed that is said.
    expect(at(card, 'agents.example:8443', headers, 'GRPC', { binding: 'GRPC' })).toBe(true);
    expect(at(card, 'other.example:8443', headers, 'GRPC', { binding: 'GRPC' })).toBe(false);
    expect(at(card, 'https://agents.example:8443/a2a', headers, 'JSONRPC', { binding: 'JSONRPC' })).toBe(false);
    expect(at('http://127.0.0.1:5031/card', 'http://127.0.0.1:5031/a2a', headers)).toBe(true);
    expect(at('http://127.0.0.1:5031/card', 'http://127.0.0.1:5032/a2a', headers)).toBe(false);
    expect(at('http://127.0.0.1:5031/card', 'http://localhost:5031/a2a', headers)).toBe(false);
    expect(at('http://agents.example/card', 'https://agents.example/a2a', headers)).toBe(false);
  });
});

describe('a card inside', () => {
  const chosen = (card: string, url: string, more: Partial<CardSource> = {}): boolean =>
    chooseInterface(AgentCard.fromJSON(goodCard(url)), source(card, more), false).ok;
  it('does not lead to another place inside, unless somebody has looked', () => {
    expect(chosen('http://10.0.0.5/card', 'http://10.0.0.5:81/a2a')).toBe(true);
    expect(chosen('http://10.0.0.5/card', 'http://127.0.0.1/a2a')).toBe(false);
    expect(chosen('http://10.0.0.5/card', 'http://10.0.0.6/a2a')).toBe(false);
    expect(chosen('http://10.0.0.5/card', 'http://10.0.0.6/a2a', { pin: 'f'.repeat(64) })).toBe(true);
    expect(chosen('http://localhost:1/card', 'http://127.0.0.1:2/a2a')).toBe(true);
  });
});

describe('a server that takes its time', () => {
  it.each<readonly [string, RequestListener]>([
    ['says nothing', () => undefined],
    [
      'sends headers only',
      (_request, response) => void response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders(),
    ],
    [
      'trickles',
      (_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        const drop = setInterval(() => response.write(' '), 1);
        response.once('close', () => clearInterval(drop));
      },
    ],
    ['leads on slowly', (_request, response) => void setImmediate(() => response.writeHead(302, { location: '/next' }))],
  ])('%s', async (_what, listener) => {
    await using server = await cardServer(listener);
    const outcome = await readCard(source(server.url), cardPorts({ clock: hurried }));
    expect(outcome).toMatchObject({ state: 'unreachable', reason: expect.stringContaining('(cardMs)') });
  });

  it('is left when whoever asked does not want to know any more', async () => {
    const leave = new AbortController();
    await using server = await cardServer(() => leave.abort());
    expect(await readCard(source(server.url), cardPorts({ signal: leave.signal }))).toMatchObject({ state: 'unreachable' });
  });

  it('breaks off', async () => {
    await using server = await cardServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
      response.write('{"name":', () => response.destroy());
    });
    expect(await readCard(source(server.url), cardPorts())).toMatchObject({ state: 'unreachable' });
  });
});

describe('any JSON as a card', () => {
  const leaf = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.integer(), fc.boolean(), fc.constant(null), fc.double());
  const value = fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      leaf as fc.Arbitrary<Json>,
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(fc.string(), tie('value'), { maxKeys: 4 }),
    ),
  })).value;
  const keys = [
    ...Object.keys(goodCard(here)),
    ...Object.keys(olderCard(here)),
    'signatures',
    'supported_interfaces',
    '__proto__',
  ];
  /** A good card with some of it replaced by anything. */
  const spoiled = fc
    .tuple(fc.constantFrom(goodCard(here), olderCard(here)), fc.dictionary(fc.constantFrom(...keys), value, { maxKeys: 5 }))
    .map(([card, changes]): Json => ({ ...card, ...changes }));

  it(
    'ends with an outcome',
    async () => {
      let body: Json = null;
      const states = new Set<string>();
      await using server = await cardServer((request, response) => answers(body as JsonObject)(request, response));
      await fc.assert(
        fc.asyncProperty(fc.oneof({ weight: 1, arbitrary: value }, { weight: 4, arbitrary: spoiled }), async (card) => {
          body = card;
          const outcome = await readCard(source(server.url), cardPorts());
          states.add(outcome.state);
          if (outcome.state !== 'read') expect(outcome.reason.length).toBeLessThanOrEqual(limits.cardReasonCharacters);
        }),
        { numRuns: 1_000 },
      );
      expect([...states].sort()).toEqual(['read', 'refused']);
    },
    TEST_MS,
  );
});
