/** Behind a real nginx with TLS, as docs/http.md sets it up: who is let in, the cookie, and streams that nobody holds back. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { writeNotes } from '../../test/conformance/ledger/support.ts';
import { OWNER_TOKEN, startApi } from '../../test/support/http/api-server.ts';
import { describeWithNginx, freePort, type Nginx, PROXIED_NAME, startNginx } from '../../test/support/http/nginx.ts';

/** What the page tells people to write. */
const page = readFileSync(join(import.meta.dirname, '../../docs/http.md'), 'utf8');
const shown = /location \/ \{\n(?<lines>.*?)\n *\}/s.exec(page)?.groups?.['lines'] ?? '';
const LINES = shown
  .split('\n')
  .map((line) => line.trim())
  .filter((line) => !line.startsWith('proxy_pass'));

const login = async (proxy: Nginx, path: string, headers: Record<string, string>) => {
  const body = JSON.stringify({ code: path.split('#')[1] });
  const answer = await proxy.ask('/api/v1/login', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });
  await answer.ended;
  return answer;
};

describeWithNginx('behind a proxy with TLS', () => {
  it.each([
    ['as the page has it', LINES],
    ['that does not pass the name on', []],
  ])('%s, people log in with a cookie for HTTPS only, and nobody else does', async (_name, lines) => {
    expect(LINES.length).toBeGreaterThan(2);
    const port = await freePort();
    await using server = await startApi({ url: `https://${PROXIED_NAME}:${port}` });
    await using proxy = await startNginx(server.origin, port, lines);
    const { origin } = proxy;
    // Another page, another port of the same host, and one without TLS; whatever they say of where they come from.
    for (const foreign of ['https://evil.example', `https://${PROXIED_NAME}`, `http://${PROXIED_NAME}:${port}`]) {
      const told = { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https', forwarded: 'host=evil.example' };
      const refused = await login(proxy, server.loginPath(), { origin: foreign, ...told });
      expect([foreign, [401, 403].includes(refused.status), refused.headers['set-cookie']]).toEqual([foreign, true, undefined]);
    }
    const answer = await login(proxy, server.loginPath(), { origin });
    expect([answer.status, answer.text()]).toEqual([200, expect.stringContaining('"key"')]);
    const [set = ''] = [answer.headers['set-cookie'] ?? []].flat();
    expect(set).toMatch(/^troupe_login=.*; HttpOnly; SameSite=Strict; Path=\/; .*; Secure$/);
    const cookie = set.split(';', 1)[0] ?? '';
    const me = await proxy.ask('/api/v1/me', { headers: { cookie, origin, 'sec-fetch-site': 'same-origin' } });
    await me.ended;
    expect([me.status, me.text()]).toEqual([200, expect.stringContaining('"owner"')]);
    const foreign = await proxy.ask('/api/v1/me', { headers: { cookie, origin: 'https://evil.example' } });
    expect(foreign.status).toBe(403);
    foreign.stop();
  });

  it('a stream comes event by event, and a name that nobody told of is refused', async () => {
    const port = await freePort();
    await using server = await startApi({ url: `https://${PROXIED_NAME}:${port}` });
    await using proxy = await startNginx(server.origin, port, LINES);
    const writer = await server.run();
    const authorization = `Bearer ${OWNER_TOKEN}`;
    const stream = await proxy.ask(`/api/v1/sessions/${writer.session}/stream`, { headers: { authorization } });
    expect(stream.status).toBe(200);
    for (let written = 2; written <= 4; written += 1) {
      await writeNotes(writer, 1);
      // Before anything else is written.
      await expect.poll(() => stream.text()).toContain(`id: ${writer.session}.${written}\n`);
    }
    stream.stop();
    const headers = { authorization, host: 'evil.example', 'x-forwarded-host': PROXIED_NAME };
    const other = await proxy.ask('/api/v1/me', { headers });
    expect(other.status).toBe(403);
    other.stop();
  });
});
