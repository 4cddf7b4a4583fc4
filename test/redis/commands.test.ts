/** The command line with a Redis: a process is killed between the ledger and Redis, and another catches up; doctor tries it. */
import { expect, it } from 'vitest';
import { createTestProject, objectIn } from '../e2e/support-project.ts';
import { describeWithRedis } from '../support/redis/redis-program.ts';
import { startRedis } from '../support/redis/redis-server.ts';

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
