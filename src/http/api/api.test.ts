/** The door of the API on a real port: who gets in, with what, and what others can make a browser do in somebody's name. */
import { request } from 'node:http';
import { describe, expect, it } from 'vitest';
import { handClock } from '../../../test/support/hand-clock.ts';
import { type ApiServer, OWNER_TOKEN, sendJson, startApi, tokenOf } from '../../../test/support/http/api-server.ts';
import { checkOf } from '../../../test/support/http/described.ts';
import { limits } from '../../base/limits.ts';
import type { Operation } from '../described/openapi.ts';

const me = '/api/v1/me';

interface LoggedIn {
  readonly cookie: string;
  readonly key: string;
}

async function logIn(server: ApiServer): Promise<LoggedIn> {
  const code = server.loginPath().split('#')[1];
  const response = await server.ask('/api/v1/login', { ...sendJson({ code }), token: '' });
  expect(response.status).toBe(200);
  const set = response.headers.get('set-cookie') ?? '';
  expect(set).toMatch(/^troupe_login=[\w.-]+; HttpOnly; SameSite=Strict; Path=\/; Expires=[^;]+$/);
  const said = (await response.json()) as { key: string; name: string };
  expect(said.name).toBe('owner');
  expect(set).not.toContain(said.key);
  return { cookie: set.split(';')[0] ?? '', key: said.key };
}

/** A request as a browser would send it: `fetch` here sets some headers itself. */
function sendRaw(server: ApiServer, method: string, path: string, headers: Record<string, string>, body = ''): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(new URL(path, server.origin), { method, headers }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0));
    });
    sent.on('error', reject).end(body);
  });
}

describe('the door', () => {
  it('knows who has a token, and wants one also where nobody set one up', async () => {
    await using server = await startApi({ callers: { vera: { name: 'vera', sees: 'everything', role: 'viewer' } } });
    expect(await (await server.ask(me)).json()).toEqual({ name: 'owner', role: 'owner', version: '0.0.0' });
    expect(await (await server.ask(me, { token: tokenOf('vera') })).json()).toMatchObject({ name: 'vera', role: 'viewer' });
    for (const token of ['', 'wrong-token-0123456789', `${OWNER_TOKEN}x`]) {
      const refused = await server.ask(me, { token });
      expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    }
  });

  it('lets a browser in with a code that works once, and out again', async () => {
    await using server = await startApi();
    const code = server.loginPath().split('#')[1];
    const { cookie, key } = await logIn(server);
    expect((await server.ask(me, { token: '', headers: { cookie } })).status).toBe(200);
    expect((await server.ask('/api/v1/login', { ...sendJson({ code: code?.slice(1) }), token: '' })).status).toBe(401);
    const made = await server.ask('/api/v1/login-codes', { method: 'POST', token: '', headers: { cookie, 'x-troupe-key': key } });
    const { code: second } = (await made.json()) as { code: string };
    expect((await server.ask('/api/v1/login', { ...sendJson({ code: second }), token: '' })).status).toBe(200);
    expect((await server.ask('/api/v1/login', { ...sendJson({ code: second }), token: '' })).status).toBe(401);
    const left = await server.ask('/api/v1/logout', { method: 'POST', token: '', headers: { cookie, 'x-troupe-key': key } });
    expect([left.status, left.headers.get('set-cookie')]).toEqual([200, expect.stringContaining('Max-Age=0')]);
    expect((await server.ask(me, { token: '', headers: { cookie } })).status).toBe(401);
  });

  it('takes no write from a cookie alone, and nothing at all from a page of another origin', async () => {
    await using server = await startApi();
    const { cookie, key } = await logIn(server);
    const host = new URL(server.origin).host;
    const write = (headers: Record<string, string>) => sendRaw(server, 'POST', '/api/v1/login-codes', { cookie, ...headers });
    const read = (headers: Record<string, string>) => sendRaw(server, 'GET', me, { cookie, ...headers });
    expect(await write({ 'x-troupe-key': key, origin: server.origin })).toBe(201);
    expect(await write({})).toBe(403);
    expect(await write({ 'x-troupe-key': 'x' })).toBe(403);
    expect(await read({ origin: server.origin, 'sec-fetch-site': 'same-origin' })).toBe(200);
    // Another port of this host is another origin, to which a browser sends the cookie all the same.
    const others = [
      'http://127.0.0.1:1',
      'http://localhost',
      `http://localhost:${host.split(':')[1]}`,
      'null',
      'https://evil.example',
    ];
    for (const origin of others) {
      expect([origin, await write({ 'x-troupe-key': key, origin })]).toEqual([origin, 403]);
      expect([origin, await read({ origin })]).toEqual([origin, 403]);
    }
    for (const site of ['cross-site', 'same-site']) expect(await read({ 'sec-fetch-site': site })).toBe(403);
    // A name that somebody else made lead here.
    expect(await read({ host: `rebound.example:${host.split(':')[1]}` })).toBe(403);
    const foreign = await server.ask(me, { headers: { origin: 'https://evil.example' } });
    expect([foreign.status, await foreign.json()]).toMatchObject([403, { error: { code: 'foreign_page' } }]);
  });

  it('swaps no code for a page of another origin', async () => {
    await using server = await startApi();
    const body = JSON.stringify({ code: server.loginPath().split('#')[1] });
    const json = { 'content-type': 'application/json' };
    expect(await sendRaw(server, 'POST', '/api/v1/login', { ...json, origin: 'http://127.0.0.1:1' }, body)).toBe(401);
    expect(await sendRaw(server, 'POST', '/api/v1/login', { ...json, 'sec-fetch-site': 'cross-site' }, body)).toBe(401);
    expect(await sendRaw(server, 'POST', '/api/v1/login', { 'content-type': 'text/plain' }, body)).toBe(415);
    expect(await sendRaw(server, 'POST', '/api/v1/login', { ...json, origin: server.origin }, body)).toBe(200);
  });

  it('lets logins end', async () => {
    const clock = handClock();
    await using server = await startApi({ clock });
    const { cookie } = await logIn(server);
    const late = server.loginPath().split('#')[1];
    clock.advance(limits.loginCodeMs);
    expect((await server.ask('/api/v1/login', { ...sendJson({ code: late }), token: '' })).status).toBe(401);
    clock.advance(limits.loginMs);
    expect((await server.ask(me, { token: '', headers: { cookie } })).status).toBe(401);
  });

  it('says what is wrong with a request, and never what is wrong inside', async () => {
    await using server = await startApi();
    const login = (options: object) => server.ask('/api/v1/login', { method: 'POST', token: '', ...options });
    expect((await login({ body: '{', headers: { 'content-type': 'application/json' } })).status).toBe(400);
    // Other bytes than text would be read as other words.
    const bytes = Buffer.from('{"code": "\xe9"}', 'latin1');
    const latin = await login({ body: bytes, headers: { 'content-type': 'application/json' } });
    expect([latin.status, await latin.json()]).toMatchObject([400, { error: { message: 'The body is not UTF-8.' } }]);
    expect(await (await login(sendJson({ code: 'x', more: 1 }))).json()).toMatchObject({ error: { code: 'invalid' } });
    const large = await login(sendJson({ code: 'x'.repeat(limits.httpBodyBytes) }));
    expect([large.status, await large.json()]).toMatchObject([413, { error: { code: 'too_large' } }]);
    expect((await server.ask(me, { headers: { 'idempotency-key': 'x'.repeat(201) } })).status).toBe(400);
    expect(await (await server.ask('/api/v1/nothing')).json()).toMatchObject({ error: { code: 'not_found' } });
    expect((await server.ask(me, { method: 'DELETE' })).status).toBe(404);
  });
});

describe('the description', () => {
  it('is OpenAPI 3.1: every operation once, every parameter declared, every schema one, every reference somewhere', async () => {
    await using server = await startApi();
    const text = await (await server.ask('/openapi.json', { token: '' })).text();
    const document = JSON.parse(text) as Document31;
    expect(Object.keys(document).every((name) => /^(openapi|info|paths|components)$/.test(name))).toBe(true);
    const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method, ...operation })),
    );
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
    const schemas: unknown[] = Object.values(document.components.schemas);
    for (const { path, method, parameters, requestBody, responses, security = [], summary } of operations) {
      expect([path, method, summary.length > 0, /^(get|post|delete)$/.test(method)]).toEqual([path, method, true, true]);
      const inPath = parameters.filter((one) => one.in === 'path').map(({ name, required }) => [name, required]);
      expect([path, inPath]).toEqual([path, [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => [name, true])]);
      expect(new Set(parameters.map((one) => `${one.in} ${one.name}`)).size).toBe(parameters.length);
      for (const way of security)
        for (const name of Object.keys(way)) expect(document.components.securitySchemes).toHaveProperty(name);
      const answers = Object.entries(responses);
      expect([
        path,
        answers.every(([status, { description }]) => /^([2-5]\d\d|default)$/.test(status) && description !== ''),
      ]).toEqual([path, true]);
      const contents = [requestBody, ...answers.map(([, answer]) => answer)].flatMap((one) => Object.values(one?.content ?? {}));
      schemas.push(
        ...parameters.map(({ schema }) => schema),
        ...contents.flatMap(({ schema }) => (schema === undefined ? [] : [schema])),
      );
    }
    expect(schemas.length).toBeGreaterThan(20);
    // `#/components/…` is of the document; everything else has to stand on its own.
    for (const [index, schema] of schemas.entries()) {
      const own = JSON.parse(JSON.stringify(schema).replaceAll('#/components/schemas/Error', '#')) as object;
      expect(() => checkOf(`schema ${index}`, own)).not.toThrow();
    }
    for (const [, ref] of text.matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g))
      expect(document.components.schemas).toHaveProperty(ref ?? '');
  });
});

interface Document31 {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, Operation & { readonly summary: string; readonly security?: readonly object[] }>>>
  >;
  readonly components: { readonly schemas: object; readonly securitySchemes: object };
}

describe('the pages', () => {
  it('describe every route, and run and load nothing of others', async () => {
    await using server = await startApi();
    const described = (await (await server.ask('/openapi.json', { token: '' })).json()) as { openapi: string; paths: object };
    expect(described).toMatchObject({
      components: { securitySchemes: { login: { type: 'apiKey', in: 'cookie', name: 'troupe_login' } } },
      paths: {
        [me]: { get: { security: [{ token: [] }, { login: [] }], responses: { '200': {} } } },
        '/api/v1/login-codes': { post: { security: [{ token: [] }, { login: [], key: [] }], responses: { '201': {} } } },
      },
    });
    expect(described.openapi).toBe('3.1.1');
    expect(Object.keys(described.paths)).toContain('/api/v1/sessions/{session}/stream');
    const page = await server.ask('/reference', { token: '' });
    const text = await page.text();
    for (const path of Object.keys(described.paths)) expect(text).toContain(path);
    // Parameters with their bounds, bodies, answers and refusals.
    for (const words of ['<h3>Parameters</h3>', '<h3>Body</h3>', 'Answer 201', 'expiresAt: string', 'at least 1', '429'])
      expect(text).toContain(words);
    expect(text).not.toMatch(/https?:\/\//);
    expect(page.headers.get('content-security-policy')).toBe(
      "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; style-src 'self'",
    );
    const login = await server.ask('/login', { token: '' });
    expect(login.headers.get('content-security-policy')).toContain("script-src 'self'; connect-src 'self'");
    expect(await login.text()).not.toMatch(/<script>|onload=/);
    expect((await server.ask('/login.js', { token: '' })).headers.get('x-content-type-options')).toBe('nosniff');
  });
});
