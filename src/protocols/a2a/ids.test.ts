/** Ids by which a peer knows what was said: its own for what it said, and the same one for the same words of ours. */

import { type Part, Role, TaskState } from '@a2a-js/sdk';
import type { Client } from '@a2a-js/sdk/client';
import { expect, it } from 'vitest';
import { eventually, request, said, stateOf, taskIn } from '../../../test/support/a2a/peer.ts';
import { ALICE, served } from '../../../test/support/a2a/served.ts';
import { limits } from '../../base/limits.ts';
import { wordsPart } from './task-out.ts';

const until = async (client: Client, id: string, state: TaskState) =>
  await eventually(async () => {
    const task = await client.getTask({ tenant: '', id });
    return stateOf(task) === state ? task : undefined;
  });

it.each(['JSONRPC', 'HTTP+JSON', 'GRPC'] as const)('over %s what a peer said has its own ids in the history', async (binding) => {
  const goesOn = Promise.withResolvers<void>();
  await using server = await served({
    play: async ({ index, toolResults }) => {
      if (index === 0) await goesOn.promise;
      return toolResults === 0 ? { calls: [{ name: 'ask', input: { question: 'Which one?' } }] } : { text: 'Done.' };
    },
  });
  const client = await server.client(ALICE, binding);
  const say = async (messageId: string, words: string, taskId = '') =>
    taskIn(await client.sendMessage(request(said(words, { messageId, taskId }), { returnImmediately: true }))).id;
  const id = await say('first', 'Do it.');
  await say('at work', 'Hurry.', id);
  goesOn.resolve();
  await until(client, id, TaskState.TASK_STATE_INPUT_REQUIRED);
  await say('answer', 'The second.', id);
  const { history } = await until(client, id, TaskState.TASK_STATE_COMPLETED);
  expect(history.map(({ messageId, parts }) => [messageId, parts[0]?.content?.value])).toEqual([
    ['first', 'Do it.'],
    ['at work', 'Hurry.'],
    [`${id}.2`, 'Which one?'],
    ['answer', 'The second.'],
    [`${id}.4`, 'Done.'],
  ]);
});

it.each(['JSONRPC', 'HTTP+JSON', 'GRPC'] as const)('over %s what is more than words comes back as it came', async (binding) => {
  const goesOn = Promise.withResolvers<void>();
  await using server = await served({
    play: async ({ index, toolResults }) => {
      if (index === 0) await goesOn.promise;
      return toolResults === 0 ? { calls: [{ name: 'ask', input: { question: 'Which one?' } }] } : { text: 'Done.' };
    },
  });
  const client = await server.client(ALICE, binding);
  const file = { content: { $case: 'raw' as const, value: Buffer.from('bytes') }, filename: 'a.txt', mediaType: 'text/plain' };
  const parts = (value: unknown): Part[] => [
    { content: { $case: 'data', value }, metadata: undefined, filename: '', mediaType: '' },
    { content: { $case: 'url', value: 'https://example.org/x' }, metadata: undefined, filename: '', mediaType: '' },
    { ...file, metadata: undefined },
    wordsPart('As it came.'),
  ];
  const say = async (value: unknown, taskId = '') =>
    taskIn(await client.sendMessage(request(said('', { taskId, parts: parts(value) }), { returnImmediately: true }))).id;
  const values = [{ first: [1, null, 'two'] }, { atWork: true }, { answer: { deep: 0.5 } }];
  const id = await say(values[0]);
  await say(values[1], id);
  goesOn.resolve();
  await until(client, id, TaskState.TASK_STATE_INPUT_REQUIRED);
  await say(values[2], id);
  const { history } = await until(client, id, TaskState.TASK_STATE_COMPLETED);
  const ofPeer = history.filter(({ role }) => role === Role.ROLE_USER);
  expect(ofPeer.map((message) => message.parts)).toEqual(values.map(parts));
  const large = taskIn(await client.sendMessage(request(said('', { parts: parts('x'.repeat(limits.a2aPartsKeptCharacters)) }))));
  expect(large.history[0]?.parts).toMatchObject([{ content: { $case: 'text', value: expect.stringContaining('<data-') } }]);
});

const CHOICE = {
  ...{ agentId: 'asks', confidence: 0.9, reasoning: 'Both.', additionalAgents: ['works'] },
  agentInstructions: ['asks', 'works'].map((agentId) => ({ agentId, instruction: `You are ${agentId}.` })),
};

it('a question that stands keeps its id while others go on with the task', async () => {
  const goesOn = Promise.withResolvers<void>();
  const [asks, works] = ['description: Asks\nisolation: inline\ntools: [ask]', 'description: Works\nisolation: inline'];
  const desk = 'description: Both\nisolation: inline\na2a: true\ndispatch: { agents: [asks, works] }';
  await using server = await served({
    agents: { asks, works, desk },
    play: async ({ body }) => {
      const words = JSON.stringify(body);
      if (!words.includes('YOUR PART')) return { text: JSON.stringify(CHOICE) };
      if (words.includes('You are asks.')) return { calls: [{ name: 'ask', input: { question: 'Which one?' } }] };
      await goesOn.promise;
      return { text: 'Worked.' };
    },
  });
  const client = await server.client();
  const { id, contextId } = taskIn(await client.sendMessage(request(said('Do both.'))));
  const { status: before } = await until(client, id, TaskState.TASK_STATE_INPUT_REQUIRED);
  goesOn.resolve();
  const { ledger } = server.project;
  const responded = { session: contextId as never, types: ['dispatch.responded' as const] };
  await eventually(async () => ((await ledger.read(responded)).length > 0 ? true : undefined));
  expect((await client.getTask({ tenant: '', id })).status).toEqual(before);
});

it('of several questions the one that is shown is answered by plain words, and the next is shown then', async () => {
  const [one, other] = ['description: One\nisolation: inline', 'description: Other\nisolation: inline'];
  const desk = 'description: Both\nisolation: inline\na2a: true\ndispatch: { agents: [one, other] }';
  const choice = {
    ...{ agentId: 'one', confidence: 0.9, reasoning: 'Both.', additionalAgents: ['other'] },
    agentInstructions: ['one', 'other'].map((agentId) => ({ agentId, instruction: `You are ${agentId}.` })),
  };
  await using server = await served({
    agents: { one, other, desk },
    play: async ({ body }) => {
      const words = JSON.stringify(body);
      if (!words.includes('YOUR PART')) return { text: JSON.stringify(choice) };
      const name = words.includes('You are one.') ? 'one' : 'other';
      const heard = ['kitchen', 'jazz'].filter((word) => words.includes(word));
      return { text: heard.length === 0 ? `Which ${name}?` : `${name} has heard ${heard.join(' and ')}.` };
    },
  });
  const client = await server.client();
  const { id, contextId } = taskIn(await client.sendMessage(request(said('Do both.'))));
  const asked = { session: contextId as never, types: ['task.clarify' as const] };
  const heard: string[] = [];
  for (const answer of ['kitchen', 'jazz']) {
    const waiting = await until(client, id, TaskState.TASK_STATE_INPUT_REQUIRED);
    // Both are asked by the time that the first is answered.
    await eventually(async () => ((await server.project.ledger.read(asked)).length === 2 ? true : undefined));
    heard.push(String(waiting.status?.message?.parts[0]?.content?.value));
    await client.sendMessage(request(said(answer, { taskId: id, contextId })));
  }
  expect(heard.toSorted()).toEqual([expect.stringContaining('Which one?'), expect.stringContaining('Which other?')]);
  const done = await until(client, id, TaskState.TASK_STATE_COMPLETED);
  const words = JSON.stringify(done.artifacts);
  const [first, second] = heard[0]?.includes('Which one?') === true ? ['one', 'other'] : ['other', 'one'];
  expect(words).toContain(`${first} has heard kitchen.`);
  expect(words).toContain(`${second} has heard jazz.`);
});
