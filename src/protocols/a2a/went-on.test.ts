/** A task that failed and that its owner went on with is another one: its peer finds both, and from each the other. */
import { TaskState } from '@a2a-js/sdk';
import { expect, it } from 'vitest';
import { eventually, request, said, stateOf, taskIn } from '../../../test/support/a2a/peer.ts';
import { startReceiver, statesTold } from '../../../test/support/a2a/receiver.ts';
import { serveProject } from '../../../test/support/a2a/serve-project.ts';
import { BOB, connect, OWNER, served } from '../../../test/support/a2a/served.ts';
import type { RunId } from '../../base/ids.ts';

const query = {
  ...{ tenant: '', contextId: '', status: TaskState.TASK_STATE_UNSPECIFIED, pageToken: '' },
  statusTimestampAfter: undefined,
};

it('what went on after its end is listed as two tasks, each as it stands, page by page, and each names the other', async () => {
  const goesOn = Promise.withResolvers<void>();
  await using server = await served({
    play: async ({ index }) => {
      if (index === 0) return { fault: 'status', status: 401 };
      if (index === 1) await goesOn.promise;
      return { text: 'Done.' };
    },
  });
  const client = await server.client();
  const { id: first } = taskIn(await client.sendMessage(request(said('Do it.'))));
  const second = `${first}.2`;
  expect(await server.project.engine.resume(first as RunId, {})).toMatchObject({ kind: 'resumed' });
  const listed = async (status: TaskState = TaskState.TASK_STATE_UNSPECIFIED) =>
    (await client.listTasks({ ...query, status })).tasks.map((task) => [task.id, stateOf(task)]);
  const comesTo = (state: TaskState) =>
    eventually(async () => (stateOf(await client.getTask({ tenant: '', id: second })) === state ? true : undefined));
  const failed = [first, TaskState.TASK_STATE_FAILED];
  await comesTo(TaskState.TASK_STATE_WORKING);
  expect(await listed()).toEqual([[second, TaskState.TASK_STATE_WORKING], failed]);
  goesOn.resolve();
  await comesTo(TaskState.TASK_STATE_COMPLETED);
  const completed = [second, TaskState.TASK_STATE_COMPLETED];
  expect(await listed()).toEqual([completed, failed]);
  expect(await listed(TaskState.TASK_STATE_COMPLETED)).toEqual([completed]);
  expect(await listed(TaskState.TASK_STATE_FAILED)).toEqual([failed]);
  const page = await client.listTasks({ ...query, pageSize: 1 });
  const rest = await client.listTasks({ ...query, pageSize: 1, pageToken: page.nextPageToken });
  expect([...page.tasks, ...rest.tasks].map(({ id }) => id)).toEqual([second, first]);
  expect([page.totalSize, rest.nextPageToken]).toEqual([2, '']);
  expect((await client.getTask({ tenant: '', id: first })).metadata).toMatchObject({ reopenedAs: second });
  expect((await client.getTask({ tenant: '', id: second })).metadata).toMatchObject({ reopens: first });
  expect((await (await server.client(BOB)).listTasks(query)).tasks).toEqual([]);
});

it('who wants to be told of the second hears of it, also from the next server, and nobody else does', async () => {
  const goesOn = Promise.withResolvers<void>();
  await using server = await served({
    settings: 'a2a: { privatePush: true }\n',
    play: async ({ index }) => {
      if (index === 0) return { fault: 'status', status: 401 };
      await goesOn.promise;
      return { text: 'Done.' };
    },
  });
  await using early = await startReceiver();
  await using late = await startReceiver();
  const address = (url: string, taskId: string) => ({
    tenant: '',
    id: 'desk',
    taskId,
    url,
    token: '',
    authentication: undefined,
  });
  const client = await server.client(OWNER);
  const how = { taskPushNotificationConfig: address(early.url, '') };
  const { id: first } = taskIn(await client.sendMessage(request(said('Do it.'), how)));
  await eventually(() => (statesTold(early).at(-1) === 'TASK_STATE_FAILED' ? true : undefined));
  const second = `${first}.2`;
  expect(await server.project.engine.resume(first as RunId, {})).toMatchObject({ kind: 'resumed' });
  late.status = 500;
  {
    await using gone = await serveProject(server.project);
    const other = await connect(gone.origin, OWNER, 'JSONRPC');
    await other.createTaskPushNotificationConfig(address(late.url, second));
    await eventually(() => (late.refused > 0 ? true : undefined));
  }
  const addresses = async (taskId: string) =>
    (await client.listTaskPushNotificationConfig({ tenant: '', taskId, pageSize: 0, pageToken: '' })).configs.map(
      ({ url }) => url,
    );
  expect([await addresses(first), await addresses(second)]).toEqual([[early.url], [late.url]]);
  late.status = 200;
  await using next = await serveProject(server.project);
  await next.takeUp();
  await eventually(() => (statesTold(late).at(-1) === 'TASK_STATE_WORKING' ? true : undefined));
  goesOn.resolve();
  await eventually(() => (statesTold(late).at(-1) === 'TASK_STATE_COMPLETED' ? true : undefined));
  expect(statesTold(late)).not.toContain('TASK_STATE_FAILED');
  expect(statesTold(early).at(-1)).toBe('TASK_STATE_FAILED');
  await client.deleteTaskPushNotificationConfig({ tenant: '', taskId: second, id: 'desk' });
  expect([await addresses(first), await addresses(second)]).toEqual([[early.url], []]);
});
