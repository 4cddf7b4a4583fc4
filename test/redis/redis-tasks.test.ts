/** Copies of tasks in a real Redis: newer ones replace older ones and nothing else does, whoever writes and whatever is there. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { limits } from '../../src/base/limits.ts';
import { readTask } from '../../src/projections/tasks/task-json.ts';
import { taskStates } from '../../src/projections/tasks/task-states.ts';
import type { StoredTask } from '../../src/tasks/port.ts';
import { parseRedisAddress } from '../../src/tasks/redis/address.ts';
import { createRedisTasks, type RedisSettings, type RedisTasks } from '../../src/tasks/redis/redis-tasks.ts';
import { describeWithRedis } from '../support/redis/redis-program.ts';
import { type RedisServer, startRedis } from '../support/redis/redis-server.ts';

const settings = (url: string, more: Partial<RedisSettings> = {}): RedisSettings => ({
  ...{ address: parseRedisAddress(url, {}), key: 'task:{id}', ttlMs: limits.taskTtlMs },
  ...more,
});

async function withTasks(use: (tasks: RedisTasks, server: RedisServer) => Promise<void>, more?: Partial<RedisSettings>) {
  await using server = await startRedis();
  const tasks = createRedisTasks(settings(server.url, more), systemClock);
  try {
    await use(tasks, server);
  } finally {
    tasks.close();
  }
}

const taskAt = (position: number, id = 'run_a', content = 'Hello'): StoredTask => ({
  task: {
    ...{ id, sessionId: 'ses_a', status: { state: 'working', message: { role: 'assistant', content } } },
    metadata: { ledgerPosition: position },
  },
  position,
});

describeWithRedis('copies of tasks in Redis', () => {
  it('are what was saved, for as long as is set from the last write', async () => {
    await withTasks(async (tasks, server) => {
      expect(await tasks.load('run_a')).toBeUndefined();
      expect(await tasks.save(taskAt(3))).toEqual({ kind: 'saved' });
      expect(await tasks.load('run_a')).toEqual(taskAt(3));
      expect(readTask(String(await server.ask('GET', 'task:run_a')))).toMatchObject({ ok: true, value: { id: 'run_a' } });
      expect(Number(await server.ask('PTTL', 'task:run_a'))).toBeGreaterThan(limits.taskTtlMs - 60_000);
      await server.ask('PEXPIRE', 'task:run_a', '50000');
      await tasks.save(taskAt(4));
      expect(Number(await server.ask('PTTL', 'task:run_a'))).toBeGreaterThan(limits.taskTtlMs - 60_000);
    });
  });

  it('are found and read beside what others keep under such names', async () => {
    await withTasks(async (tasks, server) => {
      await server.ask('LPUSH', 'task:run_list', 'x');
      await server.ask('HSET', 'task:run_hash', 'a', 'b');
      await server.ask('SET', 'task:run_text', 'no task');
      await tasks.save(taskAt(3));
      expect((await tasks.list({ limit: 5 })).tasks).toEqual([taskAt(3)]);
      expect(await tasks.load('run_list')).toBeUndefined();
      expect(await tasks.positions(['run_hash', 'run_a', 'run_text'])).toEqual({ ok: true, value: [undefined, 3, undefined] });
    });
  });

  it('have the name and the time that are set', async () => {
    const more = { key: 'lucia:task:{id}:v1', ttlMs: 5_000 };
    await withTasks(async (tasks, server) => {
      await tasks.save(taskAt(1, 'run_$&'));
      expect(await server.ask('KEYS', '*')).toEqual(['lucia:task:run_$&:v1']);
      expect(Number(await server.ask('PTTL', 'lucia:task:run_$&:v1'))).toBeLessThanOrEqual(5_000);
      expect((await tasks.list({ limit: 5 })).tasks).toHaveLength(1);
    }, more);
  });

  it('are never replaced by what is older, or as old', async () => {
    await withTasks(async (tasks) => {
      await tasks.save(taskAt(7, 'run_a', 'new'));
      expect(await tasks.save(taskAt(6, 'run_a', 'old'))).toEqual({ kind: 'newer', position: 7 });
      expect(await tasks.save(taskAt(7, 'run_a', 'other'))).toEqual({ kind: 'newer', position: 7 });
      expect((await tasks.load('run_a'))?.task.status.message?.content).toBe('new');
      expect(await tasks.positions(['run_a', 'run_b'])).toEqual({ ok: true, value: [7, undefined] });
    });
  });

  it('that somebody else wrote again are compared too; what is no task gives way', async () => {
    await withTasks(async (tasks, server) => {
      const theirs = {
        Metadata: 1,
        id: 'run_a',
        sessionId: 's',
        status: { state: 'working' },
        metadata: { ledgerPosition: 9, more: [] },
      };
      await server.ask('SET', 'task:run_a', JSON.stringify(theirs));
      expect(await tasks.save(taskAt(8))).toEqual({ kind: 'newer', position: 9 });
      expect(await tasks.save(taskAt(10))).toEqual({ kind: 'saved' });
      for (const junk of [
        '{',
        '[]',
        '"ledgerPosition":99',
        '{"metadata":[]}',
        '{"metadata":{"ledgerPosition":"x"}}',
        '['.repeat(5_000),
      ]) {
        await server.ask('SET', 'task:run_a', junk);
        expect(await tasks.load('run_a')).toBeUndefined();
        expect(await tasks.save(taskAt(2)), junk).toEqual({ kind: 'saved' });
      }
      await server.ask('DEL', 'task:run_a');
      await server.ask('LPUSH', 'task:run_a', 'x');
      expect(await tasks.trySave(taskAt(2))).toMatchObject({ ok: false, error: { kind: 'refused' } });
      expect(await tasks.save(taskAt(2, 'run_b'))).toEqual({ kind: 'saved' });
    });
  });

  it('are read with care: states of newer writers, prototypes, size', async () => {
    await withTasks(async (tasks, server) => {
      const at =
        '{"ID":"run_a","SessionId":"s","Status":{"State":"AuthRequired"},"Metadata":{"__proto__":{"x":1},"ledgerPosition":4}}';
      await server.ask('SET', 'task:run_a', at);
      const read = await tasks.load('run_a');
      expect(read).toMatchObject({ task: { status: { state: 'unknown' } }, position: 4 });
      expect(JSON.stringify(read)).not.toContain('__proto__');
      await server.ask('SETRANGE', 'task:run_a', `${limits.taskCharacters + 10}`, 'x');
      expect(await tasks.load('run_a')).toBeUndefined();
    });
  });

  it('are listed by state and session, page by page', async () => {
    await withTasks(async (tasks, server) => {
      for (const [index, state] of taskStates.entries()) {
        const { task } = taskAt(1, `run_${index}`);
        await tasks.save({ task: { ...task, sessionId: `ses_${index % 2}`, status: { state } }, position: 1 });
      }
      await server.ask('SET', 'task:other', 'no task');
      const ids = async (filter: Partial<Parameters<RedisTasks['list']>[0]>) => {
        const page = await tasks.list({ limit: 3, ...filter });
        return [page.tasks.map(({ task }) => task.id), page.next];
      };
      expect(await ids({})).toEqual([['run_6', 'run_5', 'run_4'], 'run_4']);
      expect(await ids({ after: 'run_4' })).toEqual([['run_3', 'run_2', 'run_1'], 'run_1']);
      expect(await ids({ session: 'ses_1', limit: 9 })).toEqual([['run_5', 'run_3', 'run_1'], undefined]);
      expect(await ids({ state: 'failed' })).toEqual([['run_5'], undefined]);
    });
  });

  it('are listed up to a limit, which is said', async () => {
    await withTasks(async (tasks, server) => {
      const fill = async (from: number, count: number): Promise<void> => {
        const script = "for i = ARGV[1], ARGV[2] do redis.call('SET', 'task:other_' .. i, 'no task') end";
        await server.ask('EVAL', script, '0', `${from}`, `${from + count - 1}`);
      };
      await fill(1, limits.redisScanKeys);
      expect(await tasks.list({ limit: 3 })).toEqual({ tasks: [] });
      await fill(limits.redisScanKeys + 1, 1);
      expect(await tasks.list({ limit: 3 })).toEqual({ tasks: [], cutBy: 'redisScanKeys' });
    });
  });

  it('survive a restart of the server, and the connection comes back', async () => {
    await using server = await startRedis({ words: ['--appendonly', 'yes', '--appendfsync', 'always'] });
    const tasks = createRedisTasks(settings(server.url), systemClock);
    await tasks.save(taskAt(5));
    await server.stop();
    expect(await tasks.trySave(taskAt(6))).toMatchObject({ ok: false, error: { kind: 'away' } });
    await server.start();
    await expect.poll(async () => await tasks.trySave(taskAt(4))).toEqual({ ok: true, value: { kind: 'newer', position: 5 } });
    tasks.close();
  });

  it('need the right password, which nobody is shown', async () => {
    const password = 'p4ss-of-tests-9c1d';
    await using server = await startRedis({ password });
    for (const wrong of ['wr0ng-of-tests-77', undefined]) {
      const url = `redis://${wrong === undefined ? '' : `:${wrong}@`}127.0.0.1:${server.port}`;
      const refused = createRedisTasks(settings(url), systemClock);
      const outcome = await refused.probe();
      expect(outcome).toMatchObject({ ok: false, error: { message: expect.stringMatching(/WRONGPASS|NOAUTH/) } });
      if (wrong !== undefined) expect(JSON.stringify(outcome)).not.toContain(wrong);
      refused.close();
    }
    const address = parseRedisAddress(`redis://127.0.0.1:${server.port}`, { TROUPE_REDIS_PASSWORD: password });
    expect(JSON.stringify(address)).not.toContain(password);
    expect(address.secrets()).toEqual([{ name: 'redis-password', value: password }]);
    const tasks = createRedisTasks(settings(server.url, { address }), systemClock);
    expect(await tasks.probe()).toEqual({ ok: true, value: undefined });
    tasks.close();
  });

  it('lose no update when several processes write them at once', async () => {
    await using server = await startRedis();
    const [writers, tasks, rounds] = [4, 5, 300];
    const main = join(import.meta.dirname, '../support/redis/writer-main.ts');
    const processes = Array.from({ length: writers }, (_, index) =>
      fork(main, [server.url, `${index + 1}`, `${tasks}`, `${rounds}`], { stdio: 'inherit' }),
    );
    const ends = processes.map((one) => once(one, 'exit'));
    const reader = createRedisTasks(settings(server.url), systemClock);
    const newest = new Map<string, number>();
    let open = writers;
    for (const end of ends) void end.then(() => (open -= 1));
    while (open > 0) {
      for (let index = 0; index < tasks; index += 1) {
        const { position = 0 } = (await reader.load(`run_${index}`)) ?? {};
        expect(position).toBeGreaterThanOrEqual(newest.get(`run_${index}`) ?? 0);
        newest.set(`run_${index}`, position);
      }
    }
    expect((await Promise.all(ends)).map(([code]) => code)).toEqual(Array.from({ length: writers }, () => 0));
    for (let index = 0; index < tasks; index += 1) expect((await reader.load(`run_${index}`))?.position).toBe(rounds);
    reader.close();
  });
});
