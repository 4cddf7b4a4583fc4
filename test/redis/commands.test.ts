/** The command line with a Redis: a process is killed between the ledger and Redis, and another catches up; doctor tries it. */
import { expect, it } from 'vitest';
import { createTestProject, objectIn } from '../e2e/support-project.ts';
import { describeWithRedis } from '../support/redis/redis-program.ts';
import { CERTIFICATE, startRedis } from '../support/redis/redis-server.ts';

describeWithRedis('commands and Redis', () => {
  it('what a process that is killed has not written, the next process writes', async () => {
    await using server = await startRedis();
    await using project = await createTestProject();
    await project.write('agents/desk.md', '---\nname: desk\n---\nYou help.\n');
    await project.script({ text: 'It is noon.' });
    project.env['TROUPE_REDIS'] = server.url;

    server.freeze();
    const run = project.start(['run', 'desk', 'What time is it?']);
    await expect.poll(async () => (await project.look('tasks', 'list', '--state', 'completed')).out).toContain('It is noon.');
    run.kill('SIGKILL');
    await run.ended;
    server.thaw();
    const task = String(objectIn((await project.look('tasks', 'show', 'last', '--json')).out)['id']);
    expect(await server.ask('KEYS', '*')).toEqual([]);

    const serve = project.start(['serve', '--port', '0']);
    await expect.poll(async () => await server.ask('GET', `task:${task}`)).toContain('"state":"completed"');
    expect(objectIn(String(await server.ask('GET', `task:${task}`)))).toEqual(
      objectIn((await project.look('tasks', 'show', task, '--json')).out),
    );
    serve.kill('SIGTERM');
    await serve.ended;
  });

  it('the copies are listed and shown, those of other ledgers too, and nothing in them reaches the terminal raw', async () => {
    await using server = await startRedis();
    await using project = await createTestProject();
    expect(await project.look('tasks', 'list', '--stored')).toMatchObject({
      code: 2,
      err: expect.stringContaining('tasks.redis'),
    });
    project.env['TROUPE_REDIS'] = server.url;
    const status = { state: 'Rejected', message: { role: 'assistant', content: 'No\u001b[2J.' }, timestamp: 'to\u001b[2Jday' };
    await server.ask('SET', 'task:their-1', JSON.stringify({ Id: 'their-1', SessionId: 's\u001b[2J', Status: status }));
    const listed = await project.look('tasks', 'list', '--stored');
    expect(listed.out).toMatch(/^their-1 +\? +unknown +No\.$/m);
    const shown = await project.look('tasks', 'show', 'their-1', '--stored');
    expect(shown.out).toMatch(/^state +unknown since today$/m);
    expect(listed.out + shown.out).not.toContain('\u001b');
    expect(objectIn((await project.look('tasks', 'show', 'their-1', '--stored', '--json')).out)).toMatchObject({ id: 'their-1' });
    expect((await project.look('tasks', 'show', 'their-2', '--stored')).code).toBe(2);
    await server.stop();
    expect(await project.look('tasks', 'list', '--stored')).toMatchObject({
      code: 1,
      err: expect.stringContaining('ECONNREFUSED'),
    });
  });

  it('TLS is spoken with whom the certificate is trusted of', async () => {
    await using server = await startRedis({ tls: true });
    await using project = await createTestProject();
    project.env['TROUPE_REDIS'] = server.url;
    const redis = async (): Promise<string | undefined> =>
      (await project.troupe('doctor')).out.split('\n').find((line) => line.includes('redis:'));
    expect(await redis()).toMatch(/^broken +redis: rediss:.*self.signed/i);
    project.env['NODE_EXTRA_CA_CERTS'] = CERTIFICATE;
    expect(await redis()).toMatch(/^ok +redis: takes copies of tasks at rediss:/);
  });

  it('doctor says whether it is there', async () => {
    const password = 'p4ss-of-tests-9c1d';
    await using server = await startRedis({ password });
    await using project = await createTestProject();
    project.env['TROUPE_REDIS'] = server.url;
    const redis = async (): Promise<string | undefined> =>
      (await project.look('doctor')).out.split('\n').find((line) => line.includes('redis'));
    expect(await redis()).toMatch(/^ok +redis: takes copies of tasks at redis:\/\/127/);
    project.env['TROUPE_REDIS'] = `redis://:not-${password}@127.0.0.1:${server.port}`;
    expect(await redis()).toMatch(/^broken +redis: redis:\/\/127.*WRONGPASS/);
    await server.stop();
    expect(await redis()).toMatch(/^broken +redis: .*ECONNREFUSED/);
    expect(await redis()).not.toContain(password);
  });
});
