/** Links to a console that is served: made beside it, once each; logins outlive the server, until somebody ends them. */
import { chmod, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createTestProject, type TestProject } from './support-project.ts';

const serve = async (project: TestProject) => {
  const serving = project.start(['serve', '--port', '0']);
  await serving.says('HTTP API:');
  return serving;
};

const link = async (project: TestProject, ...more: string[]): Promise<URL> =>
  new URL((await project.look('console', ...more)).out.trim());

const logIn = async (address: URL) => {
  const code = /^#([^/]+)/.exec(address.hash)?.[1] ?? '';
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(new URL('/api/v1/login', address), { method: 'POST', headers, body: JSON.stringify({ code }) });
  const said = (await answer.json()) as { name?: string; key?: string };
  return { status: answer.status, ...said, cookie: answer.headers.get('set-cookie')?.split(';')[0] ?? '' };
};

const ask = async (address: URL, path: string, cookie: string, more: RequestInit = {}): Promise<number> =>
  (await fetch(new URL(`/api/v1/${path}`, address), { ...more, headers: { cookie, ...more.headers } })).status;

describe('troupe console', () => {
  it('makes links that log in once each; a login outlives its server and ends when somebody leaves, or ends all', async () => {
    await using project = await createTestProject();
    expect(await project.look('console')).toMatchObject({ code: 2, err: expect.stringContaining('serve --open') });
    const first = await serve(project);
    const address = await link(project, '--page', '/answer/run_1/turn%2F1');
    expect(address.hash).toMatch(/^#[\w.-]+\/answer\/run_1\/turn%2F1$/);
    const one = await logIn(address);
    const other = await logIn(await link(project));
    expect([one.status, one.name, other.status, (await logIn(address)).status]).toEqual([200, 'user', 200, 401]);
    const unused = await link(project);
    first.kill('SIGKILL');
    await first.ended;
    // Nobody answers where the note of the one that was killed leads.
    expect(await project.look('console')).toMatchObject({ code: 2 });
    const second = await serve(project);
    const there = await link(project);
    expect((await logIn(new URL(unused.hash, there))).status).toBe(401);
    expect(await ask(there, 'me', one.cookie)).toBe(200);
    const left = { method: 'POST', headers: { 'x-troupe-key': one.key ?? '' } };
    expect(await ask(there, 'logout', one.cookie, left)).toBe(200);
    second.kill('SIGINT');
    expect((await second.ended).code).toBe(0);
    const third = await serve(project);
    const last = await link(project);
    expect([await ask(last, 'me', one.cookie), await ask(last, 'me', other.cookie)]).toEqual([401, 200]);
    expect((await project.look('console', '--end-logins')).code).toBe(0);
    expect(await ask(last, 'me', other.cookie)).toBe(401);
    const again = await logIn(await link(project));
    expect(await ask(last, 'me', again.cookie)).toBe(200);
    third.kill('SIGINT');
    const { out, err } = await third.ended;
    for (const secret of [again.cookie.split('=')[1] ?? '', again.key ?? '', last.hash.slice(1)])
      expect(out + err).not.toContain(secret);
  });

  it('keeps what it signs with to the user, and makes another when it is not whole', async () => {
    await using project = await createTestProject();
    const serving = await serve(project);
    const before = await logIn(await link(project));
    const user = join(project.folder, '.config', 'troupe', 'console');
    const [name = ''] = await readdir(user);
    const secret = join(user, name, 'logins', 'secret');
    const modes = await Promise.all([join(user, name, 'logins'), secret].map(async (path) => (await stat(path)).mode & 0o777));
    expect(modes).toEqual([0o700, 0o600]);
    await chmod(secret, 0o600);
    await writeFile(secret, 'cut');
    const address = await link(project);
    expect(await ask(address, 'me', before.cookie)).toBe(401);
    const after = await logIn(address);
    expect([await ask(address, 'me', after.cookie), (await readFile(secret)).length]).toEqual([200, 32]);
    for (const page of ['//evil.example', 'inbox', '/a b'])
      expect(await project.look('console', '--page', page)).toMatchObject({ code: 2, out: '' });
    serving.kill('SIGINT');
    await serving.ended;
  });
});
