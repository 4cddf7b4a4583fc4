/** A dispatch that is cancelled while it waits, alone and as a part of something that goes on; or one of its agents is. */
import { expect, it } from 'vitest';
import { never } from '../../../test/support/patterns/scenarios.ts';
import { playsAgain } from '../../../test/support/replayed.ts';
import { agent, createWorld, says } from '../../../test/support/world.ts';
import type { RunId } from '../../base/ids.ts';
import { readAll } from '../../engine/record/read-all.ts';
import { userText } from '../../events/messages.ts';

const RUN = 'run_0000000000000dispatch' as RunId;
const unsure = JSON.stringify({ agentId: 'lights', confidence: 0.1, reasoning: 'Which room?' });
const house = agent({ name: 'house', tools: [], dispatch: { agents: ['lights'] } });
const lights = agent({ name: 'lights', tools: [] });

it('alone: it ends, and nothing waits any more', async () => {
  const world = createWorld({ agents: [house, lights], brain: () => says(unsure) });
  const started = await world.engine.start({ agent: 'house', input: userText('Light.'), workspace: '.', run: RUN });
  if (started.kind !== 'started') throw new Error(JSON.stringify(started));
  expect(await started.handle.done).toMatchObject({ kind: 'waiting', waits: [{ question: 'Which room?' }] });
  await world.engine.cancel(RUN, 'never mind');
  expect(await world.engine.resume(RUN)).toMatchObject({ kind: 'ended', result: { status: 'cancelled' } });
  await playsAgain(world.ledger);
  await world.close();
});

it('as an advisor: whoever it advises goes on without it', async () => {
  const desk = agent({ name: 'desk', tools: [], advisors: ['house', 'slow'] });
  const asked = Promise.withResolvers<void>();
  const world = createWorld({
    agents: [desk, house, lights, agent({ name: 'slow', tools: [] })],
    brain: async (request) => {
      if (request.agent === 'slow') await asked.promise;
      return says(request.agent === 'house' ? unsure : `${request.agent} says so.`);
    },
  });
  const started = await world.engine.start({ agent: 'desk', input: userText('Light.'), workspace: '.', run: RUN });
  if (started.kind !== 'started') throw new Error(JSON.stringify(started));
  const { session } = started.handle;
  const asking = async () => (await readAll(world.ledger, session)).find((event) => event.event_type === 'task.clarify');
  let question = await asking();
  for (; question === undefined; question = await asking()) await new Promise((resolve) => setImmediate(resolve));
  await world.engine.cancel(question.run_id, 'never mind');
  asked.resolve();
  expect(await started.handle.done).toMatchObject({
    kind: 'ended',
    result: { status: 'completed', report: { body: 'desk says so.' } },
  });
  await playsAgain(world.ledger);
  await world.close();
});

it('one of its agents: the answer says that it was interrupted, and it is not tried again', async () => {
  const asked = Promise.withResolvers<void>();
  const agents = [
    agent({ name: 'house', tools: [], dispatch: { agents: ['lights', 'music'] } }),
    lights,
    agent({ name: 'music', tools: [] }),
  ];
  const agentInstructions = ['lights', 'music'].map((agentId) => ({ agentId, instruction: 'Your part.' }));
  const world = createWorld({
    agents,
    brain: async (request) => {
      const { agent: name } = request;
      if (name === 'house')
        return says(JSON.stringify({ agentId: 'lights', confidence: 1, additionalAgents: ['music'], agentInstructions }));
      if (name === 'lights') return says('On.');
      asked.resolve();
      return await never(request);
    },
  });
  const started = await world.engine.start({ agent: 'house', input: userText('Light and jazz.'), workspace: '.', run: RUN });
  if (started.kind !== 'started') throw new Error(JSON.stringify(started));
  await asked.promise;
  const runs = async () => (await world.ledger.runs({ session: started.handle.session })).filter((row) => row.agent === 'music');
  const [music] = await runs();
  if (music === undefined) throw new Error('Music never began.');
  await world.engine.cancel(music.run, 'too loud');
  const body = 'On. However, Music could not do its part: interrupted before it was done.';
  expect(await started.handle.done).toMatchObject({ kind: 'ended', result: { status: 'completed', report: { body } } });
  expect(await runs()).toHaveLength(1);
  await playsAgain(world.ledger);
  await world.close();
});
