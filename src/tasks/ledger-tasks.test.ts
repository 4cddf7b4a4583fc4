/** Tasks from a real ledger: by id and page by page, and read by what can change them as by everything. */
import { expect, it } from 'vitest';
import { hurried } from '../../test/support/peers/card-server.ts';
import { calls, createWorld, reports, says, turnOf } from '../../test/support/world.ts';
import { systemClock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import { ok } from '../base/result.ts';
import { readAll } from '../engine/record/read-all.ts';
import { userText } from '../events/messages.ts';
import type { RunFilter, RunRow } from '../ledger/port.ts';
import { readTask, writeTask } from '../projections/tasks/task-json.ts';
import { foldTasks, initialTasks } from '../projections/tasks/tasks.ts';
import { createLedgerTasks, storedTask } from './ledger-tasks.ts';
import { withTaskMirror } from './mirror.ts';
import type { TaskFilter } from './port.ts';
import { createTaskWriter } from './task-writer.ts';

it('finds tasks by id, state and session, page by page, each as all its events say', async () => {
  const world = createWorld({
    brain: (request) => {
      const asked = JSON.stringify(request.messages[0]);
      if (asked.includes('break')) return { kind: 'failed', error: { kind: 'invalid_request', message: 'no' } };
      return turnOf(request) === 1 ? calls({ name: 'look' }) : asked.includes('say') ? says('Said.') : reports('Done.');
    },
  });
  const ids: string[] = [];
  for (const request of ['say it', 'do it', 'break it', 'do more']) {
    const started = await world.engine.start({ agent: 'worker', input: userText(request), workspace: '/w' });
    if (started.kind !== 'started') throw new Error(started.error.message);
    await started.handle.done;
    ids.unshift(started.handle.run);
  }
  const tasks = createLedgerTasks(world.ledger);
  const listed = async (filter: Partial<TaskFilter>) => {
    const page = await tasks.list({ limit: 10, ...filter });
    return { ids: page.tasks.map(({ task }) => task.id), next: page.next };
  };
  expect(await listed({})).toEqual({ ids, next: undefined });
  expect(await listed({ limit: 3 })).toEqual({ ids: ids.slice(0, 3), next: ids[2] });
  expect(await listed({ limit: 3, after: ids[2] })).toEqual({ ids: ids.slice(3), next: undefined });
  // Of another state than is asked for, and none at all.
  expect((await listed({ state: 'completed', after: ids[1] })).ids).not.toContain(ids[0]);
  await expect(listed({ after: 'run_nobody' })).rejects.toThrow('There is no task run_nobody');
  expect(await listed({ state: 'failed' })).toEqual({ ids: [ids[1]], next: undefined });
  expect(await listed({ state: 'completed', limit: 2 })).toEqual({ ids: [ids[0], ids[2]], next: ids[2] });
  expect(await listed({ state: 'unknown' })).toEqual({ ids: [], next: undefined });
  const loaded = await tasks.load(ids[3] ?? '');
  expect(loaded?.task.status).toMatchObject({ state: 'completed', message: { role: 'assistant', content: 'Said.' } });
  const session = loaded?.task.sessionId ?? '';
  expect(await listed({ session })).toEqual({ ids: [ids[3]], next: undefined });
  expect(await tasks.load('run_nobody')).toBeUndefined();
  expect(await tasks.load(`${ids[3]}.2`)).toBeUndefined();

  for (const { task, position } of (await tasks.list({ limit: 10 })).tasks) {
    const events = await readAll(world.ledger, task.sessionId as Parameters<typeof readAll>[1]);
    const whole = events.reduce(foldTasks, initialTasks()).tasks.get(task.id);
    expect(whole && storedTask(whole)).toEqual({ task, position });
    expect(readTask(writeTask(task))).toEqual({ ok: true, value: task });
  }
  await world.close();
});

it('looks at so many open runs and so many new ones when it catches up, page by page', async () => {
  const world = createWorld({ brain: () => says('Done.') });
  const started = await world.engine.start({ agent: 'worker', input: userText('Go.'), workspace: '/w' });
  if (started.kind !== 'started') throw new Error(started.error.message);
  await started.handle.done;
  const [ended] = await world.ledger.runs({ roots: true });
  if (ended === undefined) throw new Error('no run');
  const asked: RunFilter[] = [];
  const runs = async (filter: RunFilter): Promise<readonly RunRow[]> => {
    asked.push(filter);
    const row = filter.states === undefined ? ended : { ...ended, endedAt: null };
    return Array.from({ length: filter.limit ?? 0 }, () => row);
  };
  const pages: number[] = [];
  const store: Parameters<typeof createTaskWriter>[0]['store'] = {
    trySave: async () => ok({ kind: 'saved' }),
    ...{ retryInMs: () => 0, connections: () => 1, close: async () => undefined },
    async positions(names) {
      pages.push(names.length);
      // Half of them are there already, as they ended.
      return ok(names.map((_, at) => (at % 2 === 0 ? Number.MAX_SAFE_INTEGER : 0)));
    },
  };
  const told: RunRow[] = [];
  const writer = createTaskWriter({ ledger: { ...world.ledger, runs }, store, clock: systemClock, ttlMs: systemClock.now() });
  const left = /^of open tasks and of tasks that ended within .* only the newest 1000 are compared with Redis \(taskCatchUp\)/;
  const looked = await writer.behind((row) => void told.push(row));
  expect(looked).toMatchObject({ ok: true, value: { left: expect.stringMatching(left) } });
  expect(asked.map(({ limit }) => limit)).toEqual([1_000, 1_000]);
  expect(pages).toEqual(Array.from({ length: 2_000 / limits.taskCatchUpPage }, () => limits.taskCatchUpPage));
  // All that are open, and of those that have ended the ones whose copies are behind.
  expect([told.length, told.filter(({ endedAt }) => endedAt === null).length]).toEqual([1_500, 1_000]);
  // As many as are looked at, and all older ones ended before copies are kept: nothing is left.
  const since = { ledger: { ...world.ledger, runs: async (filter: RunFilter) => (filter.states ? [] : await runs(filter)) } };
  expect(await createTaskWriter({ ...since, store, clock: systemClock, ttlMs: 0 }).behind(() => undefined)).toEqual(ok({}));
  const once: string[] = [];
  let looks = 0;
  const counting = async (filter: RunFilter) => {
    looks += 1;
    return await runs(filter);
  };
  const clock = { ...systemClock, elapsed: () => looks * limits.taskCatchUpMs, after: hurried.after };
  const onLeft = (why: string) => void once.push(why);
  const ledger = { ...world.ledger, runs: counting, read: async () => [], close: async () => undefined };
  const mirrored = withTaskMirror({ ledger, store, clock, ttlMs: systemClock.now(), onLeft });
  await expect.poll(() => looks).toBeGreaterThan(4);
  expect(once).toEqual([expect.stringMatching(left)]);
  await mirrored.close();
  await world.close();
});
