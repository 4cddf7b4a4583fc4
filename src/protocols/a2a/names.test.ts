/** Names that a peer may not use, and a cancel that comes too late. */
import { TaskState } from '@a2a-js/sdk';
import { expect, it } from 'vitest';
import { eventually, request, said, stateOf, taskIn } from '../../../test/support/a2a/peer.ts';
import { serveProject } from '../../../test/support/a2a/serve-project.ts';
import { ALICE, BOB, connect, OWNER, served } from '../../../test/support/a2a/served.ts';
import { limits } from '../../base/limits.ts';

const EMPTY = {
  ...{ contextId: '', status: TaskState.TASK_STATE_UNSPECIFIED, pageToken: '', statusTimestampAfter: undefined },
};

it('an agent of the caller’s own name is not given a task, and others give it some', async () => {
  await using server = await served({ agents: { alice: 'description: Helps\nisolation: inline\na2a: true' } });
  const path = '/a2a/agents/alice/';
  await expect((await server.client(ALICE, 'JSONRPC', path)).sendMessage(request(said('Do it.')))).rejects.toThrow(
    'your own name',
  );
  expect(await server.project.ledger.runs({ roots: true })).toEqual([]);
  const done = taskIn(await (await server.client(OWNER, 'JSONRPC', path)).sendMessage(request(said('Do it.'))));
  expect(stateOf(done)).toBe(TaskState.TASK_STATE_COMPLETED);
});

it.each(['JSONRPC', 'HTTP+JSON', 'GRPC'] as const)('over %s a tenant has a length', async (binding) => {
  await using server = await served();
  const client = await server.client(BOB, binding);
  const long = 'x'.repeat(limits.a2aIdCharacters + 1);
  await expect(client.sendMessage({ ...request(said('Do it.')), tenant: long })).rejects.toThrow('a2aIdCharacters');
  await expect(client.listTasks({ ...EMPTY, tenant: long })).rejects.toThrow('a2aIdCharacters');
  expect(await server.project.ledger.runs({ roots: true })).toEqual([]);
});

it('of an end and a cancel one was first: a task that has ended meanwhile could not be cancelled, and says so', async () => {
  const answers = Promise.withResolvers<void>();
  await using server = await served({
    play: async () => {
      await answers.promise;
      return { text: 'Done.' };
    },
  });
  const { engine, ledger } = server.project;
  // It ends between the moment when it was looked at and the moment when it is called off.
  const cancel: typeof engine.cancel = async (run, why) => {
    answers.resolve();
    await eventually(async () => ((await ledger.runs({ run }))[0]?.endedAt === null ? undefined : true));
    return await engine.cancel(run, why);
  };
  await using late = await serveProject({ ...server.project, engine: { ...engine, cancel } });
  const client = await connect(late.origin, OWNER, 'JSONRPC');
  const { id } = taskIn(await client.sendMessage(request(said('Do it.'), { returnImmediately: true })));
  await expect(client.cancelTask({ tenant: '', id, metadata: undefined })).rejects.toThrow('ended before it could be cancelled');
  expect(stateOf(await client.getTask({ tenant: '', id }))).toBe(TaskState.TASK_STATE_COMPLETED);
});
