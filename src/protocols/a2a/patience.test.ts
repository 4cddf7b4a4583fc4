/** How long whoever sends waits: not for a task that stands still, and for no other longer than the limits say. */
import { type StreamResponse, TaskState } from '@a2a-js/sdk';
import { expect, it } from 'vitest';
import { answerOf, collect, eventually, request, said, stateOf, taskIn } from '../../../test/support/a2a/peer.ts';
import { serveProject } from '../../../test/support/a2a/serve-project.ts';
import { connect, OWNER, served } from '../../../test/support/a2a/served.ts';
import { type Clock, systemClock } from '../../base/clock.ts';
import type { RunId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import type { StartOutcome } from '../../engine/port.ts';

const listed = {
  ...{ tenant: '', contextId: '', status: TaskState.TASK_STATE_AUTH_REQUIRED, pageToken: '' },
  statusTimestampAfter: undefined,
};

/** How the task stood at each event, and what it said. */
const stoodIn = (updates: readonly StreamResponse[]) =>
  updates.flatMap(({ payload }) => {
    const status = payload?.$case === 'task' || payload?.$case === 'statusUpdate' ? payload.value.status : undefined;
    return status === undefined ? [] : [[status.state, status.message?.parts[0]?.content?.value]];
  });

it('a task that is paused is auth-required with why once its call is back; nobody waits for it, and it goes on', async () => {
  const asked = Promise.withResolvers<void>();
  const called = Promise.withResolvers<void>();
  await using server = await served({
    play: async ({ index }) => {
      if (index > 0) return { text: 'Done.' };
      asked.resolve();
      await called.promise;
      return { calls: [{ name: 'ask', input: { question: 'Which one?' } }] };
    },
  });
  const client = await server.client();
  const { engine } = server.project;
  const message = said('Do it.');
  const { id } = taskIn(await client.sendMessage(request(message, { returnImmediately: true })));
  const run = id as RunId;
  const blocking = client.sendMessage(request(message));
  const stream = client.resubscribeTask({ tenant: '', id });
  await stream.next();
  await asked.promise;
  expect(await engine.pause(run, 'tea')).toMatchObject({ kind: 'accepted' });
  // What is under way comes to its end first: until then it is at work.
  expect(stateOf(await client.getTask({ tenant: '', id }))).toBe(TaskState.TASK_STATE_WORKING);
  called.resolve();
  const paused = [TaskState.TASK_STATE_AUTH_REQUIRED, 'Paused: tea'];
  const sent = taskIn(await blocking);
  expect(stoodIn([{ payload: { $case: 'task', value: sent } }])).toEqual([paused]);
  expect((await client.getTask({ tenant: '', id })).status).toEqual(sent.status);
  expect((await client.listTasks(listed)).tasks.map((task) => task.id)).toEqual([id]);
  // What is said to it meanwhile is kept, and has nobody wait either.
  const told = taskIn(await client.sendMessage(request(said('The second.', { taskId: id }))));
  expect(told.status).toEqual(sent.status);
  expect(await engine.resume(run)).toMatchObject({ kind: 'resumed' });
  const seen = stoodIn(await collect(stream));
  expect(seen).toContainEqual(paused);
  expect(seen.at(-1)?.[0]).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
  const done = taskIn(await client.sendMessage(request(said('The first.', { taskId: id }))));
  expect([stateOf(done), answerOf(done)]).toEqual([TaskState.TASK_STATE_COMPLETED, 'Done.']);
  expect(done.history.map(({ parts }) => parts[0]?.content?.value)).toContain('The second.');
});

it('a task whose provider refuses it has failed with why, and is another one when its owner goes on with it', async () => {
  await using server = await served({
    play: ({ index }) => (index === 0 ? { fault: 'status', status: 401 } : { text: 'Done.' }),
  });
  const client = await server.client();
  const failed = taskIn(await client.sendMessage(request(said('Do it.'))));
  expect(stateOf(failed)).toBe(TaskState.TASK_STATE_FAILED);
  expect(failed.status?.message?.parts[0]?.content?.value).toContain('401');
  expect(await server.project.engine.resume(failed.id as RunId, {})).toMatchObject({ kind: 'resumed' });
  const id = `${failed.id}.2`;
  const done = await eventually(async () => {
    const task = await client.getTask({ tenant: '', id });
    return stateOf(task) === TaskState.TASK_STATE_COMPLETED ? task : undefined;
  });
  expect(answerOf(done)).toBe('Done.');
  expect(await client.getTask({ tenant: '', id: failed.id })).toMatchObject({ status: failed.status });
});

it('a message waits so long for its task, which is then told as it stands and goes on', async () => {
  const rings = Promise.withResolvers<() => void>();
  const clock: Clock = {
    ...systemClock,
    after(delayMs, callback, hold) {
      if (delayMs !== limits.a2aBlockingMs) return systemClock.after(delayMs, callback, hold);
      rings.resolve(callback);
      return () => undefined;
    },
  };
  const asked = Promise.withResolvers<void>();
  const called = Promise.withResolvers<void>();
  await using server = await served({
    play: async () => {
      asked.resolve();
      await called.promise;
      return { text: 'Done.' };
    },
  });
  await using patient = await serveProject(server.project, { clock });
  const client = await connect(patient.origin, OWNER, 'JSONRPC');
  const message = said('Do it.');
  const sent = client.sendMessage(request(message));
  await asked.promise;
  (await rings.promise)();
  expect(stateOf(taskIn(await sent))).toBe(TaskState.TASK_STATE_WORKING);
  called.resolve();
  expect(answerOf(taskIn(await (await connect(server.origin, OWNER, 'JSONRPC')).sendMessage(request(message))))).toBe('Done.');
});

it('a message waits so long for another server that has just heard the same, and no longer', async () => {
  await using server = await served();
  const { engine } = server.project;
  let [tries, waited] = [0, 0];
  let begins = 3;
  // What the other one writes is there at the third look; of the second message it never is.
  const start: typeof engine.start = async (starting): Promise<StartOutcome> => {
    tries += 1;
    return tries === begins
      ? await engine.start(starting)
      : { kind: 'refused', error: { code: 'session_busy', message: 'Another run is under way.' } };
  };
  const clock: Clock = {
    ...systemClock,
    elapsed: () => waited,
    after(delayMs, callback, hold) {
      if (delayMs !== limits.a2aBeginPollMs) return systemClock.after(delayMs, callback, hold);
      waited += delayMs;
      queueMicrotask(callback);
      return () => undefined;
    },
  };
  await using waiting = await serveProject({ ...server.project, engine: { ...engine, start } }, { clock });
  const client = await connect(waiting.origin, OWNER, 'JSONRPC');
  expect(answerOf(taskIn(await client.sendMessage(request(said('Do it.')))))).toBe('Done.');
  expect([tries, waited]).toEqual([3, 2 * limits.a2aBeginPollMs]);
  [tries, waited, begins] = [0, 0, -1];
  await expect(client.sendMessage(request(said('Do it.')))).rejects.toThrow('not over');
  expect(waited).toBe(limits.a2aBeginMs);
});
