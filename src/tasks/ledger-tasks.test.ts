/** Tasks from a real ledger: by id and page by page, and read by what can change them as by everything. */
import { expect, it } from 'vitest';
import { calls, createWorld, reports, says, turnOf } from '../../test/support/world.ts';
import { readAll } from '../engine/record/read-all.ts';
import { userText } from '../events/messages.ts';
import { readTask, writeTask } from '../projections/tasks/task-json.ts';
import { foldTasks, initialTasks } from '../projections/tasks/tasks.ts';
import { createLedgerTasks, storedTask } from './ledger-tasks.ts';
import type { TaskFilter } from './port.ts';

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
