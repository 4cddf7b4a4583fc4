/** The app on a real port: who gets in, what is refused, and what a stranger cannot do to it. */
import { connect, type Socket } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type FixtureServer, startFixture } from '../../test/support/mcp/fixture-http.ts';
import { createFixtureNeeds } from '../../test/support/mcp/fixture-needs.ts';
import { systemClock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import { listen } from './listen.ts';

const TOKEN = 'user-token-0123456789';
const OTHER = 'alice-token-0123456789';
const tokens = [
  { name: 'user', token: TOKEN },
  { name: 'alice', token: OTHER },
];

const initialize = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
});

function post(server: FixtureServer, body: string, headers: Record<string, string> = {}): Promise<Response> {
  const all = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers };
  return fetch(server.url, { method: 'POST', headers: all, body });
}

/** What the server says to bytes that no library would send. */
function say(server: FixtureServer, bytes: string | Uint8Array): { readonly socket: Socket; readonly heard: Promise<string> } {
  const socket = connect(server.port, '127.0.0.1');
  let text = '';
  const heard = new Promise<string>((resolve) => {
    socket.setEncoding('utf8').on('data', (part: string) => (text += part));
    socket.on('close', () => resolve(text)).on('error', () => resolve(text));
  });
  socket.write(bytes);
  return { socket, heard };
}

const raw = (host: string, more = ''): string => `GET /healthz HTTP/1.1\r\nHost: ${host}\r\n${more}HttpConnection: close\r\n\r\n`;

describe('the app', () => {
  it('tells whether it is well, and nothing else', async () => {
    await using server = await startFixture(createFixtureNeeds());
    const healthy = await fetch(new URL('/healthz', server.url));
    expect([healthy.status, await healthy.json()]).toEqual([200, { status: 'ok', version: '0.0.0' }]);
    expect(healthy.headers.get('x-content-type-options')).toBe('nosniff');
    expect(healthy.headers.get('cache-control')).toBe('no-store');
    expect(healthy.headers.get('access-control-allow-origin')).toBe(null);
    expect((await fetch(new URL('/elsewhere', server.url))).status).toBe(404);
  });

  it('answers only under its own name, and no pages of others', async () => {
    await using server = await startFixture(createFixtureNeeds());
    const statusOf = async (text: string): Promise<string> => (await say(server, text).heard).slice(9, 12);
    expect(await statusOf(raw('127.0.0.1'))).toBe('200');
    expect(await statusOf(raw('evil.example'))).toBe('403');
    expect(await statusOf(raw('localhost', 'Origin: https://evil.example\r\n'))).toBe('403');
    expect(await statusOf(raw('localhost', 'Origin: http://localhost:1\r\n'))).toBe('200');
    expect(await statusOf('GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n')).toBe('400');
    expect((await post(server, initialize, { origin: 'https://evil.example' })).status).toBe(403);
  });

  it('lets in who has a token, each under its own name', async () => {
    const needs = createFixtureNeeds();
    await using server = await startFixture(needs, { tokens });
    const refused = await post(server, initialize);
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    expect((await post(server, initialize, { authorization: 'Bearer wrong-token-0123456789' })).status).toBe(401);
    expect((await post(server, initialize, { authorization: `Bearer ${TOKEN}` })).status).toBe(200);
    const alice = await server.client('2026-07-28', OTHER);
    await alice.callTool({ name: 'poll_assistant', arguments: { process_id: 'run_1' } });
    expect(needs.calls[0]?.caller).toEqual({ kind: 'client', name: 'alice' });
  });

  it('reads bodies up to a limit, also when nobody says how long they are', async () => {
    await using server = await startFixture(createFixtureNeeds());
    expect((await post(server, 'x'.repeat(limits.httpBodyBytes + 1))).status).toBe(413);
    const chunks = new ReadableStream({
      pull(controller) {
        controller.enqueue(new Uint8Array(1024 * 1024).fill(32));
      },
    });
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const endless = await fetch(server.url, { method: 'POST', headers, body: chunks, duplex: 'half' }).catch(() => undefined);
    expect([413, undefined]).toContain(endless?.status);
    expect((await post(server, initialize)).status).toBe(200);
  });

  it('closes on whoever is slow to say what they want', async () => {
    await using server = await startFixture(createFixtureNeeds(), { headersMs: 200 });
    const { heard } = say(server, 'POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Le');
    expect(await heard).toMatch(/^(HTTP\/1.1 408|$)/);
    const slow = say(
      server,
      'POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{',
    );
    expect(await slow.heard).toMatch(/^(HTTP\/1.1 4\d\d|$)/);
    // Whoever is quick enough is answered; on a slow machine that may take some attempts.
    await expect.poll(async () => (await post(server, initialize)).status).toBe(200);
  });

  it('survives any bytes and any JSON', async () => {
    await using server = await startFixture(createFixtureNeeds());
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
        const { socket, heard } = say(server, bytes);
        socket.end();
        expect(await heard).not.toMatch(/^HTTP\/1.1 5/);
      }),
      { numRuns: 60 },
    );
    await fc.assert(
      fc.asyncProperty(fc.json(), fc.constantFrom(...HEADERS), async (body, headers) => {
        const response = await post(server, body, headers);
        expect(response.status).toBeLessThan(500);
        expect(await response.text()).not.toMatch(/node_modules|\.ts:\d/);
      }),
      { numRuns: 100 },
    );
    expect((await post(server, initialize)).status).toBe(200);
  });
});

const HEADERS: readonly Record<string, string>[] = [
  {},
  { 'mcp-protocol-version': '2026-07-28' },
  { 'mcp-protocol-version': '1999-01-01' },
  { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'list_assistant' },
  { 'content-type': 'text/plain' },
];

describe('the port', () => {
  const fetchNothing = (): Response => new Response('ok');

  it('that is in use is named, with what to do', async () => {
    const first = await listen({ fetch: fetchNothing, host: '127.0.0.1', port: 0, clock: systemClock });
    const second = listen({ fetch: fetchNothing, host: '127.0.0.1', port: first.port, clock: systemClock });
    await expect(second).rejects.toMatchObject({ code: 'usage', fix: expect.stringContaining('--port') });
    await first.stop();
  });

  it('of an address that is not ours is refused', async () => {
    const wrong = listen({ fetch: fetchNothing, host: '203.0.113.1', port: 0, clock: systemClock });
    await expect(wrong).rejects.toMatchObject({ code: 'usage', fix: expect.stringContaining('--host') });
  });

  it('has room for who comes, however many hold connections open and say nothing', async () => {
    const server = await listen({ fetch: fetchNothing, host: '127.0.0.1', port: 0, clock: systemClock });
    const idle = await Promise.all(Array.from({ length: limits.httpConnections * 2 }, () => connected(server.port)));
    expect(await (await fetch(server.origin)).text()).toBe('ok');
    await expect.poll(() => idle.filter((socket) => !socket.closed).length).toBeLessThanOrEqual(limits.httpConnections);
    for (const socket of idle) socket.destroy();
    await server.stop();
  });

  it('gives up no request that is under way for those who only hold connections open', async () => {
    let answer = (_response: Response): void => undefined;
    const slow = new Promise<Response>((resolve) => {
      answer = resolve;
    });
    const server = await listen({ fetch: () => slow, host: '127.0.0.1', port: 0, clock: systemClock });
    const asked = fetch(server.origin);
    const idle = await Promise.all(Array.from({ length: limits.httpConnections * 2 }, () => connected(server.port)));
    answer(new Response('late'));
    expect(await (await asked).text()).toBe('late');
    for (const socket of idle) socket.destroy();
    await server.stop();
  });
});

function connected(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket));
    socket.on('error', reject);
    socket.on('data', () => undefined);
  });
}
