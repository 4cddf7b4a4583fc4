/** Many tasks and many streams of one caller: as many as it may have, and what it is told then. */
import { TaskState } from '@a2a-js/sdk';
import { expect, it } from 'vitest';
import { collect, request, said, taskIn } from '../../../test/support/a2a/peer.ts';
import { ALICE, BOB, served } from '../../../test/support/a2a/served.ts';
import type { Reply, SeenRequest } from '../../../test/support/models/script.ts';
import type { RunId } from '../../base/ids.ts';

const MOST = 5;
const EVERYTHING = {
  ...{ tenant: '', contextId: '', status: TaskState.TASK_STATE_UNSPECIFIED, pageToken: '', statusTimestampAfter: undefined },
};

const hanging = ({ body }: SeenRequest): Reply => (JSON.stringify(body).includes('hang') ? { fault: 'hang' } : { text: 'Done.' });

it('so many tasks of a caller are under way as the settings say, whatever tenant it names, and so many streams', async () => {
  const settings = `a2a: { tasksPerCaller: ${MOST}, streamsPerCaller: ${MOST} }`;
  await using server = await served({ play: hanging, settings });
  const client = await server.client();
  const begin = (tenant: string) => client.sendMessage({ ...request(said('hang'), { returnImmediately: true }), tenant });
  const first = taskIn(await begin('t0'));
  for (let count = 1; count < MOST; count += 1) await begin(`t${count}`);
  await expect(begin('one-more')).rejects.toThrow(
    `at most ${MOST} at a time (a2aTasksPerCaller); whoever runs this server can allow more: a2a.tasksPerCaller in troupe.yaml`,
  );
  const bob = await server.client(BOB);
  expect(taskIn(await bob.sendMessage(request(said('Do it.'), { returnImmediately: true }))).id).not.toBe('');
  const streams = Array.from({ length: MOST }, () => client.resubscribeTask({ tenant: 't0', id: first.id }));
  for (const stream of streams) await stream.next();
  await expect(collect(client.resubscribeTask({ tenant: 't0', id: first.id }))).rejects.toThrow('a2aStreamsPerCaller');
  const ended = Promise.all(streams.map((stream) => collect(stream)));
  await client.cancelTask({ tenant: 't0', id: first.id, metadata: undefined });
  const lasts = (await ended).map((all) => all.at(-1)?.payload);
  expect(new Set(lasts.map((last) => last?.$case === 'statusUpdate' && last.value.status?.state))).toEqual(
    new Set([TaskState.TASK_STATE_CANCELED]),
  );
});

it('of a task that was forgotten nothing is told any more, and of the others everything', async () => {
  await using server = await served();
  const client = await server.client();
  const [one, two] = [
    taskIn(await client.sendMessage(request(said('One.')))),
    taskIn(await client.sendMessage(request(said('Two.')))),
  ];
  const listed = async () => (await client.listTasks(EVERYTHING)).tasks.map(({ id }) => id);
  expect((await listed()).toSorted()).toEqual([one.id, two.id].toSorted());
  expect((await client.getTask({ tenant: '', id: one.id })).history).not.toEqual([]);
  const [row] = await server.project.ledger.runs({ run: one.id as RunId });
  const parts = row === undefined ? [] : [{ session: row.session }];
  const forget = () => server.project.ledger.forget({ parts, by: 'ana', at: 1, dryRun: false });
  await expect.poll(async () => (await forget()).kind).toBe('forgotten');
  await expect(client.getTask({ tenant: '', id: one.id })).rejects.toThrow();
  expect(await listed()).toEqual([two.id]);
  expect(server.errors).toEqual([]);
});

it.each(['JSONRPC', 'HTTP+JSON', 'GRPC'] as const)(
  'one caller follows 200 tasks at once over %s, each to its end, and can still ask and cancel',
  async (binding) => {
    await using server = await served({ play: hanging });
    const client = await server.client(ALICE, binding);
    const { id } = taskIn(await client.sendMessage(request(said('hang'), { returnImmediately: true })));
    const streams = Array.from({ length: 200 }, () => client.resubscribeTask({ tenant: '', id }));
    await Promise.all(streams.map((stream) => stream.next()));
    expect((await client.getTask({ tenant: '', id })).id).toBe(id);
    const ended = Promise.all(streams.map((stream) => collect(stream)));
    await client.cancelTask({ tenant: '', id, metadata: undefined });
    const lasts = (await ended).map((all) => all.at(-1)?.payload);
    expect(lasts).toHaveLength(200);
    expect(new Set(lasts.map((last) => last?.$case === 'statusUpdate' && last.value.status?.state))).toEqual(
      new Set([TaskState.TASK_STATE_CANCELED]),
    );
    expect(server.errors).toEqual([]);
  },
);
