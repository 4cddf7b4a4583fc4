/** An agent has a door of its own on every binding, gRPC included, which has no paths. */
import { TaskState } from '@a2a-js/sdk';
import { expect, it } from 'vitest';
import { answerOf, collect, request, said, taskIn } from '../../../test/support/a2a/peer.ts';
import { ALICE, served } from '../../../test/support/a2a/served.ts';

const bindings = ['JSONRPC', 'HTTP+JSON', 'GRPC'] as const;

it('the card of one agent leads to that agent over every binding, and its tasks are the same over each', async () => {
  const agents = { helper: 'description: Helps\na2a: true', poet: 'description: Writes poems\na2a: true' };
  const given = ({ body }: { readonly body: string }): object => ({ text: body.includes('You rhyme') ? 'A rhyme.' : 'Help.' });
  await using server = await served({ agents, play: (request) => given({ body: JSON.stringify(request) }) });
  await server.folder.write('agents/poet.md', '---\nname: poet\ndescription: Writes\na2a: true\n---\nYou rhyme.\n');
  const ids: string[] = [];
  for (const binding of bindings) {
    const client = await server.client(ALICE, binding, '/a2a/agents/poet/');
    const done = taskIn(await client.sendMessage(request(said('Write.'))));
    expect(answerOf(done), binding).toBe('A rhyme.');
    const last = (await collect(client.sendMessageStream(request(said('More.'))))).at(-1)?.payload;
    expect(last?.$case === 'statusUpdate' && last.value.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
    ids.push(done.id);
  }
  for (const binding of bindings) {
    const client = await server.client(ALICE, binding, '/a2a/agents/poet/');
    for (const id of ids) expect((await client.getTask({ tenant: '', id })).id).toBe(id);
  }
  const house = await server.client(ALICE, 'GRPC');
  const nobody = { ...request(said('Who?')), tenant: 'agents/nobody' };
  await expect(house.sendMessage(nobody)).rejects.toThrow('no agent here');
});
