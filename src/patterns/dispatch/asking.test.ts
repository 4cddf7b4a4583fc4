/** Questions of several agents: all are there at once, and nobody waits for the answer to somebody else's. */
import { expect, it } from 'vitest';
import { agent, createWorld, says } from '../../../test/support/world.ts';
import { readAll } from '../../engine/record/read-all.ts';
import { textOf, userText } from '../../events/messages.ts';
import type { ModelRequest } from '../../models/port.ts';

const told = ({ messages }: ModelRequest): string => JSON.stringify(messages.map(({ content }) => textOf(content)));

it('whoever was answered goes on while the other still waits', async () => {
  const choice = {
    ...{ agentId: 'lights', confidence: 1, additionalAgents: ['timer'] },
    agentInstructions: ['lights', 'timer'].map((agentId) => ({ agentId, instruction: 'Do it.' })),
  };
  const world = createWorld({
    agents: [
      agent({ name: 'house', tools: [], dispatch: { agents: ['lights', 'timer'] } }),
      ...['lights', 'timer'].map((name) => agent({ name, tools: [] })),
    ],
    brain: (request) => {
      if (request.agent === 'house') return says(JSON.stringify(choice));
      if (request.agent === 'lights') return says(told(request).includes('Kitchen.') ? 'On.' : 'Which room?');
      return says(told(request).includes('Ten minutes.') ? 'Set.' : 'For how long?');
    },
  });
  const started = await world.engine.start({ agent: 'house', input: userText('Go.'), workspace: '.' });
  if (started.kind !== 'started') throw new Error(JSON.stringify(started));
  const { run, session } = started.handle;
  const first = await started.handle.done;
  if (first.kind !== 'waiting') throw new Error(JSON.stringify(first));
  expect(first.waits.map(({ question }) => question)).toEqual(['Lights: Which room?', 'Timer: For how long?']);
  const goOn = async (wait: string | undefined, text: string) => {
    await world.engine.answer(run, wait ?? '', { kind: 'text', text });
    const resumed = await world.engine.resume(run);
    return resumed.kind === 'resumed' ? await resumed.handle.done : resumed;
  };
  const responded = async () =>
    (await readAll(world.ledger, session)).flatMap((event) =>
      event.event_type === 'dispatch.responded' ? [event.payload.content] : [],
    );
  const second = await goOn(first.waits[1]?.wait, 'Ten minutes.');
  expect(second).toMatchObject({ kind: 'waiting', waits: [{ question: 'Lights: Which room?' }] });
  expect(await responded()).toEqual(['Which room?', 'For how long?', 'Set.']);
  const end = await goOn(first.waits[0]?.wait, 'Kitchen.');
  expect(end).toMatchObject({ kind: 'ended', result: { report: { body: 'On. Set.' } } });
  await world.close();
});
